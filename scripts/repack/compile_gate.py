"""Compile gate: every shipped header alone must compile, but for the faults of upstream that are listed here.

`check(component, version, platform, include, find_compilers(), cache)` raises BuildError where a header does
not compile and no row says so, or a row says so and it compiles.

Each header is compiled as C11 and as C++17 with the gcc, clang and zig of this machine: those of the Linux
package for Linux, those of the Windows package for Windows (GNU ABI). zig is always there, since it is one of
the build's tools. Outcomes are cached by the content of the headers and the identity of the compiler.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import ziglang
from packaging.specifiers import SpecifierSet

from .catalogue import Platform
from .errors import BuildError

# Part of every cache key: raise it when a compiler is called in another way.
GATE_VERSION = 1
LANGUAGES = {"c": ("c11", (".h",)), "c++": ("c++17", (".h", ".hpp"))}
ZIG = Path(next(iter(ziglang.__path__))) / ("zig.exe" if os.name == "nt" else "zig")
MINGW = "x86_64-w64-mingw32"
TARGETS: dict[Platform, str] = {"linux_x86_64": "linux", "win_amd64": "windows-gnu"}
# What names a target in the triplet a compiler prints.
TRIPLETS = {"linux": ("linux",), "windows-gnu": ("mingw", "windows-gnu")}


class Fault(NamedTuple):
    """A known fault of upstream's headers: compiling one alone fails with an error that matches `symptom`.

    With the options of `remedy`, where `{include}` is the include folder, the header compiles; only an error
    that matches `still` may remain, for compilers too old to accept what newer ones do.
    """

    component: str
    versions: str
    header: str
    languages: tuple[str, ...]
    symptom: str
    remedy: tuple[str, ...]
    still: str = ""


# An attribute on an enumerator, [[deprecated]]: C has it since C23, gcc and newer clang take it in C11.
ATTRIBUTE_IN_C = "expected '= constant-expression' or end of enumerator definition"
NO_BOOL = r"unknown type name .bool"
FAULTS = (
    # Names its neighbour as from the inner folder.
    Fault(
        "level-zero", "", "level_zero/layers/zel_tracing_ddi.h", ("c", "c++"),
        r"layers/zel_tracing_api\.h", ("-I{include}/level_zero",),
    ),
    # mingw's gcc trips over the attribute in front of `bool`, so it names the function.
    Fault(
        "level-zero", ">=1.32", "level_zero/loader/ze_loader.h", ("c",),
        rf"{NO_BOOL}|before .zelCheckIsLoaderInTearDown", ("-include", "stdbool.h"),
    ),
    *(
        Fault(
            "unified-runtime", "", f"unified-runtime/{header}", ("c",),
            f"{NO_BOOL}|{ATTRIBUTE_IN_C}", ("-include", "stdbool.h"), still=ATTRIBUTE_IN_C,
        )
        for header in ("ur_api.h", "ur_ddi.h", "ur_print.h")
    ),
)  # fmt: skip


class Command(NamedTuple):
    """How to call a compiler for one language."""

    program: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compiler:
    """A compiler of this machine and what it compiles for; `identity` names version and target."""

    name: str
    target: str
    commands: Mapping[str, Command]
    identity: str = ""

    def __str__(self) -> str:
        return f"{self.name} for {self.target}"


class Case(NamedTuple):
    """One compilation: language, header, further options."""

    language: str
    header: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.language, self.header, *self.options))


class Compilers(NamedTuple):
    """The compilers that this machine has, and the names of those that it lacks."""

    here: tuple[Compiler, ...]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        used = ", ".join(compiler.identity for compiler in self.here)
        return used + (f" (not on this machine: {', '.join(self.missing)})" if self.missing else "")


def check(
    component: str, version: str, platform: Platform, include: Path, compilers: Compilers, cache: Path
) -> None:
    """Compile every header below `include` with the compilers for the platform that the headers are for.

    BuildError for a new fault, and for a listed one that is gone.
    """
    headers = sorted(
        path.relative_to(include).as_posix() for path in include.rglob("*") if path.suffix in (".h", ".hpp")
    )
    faults = [fault for fault in known_faults(component, version) if fault.header in headers]
    cases = list(_cases(headers, faults))
    problems = [
        f"{compiler}: {problem}"
        for compiler in compilers.here
        if compiler.target == TARGETS[platform]
        for problem in judge(headers, faults, _errors(compiler, cases, include, headers, cache))
    ]
    if problems:
        raise BuildError(
            f"headers of {component} {version} do not compile as the table of faults says",
            wanted="every header compiles alone, except for FAULTS in scripts/repack/compile_gate.py",
            looked_in=[str(include)],
            found="\n    ".join(problems),
            fix="report a new fault upstream and list it; remove the row of a fault that is gone",
        )


def known_faults(component: str, version: str) -> list[Fault]:
    """Return the rows about a release."""
    return [
        fault for fault in FAULTS if fault.component == component and version in SpecifierSet(fault.versions)
    ]


def judge(headers: Iterable[str], faults: Iterable[Fault], errors: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with one compiler's errors, given as text by case, empty where it compiled."""
    known = {(language, fault.header): fault for fault in faults for language in fault.languages}
    for language, header in _compilations(headers):
        error, fault = errors[str(Case(language, header))], known.get((language, header))
        if fault is None:
            if error:
                yield f"{header} as {language}: new fault: {error}"
        elif not error:
            yield f"{header} as {language}: the listed fault is gone ({fault.symptom})"
        elif not re.search(fault.symptom, error):
            yield f"{header} as {language}: another fault than the listed one: {error}"
        else:
            error = errors[str(Case(language, header, fault.remedy))]
            if error and not (fault.still and fault.still in error):
                yield f"{header} as {language}: {' '.join(fault.remedy)} does not help: {error}"


def _compilations(headers: Iterable[str]) -> Iterator[tuple[str, str]]:
    for language, (_, suffixes) in LANGUAGES.items():
        for header in headers:
            if header.endswith(suffixes):
                yield language, header


def _cases(headers: Iterable[str], faults: Iterable[Fault]) -> Iterator[Case]:
    """Yield every compilation, then those with a remedy."""
    for language, header in _compilations(headers):
        yield Case(language, header)
    for fault in faults:
        for language in fault.languages:
            yield Case(language, fault.header, fault.remedy)


def _errors(
    compiler: Compiler, cases: list[Case], include: Path, headers: list[str], cache: Path
) -> dict[str, str]:
    """Return each case's error, from the cache where these headers met this compiler before."""
    digest = hashlib.sha256(json.dumps([GATE_VERSION, compiler.identity, *map(str, cases)]).encode())
    for header in headers:
        digest.update(f"{header}\0".encode() + hashlib.sha256((include / header).read_bytes()).digest())
    record = cache / "compile-gate" / f"{digest.hexdigest()}.json"
    if record.is_file():
        errors: dict[str, str] = json.loads(record.read_text(encoding="utf-8"))
        return errors
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(_compile, compiler, case, include, Path(folder)) for case in cases]
        errors = {str(case): job.result() for case, job in zip(cases, jobs, strict=True)}
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(errors, indent=1), encoding="utf-8")
    partial.replace(record)
    return errors


def _compile(compiler: Compiler, case: Case, include: Path, folder: Path) -> str:
    """Compile a file that includes one header; return the first error, empty where there is none."""
    name = hashlib.sha256(str(case).encode()).hexdigest()[:16]
    source = folder / f"{name}.{'c' if case.language == 'c' else 'cpp'}"
    source.write_text(f'#include "{case.header}"\n')
    command = compiler.commands[case.language]
    options = [option.format(include=include) for option in case.options]
    standard, _ = LANGUAGES[case.language]
    flags = [*command.options, f"-std={standard}", "-w", "-I", str(include), *options]
    files = ["-c", str(source), "-o", str(source.with_suffix(".o"))]
    result = subprocess.run(
        [command.program, *flags, *files],
        capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if result.returncode == 0:
        return ""
    lines = [line for line in result.stderr.splitlines() if "error" in line] or result.stderr.splitlines()
    return lines[0] if lines else f"exit code {result.returncode}"


def find_compilers() -> Compilers:
    """Return the compilers of this machine with their identities, and the names of those it lacks."""
    candidates = list(_candidates())
    with ThreadPoolExecutor(len(candidates)) as pool:
        identities = list(pool.map(_identity, candidates))
    pairs = list(zip(candidates, identities, strict=True))
    return Compilers(
        tuple(replace(compiler, identity=identity) for compiler, identity in pairs if identity),
        tuple(str(compiler) for compiler, identity in pairs if not identity),
    )


def _candidates() -> Iterator[Compiler]:
    yield Compiler("gcc", "linux", {"c": Command("gcc"), "c++": Command("g++")})
    yield Compiler("clang", "linux", {"c": Command("clang"), "c++": Command("clang++")})
    yield Compiler("gcc", "windows-gnu", {"c": Command(f"{MINGW}-gcc"), "c++": Command(f"{MINGW}-g++")})
    options = (f"--target={MINGW}", *_mingw_cxx_folders())
    commands = {"c": Command("clang", options[:1]), "c++": Command("clang++", options)}
    yield Compiler("clang", "windows-gnu", commands)
    for target in ("linux", "windows-gnu"):
        options = ("-target", f"x86_64-{target}{'-gnu' if target == 'linux' else ''}")
        zig = {"c": Command(str(ZIG), ("cc", *options)), "c++": Command(str(ZIG), ("c++", *options))}
        yield Compiler("zig", target, zig)


def _mingw_cxx_folders() -> tuple[str, ...]:
    """Return options that show clang the C++ library of mingw-w64, which Debian's clang does not find."""
    if not shutil.which(f"{MINGW}-g++"):
        return ()
    include = Path(_output(f"{MINGW}-g++", "-print-file-name=include"))
    folders = [include / "c++", include / "c++" / MINGW]
    return tuple(option for folder in folders for option in ("-isystem", str(folder)))


def _identity(compiler: Compiler) -> str:
    """Return the version and target of a compiler, empty where it is not here or compiles for another one."""
    if compiler.name == "zig":
        return f"zig {importlib.metadata.version('ziglang')} for {compiler.target}"
    commands = compiler.commands.values()
    if not all(shutil.which(command.program) for command in commands):
        return ""
    program, options = compiler.commands["c"]
    triplet = _output(program, *options, "-dumpmachine")
    if not any(part in triplet for part in TRIPLETS[compiler.target]):
        return ""
    if compiler.target == "windows-gnu" and not shutil.which(f"{MINGW}-gcc"):
        return ""  # clang alone has no Windows headers
    versions = _output(program, "--version").splitlines()
    return f"{versions[0]} for {compiler.target}" if versions else ""


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout.strip()
