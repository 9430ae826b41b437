#!/usr/bin/env python3
"""Time the import library of Level Zero 1.32.0's 824 functions: ours, zig's dlltool, LLVM's.

    python3 scripts/dev.py bench import_library [--json FILE] [--quick]

In process is how the build makes it, and what counts; a fresh process adds Python's start, which alone takes as long as
zig's program, and all imports. The bytes of zig's must be ours.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import ziglang

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))
from benchmarking import Row, interleaved, main, milliseconds, process, row  # noqa: E402 # through the line above
from repack.catalogue import load  # noqa: E402
from repack.declarations import declared_functions  # noqa: E402
from repack.fetch import obtain  # noqa: E402
from repack.import_library import import_library  # noqa: E402

DLL = "ze_loader.dll"
LLVM = ("llvm-dlltool", *(f"llvm-dlltool-{version}" for version in range(25, 13, -1)))
FRESH = """
from pathlib import Path
from repack.import_library import import_library
names = Path("names.txt").read_text().split()
Path("fresh.lib").write_bytes(import_library("ze_loader.dll", names))
"""
OURS, ZIG = "ours, in process", "zig dlltool"


def rows(quick: bool) -> Iterator[Row]:
    """Yield the time of each way, and how many of its bytes are ours."""
    with tempfile.TemporaryDirectory(prefix="bench-import-library-") as folder:
        names = write_names(Path(folder))
        cases = dict(make_cases(Path(folder), names))
        samples = interleaved({name: milliseconds(run) for name, run in cases.items()}, 3 if quick else 25)
        same = {tool: same_bytes(Path(folder), tool) for tool in cases}
    group = f"import library of {len(names)} names"
    found = {name: row(group, name, taken, "ms") for name, taken in samples.items()}
    fastest = min(one.value for name, one in found.items() if "dlltool" in name)
    ours = found.pop(OURS)
    yield ours.held_to("below every peer", ours.value < fastest)
    yield from found.values()
    for name, equal in same.items():
        if equal is not None:
            told = Row("import library, bytes that are ours", name, equal, equal, equal, "")
            yield told.held_to("all", equal == 1) if name == ZIG else told


def write_names(folder: Path) -> list[str]:
    """Write the names for each tool; return them."""
    headers = load().release("level-zero", "1.32.0").headers("win_amd64")
    names = [function.name for function in declared_functions(obtain([headers])[headers])]
    (folder / "names.txt").write_text("\n".join(names))
    (folder / "names.def").write_text(f'LIBRARY "{DLL}"\nEXPORTS\n' + "\n".join(names))
    return names


def make_cases(folder: Path, names: list[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield ours in this process and in a fresh one, zig's two, and those of the LLVM versions on PATH."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}

    def command(*words: str) -> Callable[[], object]:
        return process(words, cwd=folder, env=environment)

    def dlltool(*program: str, output: str) -> Callable[[], object]:
        return command(*program, "-m", "i386:x86-64", "-D", DLL, "-d", "names.def", "-l", output)

    yield OURS, lambda: (folder / output(OURS)).write_bytes(import_library(DLL, names))
    zig = Path(next(iter(ziglang.__path__))) / ("zig.exe" if os.name == "nt" else "zig")
    yield ZIG, dlltool(str(zig), "dlltool", output=output(ZIG))
    for tool in filter(shutil.which, LLVM):
        yield tool, dlltool(tool, output=output(tool))
    yield "ours, fresh process", command(sys.executable, "-c", FRESH)
    yield "python -c pass", command(sys.executable, "-c", "pass")
    python = (sys.executable, "-m", "ziglang", "dlltool")
    yield "python -m ziglang dlltool", dlltool(*python, output="wheel.lib")


def output(case: str) -> str:
    """Return the file that a case writes."""
    return f"{case.replace(' ', '-').replace(',', '')}.lib"


def same_bytes(folder: Path, case: str) -> float | None:
    """Return the part of the bytes that are as ours, from 0 to 1; None of a case that writes nothing to compare."""
    file = folder / output(case)
    if case == OURS or not file.is_file():
        return None
    ours, theirs = (folder / output(OURS)).read_bytes(), file.read_bytes()
    equal = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return equal / max(len(ours), len(theirs))


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
