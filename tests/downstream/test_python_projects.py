"""Python projects built in isolation, where only `build-system.requires` names us; and their wheels repaired."""

from __future__ import annotations

import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.downstream.conftest import PROJECTS, User, imported_libraries
from tests.locator.installs import UV, call, virtual_environment
from tests.support.needs import program
from tests.windows import prefix
from tests.windows.wine import Wine

BACKENDS = ("setuptools", "scikit_build", "meson_python")
FRONTENDS = {
    "pip": [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir"],
    "uv": [sys.executable, "-m", "uv", "build", "-q", "--no-cache", "--wheel", "--out-dir"],
}


@pytest.fixture(scope="session")
def built(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Return a function that gives the wheel of a backend's project as a frontend built it."""
    wheels: dict[tuple[str, str], Path] = {}

    def build(backend: str, frontend: str) -> Path:
        if (backend, frontend) not in wheels:
            folder = tmp_path_factory.mktemp(f"{backend}-{frontend}")
            project = shutil.copytree(PROJECTS / f"{backend}_project", folder / "project")
            shutil.copy(PROJECTS / "extension.c", project)
            # The backends come from the index, we from the folder alone.
            call([*FRONTENDS[frontend], folder, project, "--find-links", wheelhouse])
            (wheels[backend, frontend],) = folder.glob("*.whl")
        return wheels[backend, frontend]

    return build


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_extension_links_the_loader_and_answers(
    backend: str,
    frontend: str,
    built: Callable[[str, str], Path],
    tmp_path: Path,
    loader_folder: Path,
    user: User,
) -> None:
    wheel = built(backend, frontend)

    python = virtual_environment(tmp_path / "env")
    call([*UV.command(python), "--no-index", wheel])

    (extension,) = tmp_path.glob("env/lib/python*/site-packages/downstream*.so")
    assert "libze_loader.so.1" in imported_libraries(extension)
    answer = user.run(
        python,
        "-c",
        "import downstream; print(downstream.init())",
        variables={"LD_LIBRARY_PATH": str(loader_folder)},
    )
    assert answer.startswith("zeInit: ")


@pytest.mark.parametrize("backend", BACKENDS)
def test_auditwheel_leaves_the_loader_out(
    backend: str, built: Callable[[str, str], Path], tmp_path: Path, loader_folder: Path, user: User
) -> None:
    wheel = built(backend, "uv")
    repair: list[str | Path] = [sys.executable, "-m", "auditwheel", "repair", "-w", tmp_path, wheel]
    found = {"LD_LIBRARY_PATH": str(loader_folder)}

    user.run(*repair, *shlex.split(user.xpu_dev("config", "--auditwheel-args")), variables=found)

    (repaired,) = tmp_path.glob("*.whl")
    assert "manylinux" in repaired.name
    assert members(repaired, "libze_loader") == []
    (extension,) = members(repaired, "downstream", ".so")
    with zipfile.ZipFile(repaired) as archive:
        assert "libze_loader.so.1" in imported_libraries(Path(archive.extract(extension, tmp_path)))


def test_auditwheel_without_the_arguments_takes_the_loader_in(
    built: Callable[[str, str], Path], tmp_path: Path, loader_folder: Path, user: User
) -> None:
    """What the arguments are for: the loader is there to be taken, and would be."""
    wheel = built("setuptools", "uv")
    repair: list[str | Path] = [sys.executable, "-m", "auditwheel", "repair", "-w", tmp_path, wheel]

    user.run(*repair, variables={"LD_LIBRARY_PATH": str(loader_folder)})

    (repaired,) = tmp_path.glob("*.whl")
    assert members(repaired, "libze_loader") != []


def members(wheel: Path, *parts: str) -> list[str]:
    """Return the members of a wheel whose path has all these parts."""
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if all(part in name for part in parts)]


@pytest.fixture(scope="session")
def windows_wheel(wine: Wine, windows_kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel for Windows with the extension, cross-compiled with the headers and library of a Windows Python."""
    folder = tmp_path_factory.mktemp("windows-wheel")
    python = prefix.python(wine, "3.11").folder
    compiler = program("x86_64-w64-mingw32-gcc")
    include = [f"-I{python / 'include'}", f"-I{windows_kit / 'include'}"]
    libraries = [windows_kit / "lib" / "ze_loader.lib", python / "libs" / "python3.lib"]
    extension = folder / "downstream.pyd"
    call([compiler, "-shared", *include, PROJECTS / "extension.c", *libraries, "-o", extension])
    wheel = folder / "downstream-1.0-cp39-abi3-win_amd64.whl"
    information = {
        "METADATA": "Metadata-Version: 2.1\nName: downstream\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp39-abi3-win_amd64\n",
        "RECORD": "downstream.pyd,,\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(extension, "downstream.pyd")
        for name, text in information.items():
            archive.writestr(f"downstream-1.0.dist-info/{name}", text)
    return wheel


def test_delvewheel_leaves_the_loader_out(windows_wheel: Path, tmp_path: Path, user: User) -> None:
    arguments = shlex.split(user.xpu_dev("config", "--delvewheel-args"))

    user.run(*delvewheel(windows_wheel, tmp_path), *arguments)

    (repaired,) = tmp_path.glob("*.whl")
    assert members(repaired, "ze_loader") == []
    with zipfile.ZipFile(repaired) as archive:
        assert "ze_loader.dll" in imported_libraries(Path(archive.extract("downstream.pyd", tmp_path)))


def test_delvewheel_without_the_arguments_takes_the_loader_in(
    windows_wheel: Path, tmp_path: Path, user: User
) -> None:
    """What the arguments are for: a DLL of that name is there to be taken, and would be."""
    (tmp_path / "loader.c").write_text(
        "__declspec(dllexport) int zeInit(unsigned flags) { return (int)flags; }"
    )
    dll = tmp_path / "dlls" / "ze_loader.dll"
    dll.parent.mkdir()
    call([program("x86_64-w64-mingw32-gcc"), "-shared", "-nostdlib", tmp_path / "loader.c", "-o", dll])

    user.run(*delvewheel(windows_wheel, tmp_path), "--add-path", dll.parent)

    (repaired,) = tmp_path.glob("*.whl")
    assert members(repaired, "ze_loader") != []


def delvewheel(wheel: Path, out: Path) -> list[str | Path]:
    return [sys.executable, "-m", "delvewheel", "repair", wheel, "--wheel-dir", out]
