"""The staged tree of an SDK: the only thing that wheels and conda packages are made of.

`include/`, `lib/` with the library to link, `.pc` files and CMake package configs, `licenses/`, `manifest.json`.
Its bytes depend on the release and the platform alone, not on the machine or on where the inputs came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .binaries import SharedLibrary
from .catalogue import Input, Platform, Release, load
from .crossing import Crossing, cross, stub_exports
from .declarations import declared_functions
from .errors import BuildError
from .fetch import obtain
from .import_library import import_library
from .link_stub import link_stub
from .manifest import write_manifest
from .name_list import read_exports
from .package_files import package_files


def stage(component: str, version: str, platform: Platform, out: Path) -> Path:
    """Stage a release of the catalogue for a platform as the new folder `out`; return it."""
    release = load().release(component, version)
    return stage_release(release, platform, obtain(release.build_inputs((platform,))), out)


def stage_release(release: Release, platform: Platform, folders: Mapping[Input, Path], out: Path) -> Path:
    """Stage a release whose inputs are at hand in `folders` as the new folder `out`; return it."""
    headers, binary = release.headers(platform), release.loader_binary(platform)
    for file in headers.files:
        _write(out / f"{headers.destination}" / file, (folders[headers] / file).read_bytes())

    library = read_exports(folders[binary] / binary.files[0])
    names = cross(declared_functions(out / "include"), library)
    loader = release.loader.on(platform)
    file_name = linked_file(loader)
    _write(out / "lib" / file_name, _library_to_link(loader, platform, library, names))
    for path, text in package_files(release.component, release.version, platform, file_name).items():
        _write(out / path, text.encode())

    _write(out / "licenses" / release.licence_file.name, release.licence_file.read_bytes())
    write_manifest(out, release, platform, file_name, names)
    return out


def linked_file(loader: str) -> str:
    """Return the name of the file that is linked instead of a loader, given its DLL name or soname."""
    stem, dll, _ = loader.partition(".dll")
    return f"{stem}.lib" if dll else f"{loader.partition('.so')[0]}.so"


def _library_to_link(loader: str, platform: Platform, library: SharedLibrary, names: Crossing) -> bytes:
    """Return the library to link; on Windows the names may come from the Linux loader of the same source."""
    same_system = library.name.lower().endswith(".dll") == loader.endswith(".dll")
    if same_system and library.name.lower() != loader:
        raise BuildError(
            "the loader has another name than in the catalogue", wanted=loader, found=library.name
        )
    if platform == "linux_x86_64":
        return link_stub(loader, stub_exports(library))
    data = {export.name for export in names.linkable if export.is_data}
    return import_library(loader, [export.name for export in names.linkable], data=data)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
