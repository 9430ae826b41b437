#!/usr/bin/env python3
"""Make the tables of `xpu-dev check` and `xpu-dev api`: which release of a runtime has which function.

    python3 scripts/dev.py api-history [--level-zero CSV]

Unified Runtime: the export names of the loader DLL of every release since 2024.2 and the prototypes in that
release's ur_api.h, both read out of Intel's Windows wheels with range requests. Level Zero: releases of
sources.toml that are newer than the table are added to it; CSV, with the columns function, first_release and
last_release (empty: still there), makes it anew. Then the first releases of the names in `api --parity`.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from intel_xpu_runtime_dev.api._history import DATA
from intel_xpu_runtime_dev.api._parity import NEEDS
from packaging.utils import parse_wheel_filename
from packaging.version import Version
from pypi_simple import DistributionPackage, PyPISimple
from remotezip import RemoteZip
from repack.binaries import read_library
from repack.catalogue import load
from repack.declarations import declared_functions
from repack.errors import BuildError, reported
from repack.fetch import obtain

FIRST_RELEASE = Version("2024.2")
# The loader moved from the first to the second distribution, and got its new name, with 2026.2.
LOADER_DISTRIBUTIONS = ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt")
LOADER_DLL = re.compile(r".*/(ur_loader(?:_shared)?\.dll)")
HEADER_DISTRIBUTION = "intel-sycl-rt"
HEADER = re.compile(r".*/ur_api\.h")
# Where the names of the parity table are, in all releases.
SYCL_HEADER = re.compile(
    r".*/include/sycl/(kernel_bundle(_enums)?|backend|queue|usm/usm_pointer_info|ext/intel/info/\w+)\.hpp"
    r"|.*/include/sycl/info/\w+\.def"
)
UNIFIED_RUNTIME_FUNCTION = re.compile(r"ur[A-Z]\w*")


class Release(NamedTuple):
    """What one release offers: its loader's file name and the prototypes of its functions, None for an undeclared one."""

    version: str
    library: str
    functions: Mapping[str, str | None]


class Index:
    """The Windows wheels of Intel's distributions, by release."""

    def __init__(self) -> None:
        self._wheels: dict[str, dict[Version, DistributionPackage]] = {}

    def wheels(self, distribution: str) -> dict[Version, DistributionPackage]:
        """Return the Windows wheel of each release from `FIRST_RELEASE` on, the oldest first."""
        if distribution not in self._wheels:
            with PyPISimple() as client:
                packages = client.get_project_page(distribution).packages
            found = {
                parse_wheel_filename(package.filename)[1]: package
                for package in packages
                if package.filename.endswith("-win_amd64.whl")
            }
            self._wheels[distribution] = {
                version: found[version] for version in sorted(found) if version >= FIRST_RELEASE
            }
        return self._wheels[distribution]

    def member(self, distribution: str, version: Version, name: re.Pattern[str]) -> tuple[str, bytes] | None:
        """Return path and content of the member of a wheel whose path matches, None when there is none."""
        wheel = self.wheels(distribution).get(version)
        if wheel is None:
            return None
        with RemoteZip(wheel.url) as archive:
            for info in archive.infolist():
                if name.fullmatch(info.filename):
                    return info.filename, archive.read(info)
        return None

    def headers(self, names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
        """Yield each release that has such headers, the oldest first, and their text."""
        for version in self.wheels(HEADER_DISTRIBUTION):
            if text := self.header_text(version, names):
                yield str(version), text

    def header_text(self, version: Version, names: re.Pattern[str]) -> str:
        """Return the text of such headers of a release, empty when it has none."""
        with RemoteZip(self.wheels(HEADER_DISTRIBUTION)[version].url) as archive:
            chosen = [each for each in archive.infolist() if names.fullmatch(each.filename)]
            return "\n".join(archive.read(each).decode() for each in chosen)


def releases(index: Index) -> list[Version]:
    """Return every release of Unified Runtime that the index has."""
    return sorted({version for name in LOADER_DISTRIBUTIONS for version in index.wheels(name)})


def unified_runtime_release(index: Index, version: Version) -> Release:
    """Return what a release of Unified Runtime offers; raise `BuildError` when its wheels hold no loader."""
    for distribution in LOADER_DISTRIBUTIONS:
        loader = index.member(distribution, version, LOADER_DLL)
        if loader:
            break
    else:
        raise BuildError(
            f"no Unified Runtime loader in release {version}",
            wanted=LOADER_DLL.pattern,
            looked_in=LOADER_DISTRIBUTIONS,
        )
    path, content = loader
    header = index.member(HEADER_DISTRIBUTION, version, HEADER)
    known = prototypes(header[1]) if header else {}
    return Release(str(version), Path(path).name, {name: known.get(name) for name in exports(content)})


def exports(dll: bytes) -> list[str]:
    """Return the sorted names of the Unified Runtime functions that a DLL exports."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "ur_loader.dll")
        path.write_bytes(dll)
        names = [export.name for export in read_library(path).exports]
    return sorted(filter(UNIFIED_RUNTIME_FUNCTION.fullmatch, names))


def prototypes(header: bytes) -> dict[str, str]:
    """Return the canonical prototype of each function that a ur_api.h declares."""
    with TemporaryDirectory() as folder:
        Path(folder, "ur_api.h").write_bytes(header)
        return {function.name: function.prototype for function in declared_functions(Path(folder))}


def digest(prototype: str | None) -> str:
    """Return what the table tells prototypes apart by, empty for an unknown one."""
    return hashlib.sha256(prototype.encode()).hexdigest()[:8] if prototype else ""


def oldest_mentions(headers: Iterable[tuple[str, str]], names: Iterable[str]) -> dict[str, str]:
    """Return the first release whose headers have each name; `headers` are releases, the oldest first, and texts."""
    left = set(names)
    found: dict[str, str] = {}
    for release, text in headers:
        for name in sorted(left):
            # Of a qualified name the last part: the headers open namespaces one by one.
            if re.search(rf"\b{name.rpartition('::')[2]}\b", text):
                found[name] = release
        left -= found.keys()
    if left:
        raise BuildError("the headers lack names of the parity table", wanted=", ".join(sorted(left)))
    return dict(sorted(found.items()))


def parity_table(index: Index) -> dict[str, object]:
    """Return the first release of each name in the parity table that no table of functions has."""
    headers = {
        "level-zero": list(level_zero_headers()),
        "unified-runtime": list(index.headers(HEADER)),
        "sycl": list(index.headers(SYCL_HEADER)),
    }
    functions = {**read_table("level_zero.json"), **read_table("unified_runtime.json")}
    return {
        "oldest": {column: each[0][0] for column, each in headers.items()},
        "first": {
            column: oldest_mentions(
                each, {name for need in NEEDS for name in need.symbols(column)} - functions.keys()
            )
            for column, each in headers.items()
        },
    }


def level_zero_folders() -> Iterator[tuple[str, Path]]:
    """Yield the releases of Level Zero in sources.toml, the oldest first, and the folder of their headers."""
    for release in sorted(load().of("level-zero"), key=lambda each: Version(each.version)):
        (folder,) = obtain(item for item in release.inputs if item.role == "headers").values()
        yield release.version, folder


def level_zero_headers() -> Iterator[tuple[str, str]]:
    """Yield the releases of Level Zero in sources.toml, the oldest first, and the text of their headers."""
    for version, folder in level_zero_folders():
        paths = sorted(folder.rglob("*.h"))
        yield version, "\n".join(path.read_text(encoding="utf-8") for path in paths)


def read_table(name: str) -> dict[str, object]:
    """Return the functions of a table that was made before."""
    functions: dict[str, object] = json.loads((DATA / name).read_text(encoding="utf-8"))["functions"]
    return functions


def unified_runtime_table(all_releases: Sequence[Release]) -> dict[str, object]:
    """Return the table of `Release`s in the order of their versions."""
    functions: dict[str, list[list[str]]] = {}
    texts: dict[str, dict[str, str]] = {}
    libraries: dict[str, str] = {}
    newest = all_releases[-1].version
    previous = ""
    for release in all_releases:
        if release.library not in libraries.values():
            libraries[release.version] = release.library
        for name, prototype in release.functions.items():
            if prototype:
                texts.setdefault(name, {})[digest(prototype)] = prototype
            spans = functions.setdefault(name, [])
            if spans and spans[-1][1:] == [previous, digest(prototype)]:
                spans[-1][1] = release.version
            else:
                spans.append([release.version, release.version, digest(prototype)])
        previous = release.version
    for spans in functions.values():
        if spans[-1][1] == newest:
            spans[-1][1] = ""
    return {
        "releases": [release.version for release in all_releases],
        "libraries": libraries,
        # function: [first release, last release or "", digest of the prototype or ""] for each unbroken run.
        "functions": dict(sorted(functions.items())),
        # Only where there are several: what a person wants to see is the change.
        "prototypes": {
            key: text
            for _, variants in sorted(texts.items())
            if len(variants) > 1
            for key, text in variants.items()
        },
    }


def level_zero_table(rows: Iterable[Mapping[str, str]]) -> dict[str, object]:
    """Return the table of rows with a function, its first release and its last release ("": still there)."""
    functions = {row["function"]: [[row["first_release"], row["last_release"], ""]] for row in rows}
    mentioned = {version for spans in functions.values() for span in spans for version in span[:2] if version}
    return {
        "releases": sorted(mentioned, key=Version),
        "libraries": {},
        "functions": dict(sorted(functions.items())),
        "prototypes": {},
    }


def level_zero_extended(table: Mapping[str, Any], version: str, declared: Iterable[str]) -> dict[str, Any]:
    """Return Level Zero's table with a release that is newer than all in it, from the functions of its headers."""
    names = set(declared)
    newest = table["releases"][-1]
    functions = {name: [list(span) for span in spans] for name, spans in table["functions"].items()}
    for name, spans in functions.items():
        if not spans[-1][1] and name not in names:
            spans[-1][1] = newest
        elif spans[-1][1] and name in names:
            spans.append([version, "", ""])
    for name in names - functions.keys():
        functions[name] = [[version, "", ""]]
    return {**table, "releases": [*table["releases"], version], "functions": dict(sorted(functions.items()))}


def written(table: Mapping[str, object]) -> str:
    """Return a table as JSON with one line an entry, which differences of versions can be read in."""
    parts = []
    for name, value in table.items():
        if isinstance(value, dict):
            lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(each)}" for key, each in value.items())
            parts.append(f'"{name}": {{\n{lines}\n}}' if value else f'"{name}": {{}}')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


@reported
def main(arguments: list[str]) -> int:
    """Write the tables; return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--level-zero", metavar="CSV", type=Path, help="make Level Zero's table anew from this"
    )
    chosen = parser.parse_args(arguments)
    if chosen.level_zero:
        with chosen.level_zero.open(newline="") as file:
            save("level_zero.json", level_zero_table(csv.DictReader(file)))
    for release, folder in level_zero_folders():
        table = json.loads((DATA / "level_zero.json").read_text(encoding="utf-8"))
        if Version(release) > Version(table["releases"][-1]):
            names = [function.name for function in declared_functions(folder)]
            save("level_zero.json", level_zero_extended(table, release, names))
    index = Index()
    found = []
    for version in releases(index):
        found.append(unified_runtime_release(index, version))
        print(f"{version}: {found[-1].library} exports {len(found[-1].functions)} functions", flush=True)
    save("unified_runtime.json", unified_runtime_table(found))
    save("parity.json", parity_table(index))
    return 0


def save(name: str, table: Mapping[str, object]) -> None:
    """Write a table of the package."""
    path = DATA / name
    partial = path.with_suffix(".partial")
    partial.write_text(written(table), encoding="utf-8", newline="\n")
    partial.replace(path)
    print(f"wrote {path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
