"""Checks of Triton and PyTorch: what they find, and who is in the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .._files import is_dir, is_file
from . import system_checks
from .findings import BROKEN, WARNING, Finding, not_applicable, ok
from .machine import Machine
from .triton_lookup import (
    BOTH,
    HEADER,
    OWNERS,
    header,
    installed,
    library,
    lookup,
    rules,
    sycl_files,
)

NO_TRITON = "Triton is not installed"
# The distributions whose backend knows Intel's GPUs; `triton` itself does not.
XPU_OWNERS = ("triton-xpu", "pytorch-triton-xpu")

RUNTIME = "intel-cmplr-lib-ur"
WITHOUT_COMPILER = "xpu-dev run --triton-driver ur -- python SCRIPT"


def owner(machine: Machine) -> Finding:
    """Who owns the import package `triton`: several overwrite each other."""
    found = [
        f"{name} {distribution.version}"
        for name in OWNERS
        for distribution in machine.distributions(name)[:1]
    ]
    if not found:
        return not_applicable(NO_TRITON)
    if len(found) > 1:
        names = [each.split()[0] for each in found]
        keep = next((name for name in ("pytorch-triton-xpu", "triton-xpu") if name in names), names[0])
        return Finding(
            BROKEN,
            " and ".join(found) + " overwrite each other's files",
            "one distribution that owns the import package `triton`",
            f"pip uninstall -y {' '.join(names)}, then pip install {keep}",
        )
    if found[0].split()[0] in XPU_OWNERS:
        return ok(found[0])
    return Finding(
        WARNING, f"{found[0]} has no backend for Intel GPUs of its own", "triton-xpu or pytorch-triton-xpu",
        "pip uninstall -y triton triton-windows, then pip install triton-xpu",
    )  # fmt: skip


def compiler(machine: Machine) -> Finding:
    """A C and C++ compiler that Triton would use; where there is none, our Triton driver does without."""
    finding = system_checks.compiler(machine)
    if finding.verdict != BROKEN or not any(map(machine.distribution, XPU_OWNERS)):
        return finding
    runtime = "" if machine.distribution(RUNTIME) else f" (with {RUNTIME} installed)"
    return finding._replace(fix=f"{finding.fix}; or do without one{runtime}: {WITHOUT_COMPILER}")


def level_zero(machine: Machine) -> Finding:
    """Which header and library Triton's compiler would take."""
    triton = installed(machine)
    if not triton:
        return not_applicable(NO_TRITON)
    found = lookup(machine, rules(triton[1]))
    have = {"level_zero/ze_api.h": header(machine, found), "ze_loader library": library(machine, found)}
    details = tuple(f"{name}: {each.path} ({each.via})" for name, each in have.items() if each)
    missing = [name for name, each in have.items() if each is None]
    if not missing:
        return Finding("ok", f"Triton {triton[1]} finds Level Zero", details=details)
    return Finding(
        BROKEN,
        f"Triton {triton[1]} finds no {' and no '.join(missing)}; {found.via} is {found.root or '(empty)'}",
        "a folder with include/level_zero/ze_api.h and the library ze_loader that Triton searches",
        _sdk_fix(machine, found.via),
        details + tuple(f"searched {folder} ({via})" for folder, via in [*found.includes, *found.libraries]),
    )


def _sdk_fix(machine: Machine, via: str) -> str:
    if machine.windows and via != "default":
        return f"unset {via}, or set it to a folder that holds both: xpu-dev env prints the commands"
    if machine.windows:
        return "pip install level-zero-devel into the environment of intel-sycl-rt, or use xpu-dev env"
    return "pip install intel-xpu-runtime-dev, then use xpu-dev env or xpu-dev run"


def one_origin(machine: Machine) -> Finding:
    """Headers and library from different places: their versions may differ."""
    triton = installed(machine)
    if not triton:
        return not_applicable(NO_TRITON)
    found = lookup(machine, rules(triton[1]))
    headers, linked = header(machine, found), library(machine, found)
    if not headers or not linked:
        return not_applicable("Triton does not find both")
    # <root>/include/level_zero/ze_api.h, <root>/lib[/x86_64-linux-gnu]/libze_loader.so
    if headers.path.parents[2] in linked.path.parents:
        return ok(f"header and library come from {headers.path.parents[2]}")
    return Finding(
        WARNING,
        f"the header comes from {headers.path.parents[2]}, the library from {linked.path.parent}",
        "both from one development kit",
        "point LEVEL_ZERO_V1_SDK_PATH at one that has both: xpu-dev env prints the commands",
    )


def dead_variable(machine: Machine) -> Finding:
    """A variable that leads nowhere is taken all the same, and hides the next one."""
    triton = installed(machine)
    variables = rules(triton[1]).variables if triton else BOTH
    chosen = next((name for name in variables if name in machine.environ), None)
    if chosen is None:
        return not_applicable(f"{' and '.join(variables)} are not set")
    value = machine.environ[chosen]
    if is_file(Path(value, "include", HEADER)) and value:
        return ok(f"{chosen} leads to a development kit: {value}")
    hidden = [name for name in variables if name != chosen and name in machine.environ]
    also = f", and hides {hidden[0]}={machine.environ[hidden[0]]}" if hidden else ""
    return Finding(
        WARNING,
        f"{chosen} is {value or '(empty)'}, where there is no include/level_zero/ze_api.h{also}",
        "the root of a development kit, or no such variable",
        f"unset {chosen}, or set it as xpu-dev env does",
    )


def shadowing(machine: Machine) -> Finding:
    """The root's include folder comes first: other headers in it replace SYCL's own."""
    triton = installed(machine)
    if not triton:
        return not_applicable(NO_TRITON)
    found = lookup(machine, rules(triton[1]))
    folder = Path(found.root, "include")
    others = [name for name in ("sycl", "unified-runtime", "CL") if is_dir(folder / name)]
    if not others:
        return ok(f"{folder} holds nothing that would hide SYCL's headers")
    return Finding(
        WARNING,
        f"{folder} is the compiler's first folder and also holds {', '.join(others)}",
        "a root whose include folder holds level_zero and nothing else",
        f"point {found.via if found.via != 'default' else 'LEVEL_ZERO_V1_SDK_PATH'} at our kit, as xpu-dev env does",
    )


def overlay(machine: Machine) -> Finding:
    """On Windows our files in the prefix are found, unless something else provides SYCL."""
    if not machine.windows:
        return not_applicable("Linux has no overlay")
    if not is_file(machine.overlay / "include" / HEADER):
        return not_applicable("level-zero-devel is not in this environment")
    for name, place in (
        ("icpx on PATH", machine.which("icpx")),
        ("ONEAPI_ROOT", machine.environ.get("ONEAPI_ROOT")),
    ):
        if place:
            return Finding(
                WARNING, f"{name} ({place}) keeps Triton from looking into {machine.overlay}",
                "LEVEL_ZERO_V1_SDK_PATH set, where icpx or ONEAPI_ROOT is", "set the variables as xpu-dev env does",
            )  # fmt: skip
    return ok(f"{machine.overlay} is searched")


def one_prefix(machine: Machine) -> Finding:
    """The overlay works only beside `intel-sycl-rt`."""
    sycl, ours = (machine.distribution(name) for name in ("intel-sycl-rt", "level-zero-devel"))
    if not machine.windows or sycl is None or ours is None:
        return not_applicable("needs Windows, intel-sycl-rt and level-zero-devel")
    places = [Path(str(each.locate_file(""))).resolve() for each in (sycl, ours)]
    if places[0] == places[1]:
        return ok(f"intel-sycl-rt and level-zero-devel are both in {machine.prefix}")
    return Finding(
        WARNING,
        f"intel-sycl-rt is in {places[0]}, level-zero-devel in {places[1]}",
        "both in one environment: Triton looks beside intel-sycl-rt",
        "pip install both into this environment, or set the variables as xpu-dev env does",
    )


def sycl(machine: Machine) -> Finding:
    """Triton's version against SYCL's."""
    triton = installed(machine)
    if not triton:
        return not_applicable(NO_TRITON)
    row = rules(triton[1])
    distribution = machine.distribution("intel-sycl-rt")
    via = lookup(machine, row).sycl
    if via != "intel-sycl-rt":
        return ok(f"SYCL comes from {via}")
    if distribution is None:
        return Finding(
            BROKEN, "no SYCL: neither icpx, ONEAPI_ROOT nor intel-sycl-rt", "SYCL's headers and library",
            f"pip install intel-sycl-rt{_release(row.sycl_releases)}",
        )  # fmt: skip
    headers, files = sycl_files(machine, row)
    if headers and files and (not row.sycl_releases or distribution.version.startswith(row.sycl_releases)):
        return ok(f"Triton {triton[1]} and intel-sycl-rt {distribution.version}")
    lacks = "sycl.hpp" if not headers else " or ".join(row.sycl_libraries)
    return Finding(
        BROKEN,
        f"Triton {triton[1]} does not take intel-sycl-rt {distribution.version} (it looks for {lacks})",
        f"intel-sycl-rt of {' or '.join(row.sycl_releases)}"
        if row.sycl_releases
        else "a whole intel-sycl-rt",
        f"pip install intel-sycl-rt{_release(row.sycl_releases)}",
    )


def _release(releases: tuple[str, ...]) -> str:
    return f"=={releases[-1]}.*" if releases else ""


def torch(machine: Machine) -> Finding:
    """Whether torch can use Intel's GPUs."""
    distribution = machine.distribution("torch")
    if distribution is None:
        return not_applicable("torch is not installed")
    if "+xpu" in distribution.version or _says_xpu(machine):
        return ok(f"torch {distribution.version} is an XPU build")
    return Finding(
        WARNING,
        f"torch {distribution.version} is no XPU build",
        "torch with torch.xpu",
        "pip install torch --index-url https://download.pytorch.org/whl/xpu",
    )


def _says_xpu(machine: Machine) -> bool:
    for folder in machine.site:
        path = Path(folder, "torch", "version.py")
        if is_file(path):
            text = path.read_text(encoding="utf-8", errors="replace")
            return re.search(r"^xpu\b[^=]*=\s*['\"]", text, re.MULTILINE) is not None
    return False


def inductor(machine: Machine) -> Finding:
    """What Inductor's cpp_wrapper and AOTInductor need before, and besides, Level Zero."""
    if machine.distribution("torch") is None:
        return not_applicable("torch is not installed")
    lacks = list(_inductor_lacks(machine))
    if not lacks:
        root = machine.environ.get("LEVEL_ZERO_V1_SDK_PATH", "the system's loader")
        return ok(f"Inductor's cpp_wrapper takes SYCL from icpx and Level Zero from {root}")
    return Finding(
        WARNING,
        f"cpp_wrapper and AOTInductor find no {', no '.join(lacks)}; torch.compile's default needs neither",
        "icpx (SYCL_HOME) and, on Windows, LEVEL_ZERO_V1_SDK_PATH",
        "install Intel's oneAPI compiler and set the variables as xpu-dev env does, or leave cpp_wrapper off",
    )


def _inductor_lacks(machine: Machine) -> Iterator[str]:
    if not machine.environ.get("SYCL_HOME") and not machine.which("icpx", "icx"):
        yield "icpx"
    if machine.windows:
        root = machine.environ.get("LEVEL_ZERO_V1_SDK_PATH", "")
        if not root or not is_file(Path(root, "include", HEADER)):
            yield "LEVEL_ZERO_V1_SDK_PATH that leads to a development kit"
    elif not any(name.startswith("libze_loader.so") for name, _ in machine.linker_cache):
        yield "libze_loader.so"


def cache(machine: Machine) -> Finding:
    """Compiled modules are kept under a key without the Level Zero root, so old ones hide what is missing now."""
    folder = Path(machine.environ.get("TRITON_CACHE_DIR") or Path(machine.home, ".triton", "cache"))
    kit = next(
        (
            path
            for each in machine.distributions("level-zero-devel")
            for path in machine.files(each, "ze_api.h")
        ),
        None,
    )
    if not is_dir(folder) or kit is None:
        return not_applicable(f"no cache in {folder}" if kit else "level-zero-devel is not installed")
    with os.scandir(folder) as entries:
        times = [entry.stat().st_mtime for entry in entries]
    old = sum(each < _installed_at(kit) for each in times)
    if not old:
        return ok(f"{folder} is newer than the development kit")
    return Finding(
        WARNING,
        f"{old} of the {len(times)} modules in {folder} are older than the development kit",
        "modules that were built with what is installed now",
        f"remove {folder}",
    )


def _installed_at(path: Path) -> float:
    """Return when a file was installed: a wheel keeps the time of its content, its folder has the installer's."""
    return path.parent.stat().st_mtime
