"""Versions of real files and of real and pretended loaders."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from pathlib import Path

import pefile
import pytest
from intel_xpu_runtime_dev._ask_level_zero import ask_versions
from intel_xpu_runtime_dev._versions import file_version

from tests.locator.installs import clean_environment
from tests.locator.trees import UNIFIED_RUNTIME, wheel_kit
from tests.support import environments
from tests.support.needs import lacking, program

SOURCE = Path(__file__).resolve().parents[2] / "wheels" / "intel-xpu-runtime-dev" / "src"
RESOURCE = """\
1 VERSIONINFO
FILEVERSION {version}
PRODUCTVERSION 9,9,9,9
BEGIN
  BLOCK "StringFileInfo" BEGIN BLOCK "040904B0" BEGIN VALUE "FileDescription", "a test" END END
END
"""


@pytest.mark.parametrize("version", ["1.32.0.0", "0.0.0.7", "2026.2.65535.1"])
def test_version_resource_of_a_real_dll(version: str, tmp_path: Path) -> None:
    (tmp_path / "a.rc").write_text(RESOURCE.format(version=version.replace(".", ",")))
    subprocess.run([program("x86_64-w64-mingw32-windres"), "a.rc", "a.o"], cwd=tmp_path, check=True)
    compiler = program("x86_64-w64-mingw32-gcc")
    subprocess.run([compiler, "-shared", "-nostdlib", "a.o", "-o", "a.dll"], cwd=tmp_path, check=True)

    assert file_version(str(tmp_path / "a.dll")) == version


def test_version_resources_of_wines_dlls_are_what_pefile_reads() -> None:
    folder = Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows")
    if not folder.is_dir():
        lacking("Wine's DLLs")
    for name in ("kernel32.dll", "ntdll.dll", "msvcrt.dll", "winmm.dll"):
        with pefile.PE(folder / name) as parsed:
            # One a language, all alike; winmm.dll has none.
            infos = getattr(parsed, "VS_FIXEDFILEINFO", [])
        expected: list[str | None] = [
            f"{version_words(i.FileVersionMS)}.{version_words(i.FileVersionLS)}" for i in infos[:1]
        ]
        assert [file_version(str(folder / name))] == (expected or [None])


def version_words(word: int) -> str:
    return f"{word >> 16}.{word & 0xFFFF}"


@pytest.mark.parametrize("content", [b"", b"MZ", b"MZ" + bytes(62), b"no program" * 50])
def test_file_without_a_resource_has_no_version(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.dll").write_bytes(content)

    assert file_version(str(tmp_path / "a.dll")) is None


def test_dll_without_a_resource_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("__declspec(dllexport) int answer(void) { return 42; }")
    compiler = program("x86_64-w64-mingw32-gcc")
    subprocess.run([compiler, "-shared", "-nostdlib", "a.c", "-o", "a.dll"], cwd=tmp_path, check=True)

    assert file_version(str(tmp_path / "a.dll")) is None


@pytest.mark.parametrize("release", environments.INTEL_RUNTIME)
def test_intels_runtime_is_found_loaded_and_compared(release: str, tmp_path: Path) -> None:
    """The real loader, loaded with the libraries beside it; the kit beside it is of this release, then of another."""
    script = (
        "import json, intel_xpu_runtime_dev as ours\n"
        "found = ours.find_runtime('unified-runtime')\n"
        "loaded = ours.load_runtime('unified-runtime')\n"
        "again = ours.find_runtime('unified-runtime')\n"
        "code = loaded.library.urLoaderInit(0, None)\n"
        "print(json.dumps([found, loaded[1:], again, code]))\n"
    )
    python = environments.intel_runtime(release)
    wheel_kit(tmp_path, UNIFIED_RUNTIME, release)

    found, loaded, again, code = json.loads(run(python, tmp_path, "-c", script).stdout)

    path = str(python.parents[1] / "lib" / "libur_loader.so.0")
    assert found == [path, release, "wheel intel-cmplr-lib-ur", None]
    assert loaded == found[:3]
    assert again == [path, release, "already loaded", None]
    assert code == 0

    verify = ("-m", "intel_xpu_runtime_dev", "find", "unified-runtime", "--verify")
    assert run(python, tmp_path, *verify).returncode == 0
    wheel_kit(tmp_path, UNIFIED_RUNTIME, "2024.1.0")
    result = run(python, tmp_path, *verify)
    assert result.returncode == 1
    assert f"development kit is 2024.1.0 but the runtime is {release}" in result.stderr


@pytest.mark.nightly
def test_intels_sycl_is_found() -> None:
    """Two large wheels, for one search."""
    python = environments.environment("intel-sycl-rt-2026.2.0", "intel-sycl-rt==2026.2.0")

    told = run(python, Path(), "-m", "intel_xpu_runtime_dev", "find", "sycl", "--json").stdout

    kit, runtime = json.loads(told)["sycl"].values()
    assert (kit["version"], kit["via"]) == ("2026.2.0", "wheel intel-sycl-rt")
    assert (kit["root"], kit["libraries"]) == (str(python.parents[1]), ["sycl"])
    assert runtime["path"] == str(python.parents[1] / "lib" / "libsycl.so.9")


def run(python: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(SOURCE), str(site)])
    return subprocess.run(
        [python, *arguments],
        env={**clean_environment(), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


# A stand-in, for no loader tells its version where there is no driver; the signatures are those of the headers.
FAKE_LOADER = """\
#include <stdint.h>
#include <stddef.h>
#include <string.h>
typedef struct { char name[64]; uint32_t spec; int major, minor, patch; } component;
int zeInit(uint32_t flags) { return 0; }
int zelLoaderGetVersions(size_t *count, component *out) {
    if (!out) { *count = 2; return 0; }
    strcpy(out[0].name, "tracing layer"); out[0].major = 9;
    strcpy(out[1].name, "loader"); out[1].major = 1; out[1].minor = 28; out[1].patch = 6;
    return 0;
}
int zeDriverGet(uint32_t *count, void **out) {
    if (out) { out[0] = (void *)0x1234567812345678; out[1] = (void *)2; }
    *count = 2;
    return 0;
}
int zeDriverGetApiVersion(void *driver, uint32_t *version) {
    if (driver == (void *)2) return 0x78000001;
    *version = driver == (void *)0x1234567812345678 ? 1 << 16 | 13 : 0;
    return 0;
}
"""


def test_asked_versions_are_those_of_the_loader_and_the_working_drivers(tmp_path: Path) -> None:
    (tmp_path / "fake_loader.c").write_text(FAKE_LOADER)
    library = tmp_path / "libze_loader.so.1"
    subprocess.run(
        [program("gcc"), "-shared", "-fPIC", "fake_loader.c", "-o", library], cwd=tmp_path, check=True
    )

    assert ask_versions(ctypes.CDLL(str(library))) == ("1.28.6", ("1.13",))

    told = run(
        Path(program("python3")), tmp_path, "-c",
        f"import os; os.environ['LD_LIBRARY_PATH'] = {str(tmp_path)!r}\n"
        "import intel_xpu_runtime_dev._cli as c; c.main(['find', '--ask'])",
    )  # fmt: skip
    assert "level-zero loader says 1.28.6\nlevel-zero drivers say 1.13\n" in told.stdout


def test_real_loader_without_a_driver_tells_nothing(tmp_path: Path) -> None:
    fetched = subprocess.run(
        [program("apt-get"), "download", "libze1"], cwd=tmp_path, capture_output=True, check=False
    )
    if fetched.returncode:
        lacking("Debian's libze1")
    (package,) = tmp_path.glob("libze1*.deb")
    subprocess.run([program("dpkg-deb"), "-x", package, tmp_path], check=True)
    (library,) = tmp_path.glob("usr/lib/*/libze_loader.so.1")

    assert ask_versions(ctypes.CDLL(str(library))) == (None, ())
