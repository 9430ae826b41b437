"""Real binaries for the tests, linked by real linkers for many machines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.needs import program

ZIG = (sys.executable, "-m", "ziglang")
# The functions that every binary here calls; no header is needed to import them.
LEVEL_ZERO = ("zeInit", "zeInitDrivers")
UNIFIED_RUNTIME = ("urLoaderInit", "urEnqueueKernelLaunch")
# What the linker wants for a delayed import; nothing here ever runs.
DELAY_HELPER = "void *__delayLoadHelper2(void *a, void **b) { return 0; }\n"


def source(*functions: str, before: str = "") -> str:
    """Return C that calls functions and exports one."""
    declared = "".join(f"{before}int {name}(void);\n" for name in functions)
    calls = " + ".join(f"{name}()" for name in functions) or "0"
    return f"{declared}int called(void) {{ return {calls}; }}\n"


def elf(folder: Path, triple: str, code: str, *options: str) -> Path:
    """Link an ELF shared library for any machine."""
    written = folder / "code.c"
    written.write_text(code)
    result = folder / "libcode.so"
    _run(*ZIG, "cc", "-target", triple, "-shared", "-nostdlib", "-o", result, written, *options)
    return result


def dll(
    folder: Path,
    triple: str,
    libraries: Mapping[str, tuple[str, ...]],
    *options: str,
    machine: str,
    code: str = "",
) -> Path:
    """Link a DLL with Microsoft's conventions, which imports these functions of these libraries."""
    functions = [name for names in libraries.values() for name in names]
    written = folder / "code.c"
    written.write_text(code or source(*functions, before="__declspec(dllimport) ") + DELAY_HELPER)
    compiled = folder / "code.obj"
    _run(program("clang"), f"--target={triple}", "-c", written, "-o", compiled)
    archives = [import_library(folder, name, names, machine) for name, names in libraries.items()]
    result = folder / "code.dll"
    _run(
        program("lld-link"),
        "/dll",
        "/noentry",
        f"/out:{result}",
        "/export:called",
        compiled,
        *archives,
        *options,
    )
    return result


def import_library(folder: Path, library: str, functions: tuple[str, ...], machine: str) -> Path:
    """Make the import library of a DLL that need not exist."""
    definition = folder / f"{library}.def"
    definition.write_text("\n".join([f"LIBRARY {library}", "EXPORTS", *functions, ""]))
    result = folder / f"{library}.lib"
    _run(*ZIG, "dlltool", "-m", machine, "-d", definition, "-l", result)
    return result


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"
