"""Link stubs: every linker takes them, and the programs then run with the real loaders."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repack.binaries import Export, SharedLibrary, read_library
from repack.catalogue import Release, load
from repack.crossing import stub_exports
from repack.errors import BuildError
from repack.fetch import obtain
from repack.link_stub import link_stub
from repack.name_list import read_exports
from repack.transfer import UnreachableError

from tests.support import level_zero
from tests.support.environments import intel_runtime
from tests.support.needs import lacking, program
from tests.support.wheels import staged

ZIG = (sys.executable, "-m", "ziglang")
LINKERS = {
    "gcc-bfd": ("gcc", "-fuse-ld=bfd"),
    "gcc-gold": ("gcc", "-fuse-ld=gold"),
    "gcc-lld": ("gcc", "-fuse-ld=lld"),
    "gcc-no-pie": ("gcc", "-no-pie"),
    "clang-bfd": ("clang",),
    "clang-lld": ("clang", "-fuse-ld=lld"),
    "clang-lld-no-pie": ("clang", "-fuse-ld=lld", "-no-pie"),
    "zig": (*ZIG, "cc"),
}
RELEASES = load().releases
UNIFIED_RUNTIME = [release.version for release in RELEASES if release.component == "unified-runtime"]
VERSION = "LIBUR_LOADER_0.12"
# The address of a function as well as a call: without PIE linkers make an entry of their own for it.
ZE_CALLER = """
#include <stdio.h>
#include <level_zero/ze_api.h>
int main(void) {
    ze_result_t (*volatile initialise)(ze_init_flags_t) = zeInit;
    printf("%x %x\\n", zeInit(0), initialise(0));
}
"""
UR_CALLER = """
#include <stdio.h>
#include <unified-runtime/ur_api.h>
int main() {
    uint32_t adapters = 0;
    ur_result_t started = urLoaderInit(0, nullptr), asked = urAdapterGet(0, nullptr, &adapters);
    printf("%d %d\\n", started, asked);
}
"""
NO_DRIVER = "78000001"  # ZE_RESULT_ERROR_UNINITIALIZED


def compile_command(linker: str) -> tuple[str, ...]:
    """Return the command of a compiler and linker, where this machine has them."""
    first, *rest = LINKERS[linker]
    return (first, *rest) if first == sys.executable else (program(first), *rest)


def build(folder: Path, command: tuple[str, ...], source: str, tree: Path, *libraries: str) -> Path:
    """Compile a program with the headers and stub of a staged tree."""
    suffix = ".c" if source == ZE_CALLER else ".cpp"
    code, result = (folder / "main").with_suffix(suffix), folder / "main"
    code.write_text(source)
    places = [f"-I{tree / 'include'}", f"-L{tree / 'lib'}"]
    subprocess.run([*command, code, *places, *libraries, "-o", result], check=True)
    return result


def bare_library(folder: Path, command: tuple[str, ...], called: str, *libraries: str | Path) -> Path:
    """Link a shared library that calls functions, without headers and without the C library."""
    code, result = folder / "bare.c", folder / "libbare.so"
    code.write_text(f"int zeInit(), urInit(), urLoaderInit();\nint caller(void) {{ return {called}(); }}\n")
    place, *names = libraries
    flags = ["-shared", "-fPIC", "-nostdlib", f"-L{place}", *names, "-o", result]
    subprocess.run([*command, code, *flags], check=True)
    return result


def run(host: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the loader in a folder."""
    variables = {**os.environ, "LD_LIBRARY_PATH": str(folder), "LC_ALL": "C"}
    return subprocess.run([host], env=variables, capture_output=True, text=True)


def readelf(*arguments: str | Path) -> str:
    """Return what readelf says; it must not complain."""
    command = [program("readelf"), "-W", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout


def real(release: Release) -> SharedLibrary:
    """Return what the real loader of a release exports."""
    binary = release.loader_binary("linux_x86_64")
    try:
        return read_exports(obtain([binary])[binary] / binary.files[0])
    except UnreachableError as error:
        lacking(str(error))


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_has_the_soname_and_every_c_name_of_the_real_loader(release: Release, tmp_path: Path) -> None:
    library = real(release)
    (stub,) = (staged(release.component, release.version, "linux_x86_64") / "lib").glob("*.so")

    assert read_library(stub) == SharedLibrary(library.name, "x64", stub_exports(library))
    assert all(export.name.startswith("_Z") for export in {*library.exports} - {*stub_exports(library)})


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_readelf_finds_nothing_amiss(release: Release) -> None:
    (stub,) = (staged(release.component, release.version, "linux_x86_64") / "lib").glob("*.so")

    readelf("-a", stub)
    assert "NEEDED" not in readelf("-d", stub)
    (stack,) = [line for line in readelf("-l", stub).splitlines() if "GNU_STACK" in line]
    assert " RW " in stack
    versions = {line.split("@@")[1] for line in readelf("--dyn-syms", stub).splitlines() if "@@" in line}
    assert versions == ({VERSION} if release.component == "unified-runtime" else set())


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("version", ["1.32.0", "1.20.6"])
def test_programs_run_with_debians_loader(linker: str, version: str, tmp_path: Path) -> None:
    tree = staged("level-zero", version, "linux_x86_64")
    host = build(tmp_path, compile_command(linker), ZE_CALLER, tree, "-lze_loader")

    assert "[libze_loader.so.1]" in readelf("-d", host)
    result = run(host, level_zero.loader_folder())
    assert result.stdout == f"{NO_DRIVER} {NO_DRIVER}\n", result.stderr


@pytest.mark.parametrize("version", UNIFIED_RUNTIME)
def test_programs_run_with_intels_loader_of_every_release(version: str, tmp_path: Path) -> None:
    tree = staged("unified-runtime", version, "linux_x86_64")
    host = build(tmp_path, (program("g++"),), UR_CALLER, tree, "-lur_loader")

    assert f"Name: {VERSION}" in readelf("-V", host)
    for runtime in UNIFIED_RUNTIME:
        result = run(host, intel_runtime(runtime).parents[1] / "lib")
        assert result.stdout == "0 0\n", f"{runtime}: {result.stderr}"


def test_version_definitions_are_those_of_a_real_linker(tmp_path: Path) -> None:
    """Hashes and numbers too, which the dynamic loader compares."""
    (tmp_path / "real.c").write_text("int f(void) { return 0; } int g(void) { return 0; }")
    (tmp_path / "map").write_text("A_1 { global: f; }; VERSION_2.5 { global: g; };")
    options = ("-shared", "-nostdlib", "-Wl,-soname,libmade.so.1", "-Wl,--version-script=map")
    subprocess.run([program("gcc"), *options, "real.c", "-o", "real.so"], cwd=tmp_path, check=True)
    (tmp_path / "stub.so").write_bytes(link_stub("libmade.so.1", read_library(tmp_path / "real.so").exports))

    made, stub = (version_definitions(tmp_path / name) for name in ("real.so", "stub.so"))

    assert made == stub
    assert [names for _, names in stub] == [["libmade.so.1"], ["A_1"], ["VERSION_2.5"]]


def version_definitions(path: Path) -> list[tuple[dict[str, int], list[str]]]:
    """Return the fields and names of each version that a library defines."""
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".gnu.version_d")
        assert isinstance(section, GNUVerDefSection)
        return [
            (dict(entry.entry), [auxiliary.name for auxiliary in auxiliaries])
            for entry, auxiliaries in section.iter_versions()
        ]


@pytest.mark.parametrize("linker", ["gcc-gold", "clang-lld", "zig"])
def test_other_linkers_ask_for_the_version_too(linker: str, tmp_path: Path) -> None:
    tree = staged("unified-runtime", "2026.2.0", "linux_x86_64")
    library = bare_library(tmp_path, compile_command(linker), "urLoaderInit", tree / "lib", "-lur_loader")

    assert f"Name: {VERSION}" in readelf("-V", library)


def test_a_loader_of_another_interface_version_is_refused(tmp_path: Path) -> None:
    """As with Intel's own library to link: the version stands for an incompatible interface."""
    tree = staged("unified-runtime", "2026.2.0", "linux_x86_64")
    host = build(tmp_path, (program("g++"),), UR_CALLER, tree, "-lur_loader")
    (tmp_path / "double.c").write_text(
        "int urLoaderInit(void) { return 0; } int urAdapterGet(void) { return 0; }"
    )
    (tmp_path / "double.map").write_text("LIBUR_LOADER_0.11 { global: ur*; };")
    command = [program("gcc"), "-shared", "double.c", "-Wl,--version-script=double.map"]
    command += ["-Wl,-soname,libur_loader.so.0", "-o", "libur_loader.so.0"]
    subprocess.run(command, cwd=tmp_path, check=True)

    result = run(host, tmp_path)

    assert result.returncode != 0
    assert f"version `{VERSION}' not found" in result.stderr


def test_a_shared_library_links_with_nothing_undefined(tmp_path: Path) -> None:
    tree = staged("level-zero", "1.32.0", "linux_x86_64")
    flags = (program("gcc"), "-shared", "-fPIC", "-Wl,--no-undefined", "-Wl,-z,now")

    assert "[libze_loader.so.1]" in readelf("-d", build(tmp_path, flags, ZE_CALLER, tree, "-lze_loader"))


def test_a_name_that_is_not_in_it_does_not_link(tmp_path: Path) -> None:
    tree = staged("level-zero", "1.32.0", "linux_x86_64")
    (tmp_path / "main.c").write_text(
        "int zelTracerResetAllCallbacks(void); int main(void) { return zelTracerResetAllCallbacks(); }"
    )
    command = [program("gcc"), "main.c", f"-L{tree / 'lib'}", "-lze_loader"]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert "undefined reference to `zelTracerResetAllCallbacks'" in result.stderr


def test_is_never_taken_for_the_loader(tmp_path: Path) -> None:
    tree = staged("level-zero", "1.32.0", "linux_x86_64")
    stub = tree / "lib" / "libze_loader.so"
    with pytest.raises(OSError, match="shared object cannot be dlopen"):
        ctypes.CDLL(str(stub))

    host = build(tmp_path, (program("gcc"),), ZE_CALLER, tree, "-lze_loader")
    shutil.copyfile(stub, tmp_path / "libze_loader.so.1")
    result = run(host, tmp_path)
    assert result.returncode == 127
    assert "undefined symbol: zeInit" in result.stderr


def test_links_for_arm64(tmp_path: Path) -> None:
    (tmp_path / "libloader.so").write_bytes(
        link_stub("libloader.so.1", [Export("zeInit"), Export("urInit", version="V_1")], machine="arm64")
    )
    command = (*ZIG, "cc", "-target", "aarch64-linux-gnu")
    library = bare_library(tmp_path, command, "zeInit() + urInit", tmp_path, "-lloader")

    assert "[libloader.so.1]" in readelf("-d", library)
    assert "Name: V_1" in readelf("-V", library)
    assert "AArch64" in readelf("-h", tmp_path / "libloader.so")


NAMES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)


@given(
    names=st.dictionaries(
        NAMES, st.one_of(st.just(""), st.sampled_from(["V_1", "V_2", "LIB_3.0"])), min_size=1
    ),
    machine=st.sampled_from(["x64", "arm64"]),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_names_and_versions_are_read_back(names: Mapping[str, str], machine: str, tmp_path: Path) -> None:
    exports = tuple(sorted(Export(name, version=version) for name, version in names.items()))
    content = link_stub("libany.so.1", exports, machine=machine)
    (tmp_path / "libany.so").write_bytes(content)

    assert read_library(tmp_path / "libany.so") == SharedLibrary("libany.so.1", machine, exports)
    assert content == link_stub("libany.so.1", exports, machine=machine)


@pytest.mark.parametrize(
    ("soname", "exports", "options", "problem"),
    [
        ("liba.so.1", [], {}, "would be empty"),
        ("liba.so.1", [Export("f"), Export("f", version="V")], {}, "defined twice"),
        ("liba.so.1", [Export("f\0")], {}, "no symbol name"),
        ("liba.so.1", [Export("größe")], {}, "no symbol name"),
        ("liba.so.1", [Export("n" * 4097)], {}, "too long"),
        ("liba.so.1", [Export("table", is_data=True)], {}, "cannot hold variables"),
        ("lib/a.so", [Export("f")], {}, "no name for a library"),
        ("", [Export("f")], {}, "no name for a library"),
        ("liba.so.1", [Export("f")], {"machine": "riscv"}, "no link stubs for the machine 'riscv'"),
    ],
)
def test_bad_input(soname: str, exports: list[Export], options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BuildError, match=problem):
        link_stub(soname, exports, **options)
