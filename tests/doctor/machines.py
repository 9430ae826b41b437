"""Machines and environments made of folders, for checks that read nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intel_xpu_runtime_dev.doctor.machine import Machine

HEADER, IMPORT_LIBRARY, LINK_NAME = "include/level_zero/ze_api.h", "lib/ze_loader.lib", "lib/libze_loader.so"


def write(path: Path, content: str = "") -> Path:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@dataclass
class Layout:
    """A machine in a folder: `prefix` is the environment, `root` the system's disk."""

    folder: Path
    windows: bool
    environ: dict[str, str] = field(default_factory=dict)
    cache: list[tuple[str, Path]] = field(default_factory=list)
    registry: dict[str, Mapping[str, object]] = field(default_factory=dict)
    studios: tuple[Path, ...] = ()
    closed: set[str] = field(default_factory=set)
    sites: list[Path] = field(default_factory=list)

    @property
    def prefix(self) -> Path:
        return self.folder / "prefix"

    @property
    def root(self) -> Path:
        return self.folder / "disk"

    @property
    def site(self) -> Path:
        return self.prefix / ("Lib/site-packages" if self.windows else "lib/python3.11/site-packages")

    @property
    def overlay(self) -> Path:
        return self.prefix / "Library" if self.windows else self.prefix

    def machine(self) -> Machine:
        """Return the description that the checks read."""

        def listing() -> str:
            return "\n".join(f"\t{name} (libc6,x86-64) => {path}" for name, path in self.cache)

        return Machine(
            windows=self.windows,
            environ=self.environ,
            prefix=self.prefix,
            base_prefix=self.prefix,
            site=tuple(map(str, self.sites or [self.site])),
            home=str(self.folder / "home"),
            root=self.root,
            python_include=self.prefix / "include",
            python_libraries=self.prefix / "libs",
            read_linker_cache=listing,
            read_registry=lambda key: self.registry.get(key, {}),
            read_visual_studios=lambda: self.studios,
            can_open=lambda path: path.name not in self.closed,
            python_version="3.11.9",
        )

    def install(self, name: str, version: str, *files: str, site: Path | None = None) -> None:
        """Install a distribution: its files are below the prefix, as RECORD tells them from site-packages."""
        site = site or self.site
        up = (
            "/".join([".."] * len(site.relative_to(self.prefix).parts))
            if site.is_relative_to(self.prefix)
            else "../.."
        )
        folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
        write(folder / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        write(folder / "RECORD", "".join(f"{up}/{file},,\n" for file in files))
        for file in files:
            write(site / up / file)

    def install_sycl(self, version: str = "2025.3.3", *libraries: str) -> None:
        """Install `intel-sycl-rt` with the files that Triton looks for."""
        base = "Library/" if self.windows else ""
        names = libraries or (("lib/sycl8.lib", "bin/sycl8.dll") if self.windows else ("lib/libsycl.so",))
        self.install(
            "intel-sycl-rt", version, f"{base}include/sycl/sycl.hpp", *(base + name for name in names)
        )

    def install_overlay(self, version: str = "1.32.0") -> None:
        """Install `level-zero-devel` as it is on Windows: with its files in the prefix."""
        self.install("level-zero-devel", version, f"Library/{HEADER}", f"Library/{IMPORT_LIBRARY}")

    def kit(self, name: str) -> Path:
        """Make the root of a development kit."""
        root = self.folder / name
        write(root / HEADER)
        write(root / (IMPORT_LIBRARY if self.windows else LINK_NAME))
        return root

    def program(self, name: str) -> Path:
        """Make a program, on PATH."""
        path = write(self.folder / "tools" / "bin" / (f"{name}.exe" if self.windows else name))
        self.environ["PATH"] = str(path.parent)
        return path
