"""Wheels out of staged trees, by pypa/build and the hatchling projects in `wheels/`."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import tomllib
from build import BuildBackendException, ProjectBuilder

from .catalogue import ROOT
from .errors import BuildError
from .manifest import NAME, read_manifest
from .sbom import sbom

WHEELS = ROOT / "wheels"
LOCATOR = "intel-xpu-runtime-dev"
BUILD_HOOK = "sdk_build_hook.py"
# Of the environment, what would make hatchling's output depend on it.
UNWANTED_VARIABLES = ("SOURCE_DATE_EPOCH", "HATCH_")
# The number by which a zip file says so.
UNIX = 3


def distribution_of(component: str) -> str:
    """Return the name of the wheel that holds a component's SDK."""
    return f"{component}-devel"


def build_sdk_wheel(tree: Path, out: Path, projects: Path = WHEELS) -> Path:
    """Build the wheel of a staged tree into the folder `out`; return its path.

    BuildError where a licence text of the tree is not in `license-files` of the project, or the other way.
    """
    manifest = read_manifest(tree)
    name = distribution_of(manifest["component"])
    with tempfile.TemporaryDirectory(prefix="wheel-") as scratch:
        # The same places relative to each other as in the repository.
        project = _copy(projects / name, Path(scratch) / name)
        shutil.copyfile(projects / BUILD_HOOK, Path(scratch) / BUILD_HOOK)
        _check_licences(project, tree)
        for licence in (tree / "licenses").iterdir():
            shutil.copyfile(licence, project / licence.name)
        _copy(tree, project / "sdk")
        manifest_sha256 = hashlib.sha256((tree / NAME).read_bytes()).hexdigest()
        bill = sbom(name, manifest, manifest_sha256)
        (project / "sbom.cdx.json").write_text(bill, "utf-8", newline="\n")
        return _build(project, out)


def build_pure_wheel(name: str, out: Path, projects: Path = WHEELS) -> Path:
    """Build the wheel of a project that needs no staged tree into the folder `out`; return its path."""
    with tempfile.TemporaryDirectory(prefix="wheel-") as scratch:
        return _build(_copy(projects / name, Path(scratch) / name), out)


def _copy(source: Path, target: Path) -> Path:
    """Copy a folder without modes and times, which belong to the machine."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, target, ignore=ignored, copy_function=shutil.copyfile)
    return target


def _check_licences(project: Path, tree: Path) -> None:
    listed = set(tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["license-files"])
    present = {path.name for path in [*project.glob("LICEN[CS]E*"), *(tree / "licenses").iterdir()]}
    if listed != present:
        raise BuildError(
            f"{project.name}: the licence files are not those that its pyproject.toml lists",
            wanted=f"license-files: {', '.join(sorted(listed))}",
            looked_in=[str(tree / "licenses")],
            found=", ".join(sorted(present)),
            fix="read the licence; then list the file, and its terms in `license`",
        )


def _build(project: Path, out: Path) -> Path:
    """Run the build backend of this environment, without isolation: it is pinned, and needs no network."""

    def run(
        cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None
    ) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(UNWANTED_VARIABLES)}
        environment = {**kept, **(extra_environ or {})}
        subprocess.run(cmd, cwd=cwd, env=environment, capture_output=True, check=True)

    try:
        wheel = Path(ProjectBuilder(project, sys.executable, runner=run).build("wheel", out))
    except BuildBackendException as error:
        # A traceback, whose last line is the reason.
        said = getattr(error.exception, "stderr", b"").decode(errors="replace").strip().splitlines()
        raise BuildError(
            f"hatchling cannot build {project.name}", found=said[-1] if said else str(error)
        ) from error
    normalise(wheel)
    return wheel


def normalise(wheel: Path) -> None:
    """Write the archive anew, the same on every system: a zip file tells which one wrote it."""
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist() if not info.is_dir()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, content in members:
            fresh = zipfile.ZipInfo(info.filename, info.date_time)
            fresh.create_system = UNIX
            fresh.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(fresh, content, zipfile.ZIP_DEFLATED)
