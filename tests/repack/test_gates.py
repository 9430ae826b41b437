"""The gates let our wheels through, and each stops the wheel it is there for."""

from __future__ import annotations

import base64
import hashlib
import stat
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from repack.catalogue import PLATFORMS, Platform
from repack.errors import BuildError
from repack.gates import GATES, LONGEST_PATH, Wheel, check_wheels
from repack.neighbours import installed_path, neighbours, owned_files
from repack.transfer import UnreachableError

from tests.support.needs import lacking, program
from tests.support.wheels import built, staged, wheel

INFO = "level_zero_devel-1.32.0.dist-info"
HEADER = "level_zero_devel/include/level_zero/ze_api.h"
STUB = "level_zero_devel/lib/libze_loader.so"


def ours(platform: str = "win_amd64") -> Path:
    """Return the wheel that the tests alter."""
    return wheel("level-zero-devel", "1.32.0", platform)


def altered(
    original: Path,
    folder: Path,
    *,
    add: Mapping[str, bytes] | None = None,
    without: str = "",
    modes: Mapping[str, int] | None = None,
) -> Path:
    """Write a wheel with members added, replaced or left out or of another mode, and a right RECORD."""
    target = folder / original.name
    with zipfile.ZipFile(original) as source:
        members = {info.filename: (info, source.read(info)) for info in source.infolist()}
    for name, content in (add or {}).items():
        members[name] = (zipfile.ZipInfo(name), content)
        members[name][0].external_attr = (stat.S_IFREG | 0o644) << 16
    for name, mode in (modes or {}).items():
        members[name][0].external_attr = mode << 16
    members.pop(without, None)
    (record,) = [name for name in members if name.endswith(".dist-info/RECORD")]
    lines = [
        f"{name},{record_hash(content)},{len(content)}\n"
        for name, (_, content) in members.items()
        if name != record
    ]
    members[record] = (members[record][0], "".join([*lines, f"{record},,\n"]).encode())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in members.values():
            archive.writestr(info, content)
    return target


def record_hash(content: bytes) -> str:
    """Return a hash as RECORD has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"sha256={digest}"


def stopped(gate: str, *paths: Path) -> str:
    """Return what a gate says of wheels, which is also what the build says."""
    problems = "\n".join(GATES[gate]([Wheel(path) for path in paths]))
    with pytest.raises(BuildError) as error:
        check_wheels(paths)
    assert f"{gate}: {problems.splitlines()[0]}" in str(error.value)
    return problems


def test_our_wheels_pass() -> None:
    check_wheels(sorted(built().glob("*.whl")))


def test_twine(tmp_path: Path) -> None:
    metadata = b"Metadata-Version: 2.4\nName: level-zero-devel\nVersion: 1.32.0\nLicense-Expression: MIT\n"

    assert "FAILED" in stopped(
        "twine check --strict", altered(ours(), tmp_path, add={f"{INFO}/METADATA": metadata})
    )


@pytest.mark.parametrize(
    ("add", "said"),
    [
        ({"level_zero_devel/__pycache__/x.cpython-311.pyc": b"x"}, "W001"),
        ({"level_zero_devel/include/level_zero/twice.h": b"original"}, "W002"),
        ({"level_zero_devel-1.32.0.data/data/Library/lib/other.lib": b"original"}, "W002"),
        ({"another/__init__.py": b"x = 1\n"}, "W009"),
    ],
)
def test_check_wheel_contents(add: dict[str, bytes], said: str, tmp_path: Path) -> None:
    header = (staged("level-zero", "1.32.0", "win_amd64") / "include/level_zero/ze_ddi_common.h").read_bytes()
    content = {path: header if bytes_ == b"original" else bytes_ for path, bytes_ in add.items()}

    assert said in stopped("check-wheel-contents", altered(ours(), tmp_path, add=content))


def library(folder: Path, compiler: str, source: str, *arguments: str | Path) -> bytes:
    """Return a shared library made of C source."""
    (folder / "library.c").write_text(source)
    command = [
        program(compiler),
        "-shared",
        "-fPIC",
        "-o",
        folder / "library.bin",
        folder / "library.c",
        *arguments,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "library.bin").read_bytes()


def test_auditwheel_refuses_newer_symbols_and_other_libraries(tmp_path: Path) -> None:
    source = "double pow(double, double); double f(double x) { return pow(x, x); }"
    newer = library(tmp_path, "gcc", source, "-lm")

    said = stopped("auditwheel show", altered(ours("linux_x86_64"), tmp_path, add={STUB: newer}))

    assert "consistent with manylinux_2_" in said
    assert "consistent with manylinux_2_5" not in said


def test_auditwheel_refuses_a_library_that_needs_the_loader(tmp_path: Path) -> None:
    stub = staged("level-zero", "1.32.0", "linux_x86_64") / "lib" / "libze_loader.so"
    needy = library(tmp_path, "gcc", "int zeInit(int); int f(void) { return zeInit(0); }", stub)

    said = stopped(
        "auditwheel show", altered(ours("linux_x86_64"), tmp_path, add={"level_zero_devel/f.so": needy})
    )

    assert "needs libze_loader.so.1" in said


def test_auditwheel_refuses_a_linux_wheel_with_nothing_to_link(tmp_path: Path) -> None:
    assert stopped("auditwheel show", altered(ours("linux_x86_64"), tmp_path, without=STUB))


def test_delvewheel_refuses_what_would_be_vendored(tmp_path: Path) -> None:
    import_library = staged("level-zero", "1.32.0", "win_amd64") / "lib" / "ze_loader.lib"
    source = "int zeInit(int); int PyInit_f(void) { return zeInit(0); }"
    module = library(tmp_path, "x86_64-w64-mingw32-gcc", source, import_library)

    said = stopped("delvewheel show", altered(ours(), tmp_path, add={"level_zero_devel/f.pyd": module}))

    assert said.splitlines()[0] == "would vendor ze_loader.dll (Error: Not Found)"


def test_delvewheel_refuses_a_damaged_module(tmp_path: Path) -> None:
    assert "delvewheel failed" in stopped(
        "delvewheel show", altered(ours(), tmp_path, add={"level_zero_devel/f.pyd": b"MZ"})
    )


@pytest.mark.parametrize(
    ("platform", "member", "content"),
    [
        ("win_amd64", "level_zero_devel-1.32.0.data/data/Library/bin/ze_loader.DLL", b"not even a DLL"),
        ("win_amd64", "level_zero_devel/lib/harmless.txt", b"MZ\x90\x00"),
        ("win_amd64", STUB, b"\x7fELF"),
        ("linux_x86_64", "level_zero_devel/lib/libze_loader.so.1", b"\x7fELF"),
    ],
)
def test_no_program_or_dll(platform: str, member: str, content: bytes, tmp_path: Path) -> None:
    said = GATES["no program or DLL"]([Wheel(altered(ours(platform), tmp_path, add={member: content}))])

    assert [member in problem for problem in said] == [True]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"add": {"level_zero_devel/include/third-party-programs.txt": b"x"}}, "unlisted licence file"),
        ({"add": {"level_zero_devel/NOTICE": b"x"}}, "unlisted licence file"),
        ({"add": {f"{INFO}/licenses/more.txt": b"x"}}, "unlisted licence file"),
        ({"without": f"{INFO}/licenses/level-zero.txt"}, "there is no"),
        (
            {
                "add": {
                    f"{INFO}/METADATA": b"Metadata-Version: 2.4\nName: level-zero-devel\nVersion: 1.32.0\n\nx\n"
                }
            },
            "names no licence",
        ),
    ],
)
def test_licence_files(changes: dict[str, dict[str, bytes]], said: str, tmp_path: Path) -> None:
    assert said in stopped("licence files", altered(ours(), tmp_path, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("platform", "owned"),
    [
        ("win_amd64", "Library/include/unified-runtime/ur_api.h"),
        ("win_amd64", "library/include/SYCL/sycl.hpp"),
        ("win_amd64", "Library/lib/ur_loader.lib"),
        ("linux_x86_64", "include/unified-runtime/ur_api.h"),
        ("linux_x86_64", "lib/libumf.so"),
    ],
)
def test_a_file_of_intels_wheels(platform: str, owned: str, tmp_path: Path) -> None:
    bad = altered(ours(platform), tmp_path, add={f"level_zero_devel-1.32.0.data/data/{owned}": b"x"})

    assert f"{owned.lower()} is also in " in stopped("no file of another wheel", bad)


def test_a_file_of_another_wheel_of_ours(tmp_path: Path) -> None:
    bad = altered(wheel("unified-runtime-devel", "2026.2.0", "win_amd64"), tmp_path, add={HEADER: b"x"})

    said = stopped("no file of another wheel", ours(), bad)

    assert f"{installed_path(HEADER).lower()} is also in {bad.name}" in said


def test_two_versions_of_one_wheel_may_hold_the_same_files() -> None:
    pair = [wheel("level-zero-devel", version, "win_amd64") for version in ("1.32.0", "1.20.6")]

    assert not list(GATES["no file of another wheel"]([Wheel(path) for path in pair]))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_intels_wheels_are_those_of_the_releases_we_ship(platform: Platform) -> None:
    """The table is real: each RECORD names its own wheel and the files that ours keep clear of."""
    rows = neighbours(platform)
    try:
        owners = owned_files(rows)
    except UnreachableError as error:
        lacking(str(error))

    names = {row.distribution for row in rows}
    assert names == {"intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "umf"}
    releases = {row.version for row in rows if row.distribution != "umf"}
    assert releases == {"2025.3.3", "2026.1.2", "2026.2.0"}
    assert {f"{row.distribution} {row.version}" for row in rows} == {
        str(owner) for owner in owners.values()
    } | {str(row) for row in rows}
    for row in rows:
        folder = f"lib/site-packages/{row.distribution.replace('-', '_')}-{row.version}.dist-info/"
        assert owners[f"{folder}record"] == row


def test_path_lengths(tmp_path: Path) -> None:
    room = LONGEST_PATH - len("Lib/site-packages/level_zero_devel/")
    fits, too_long = "x" * room, "y" * (room + 1)
    bad = altered(
        ours(), tmp_path, add={f"level_zero_devel/{fits}": b"1", f"level_zero_devel/{too_long}": b"2"}
    )

    said = stopped("path lengths", bad)

    assert too_long in said
    assert fits not in said


def test_no_path_of_ours_is_longer() -> None:
    lengths = [
        len(installed_path(member.filename))
        for path in built().glob("*.whl")
        for member in Wheel(path).members
    ]
    assert max(lengths) <= LONGEST_PATH == 88


@pytest.mark.parametrize(
    "mode", [stat.S_IFREG | 0o755, stat.S_IFREG | 0o666, stat.S_IFLNK | 0o644, stat.S_IFREG | 0o4644, 0o600]
)
def test_modes(mode: int, tmp_path: Path) -> None:
    assert f"{HEADER} has the mode" in stopped("modes", altered(ours(), tmp_path, modes={HEADER: mode}))


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    bad = altered(ours(), tmp_path, add={"level_zero_devel/a.exe": b"x"}, modes={HEADER: 0o755})

    with pytest.raises(BuildError, match="2 faults") as error:
        check_wheels([bad])

    assert "a.exe" in str(error.value)
    assert HEADER in str(error.value)


@pytest.mark.parametrize(
    ("member", "place"),
    [
        ("level_zero_devel/__init__.py", "Lib/site-packages/level_zero_devel/__init__.py"),
        ("a-1.data/data/Library/lib/x.lib", "Library/lib/x.lib"),
        ("a-1.data/purelib/a.py", "Lib/site-packages/a.py"),
        ("a-1.data/platlib/a.pyd", "Lib/site-packages/a.pyd"),
        ("a-1.data/scripts/a.exe", "Scripts/a.exe"),
        ("a-1.data/headers/a.h", "Include/a.h"),
    ],
)
def test_installed_path(member: str, place: str) -> None:
    assert installed_path(member) == place


def test_an_index_out_of_reach_is_told_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = wheel("level-zero-devel", "1.32.0", "win_amd64")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("XPU_DEV_CACHE_DIR", str(tmp_path))
    check_wheels([path])
    assert "NOT CHECKED for files of Intel's wheels (win_amd64)" in capsys.readouterr().err
