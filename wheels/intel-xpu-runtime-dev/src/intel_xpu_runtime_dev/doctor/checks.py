"""The checks, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import kit_checks, loader_checks, system_checks, triton_checks
from .findings import Finding
from .machine import Machine

TRITON, INDUCTOR, BUILD = "triton", "inductor", "build"
AUDIENCES = (TRITON, INDUCTOR, BUILD)


class Check(NamedTuple):
    """A check, and whose work stops when it is broken."""

    name: str
    run: Callable[[Machine], Finding]
    audiences: tuple[str, ...]


CHECKS = (
    Check("level-zero-kit", kit_checks.kit("level-zero"), (BUILD,)),
    Check("unified-runtime-kit", kit_checks.kit("unified-runtime"), (BUILD,)),
    Check("kit-variables", kit_checks.variables, AUDIENCES),
    Check("conda", kit_checks.conda, AUDIENCES),
    Check("triton-owner", triton_checks.owner, (TRITON, INDUCTOR)),
    Check("triton-level-zero", triton_checks.level_zero, (TRITON, INDUCTOR)),
    Check("triton-one-kit", triton_checks.one_origin, (TRITON, INDUCTOR)),
    Check("triton-dead-variable", triton_checks.dead_variable, (TRITON, INDUCTOR)),
    Check("triton-shadowing", triton_checks.shadowing, (TRITON, INDUCTOR)),
    Check("triton-overlay", triton_checks.overlay, (TRITON, INDUCTOR)),
    Check("triton-one-prefix", triton_checks.one_prefix, (TRITON, INDUCTOR)),
    Check("triton-sycl", triton_checks.sycl, (TRITON, INDUCTOR)),
    Check("triton-cache", triton_checks.cache, (TRITON, INDUCTOR)),
    Check("torch", triton_checks.torch, (INDUCTOR,)),
    Check("inductor", triton_checks.inductor, (INDUCTOR,)),
    Check("compiler", triton_checks.compiler, AUDIENCES),
    Check("compiler-variables", system_checks.compiler_variables, AUDIENCES),
    Check("python-headers", system_checks.python_headers, (TRITON, INDUCTOR)),
    Check("link-name", system_checks.link_name, AUDIENCES),
    Check("loader", loader_checks.loader, (TRITON, INDUCTOR)),
    Check("loader-release", loader_checks.loader_and_kit, AUDIENCES),
    Check("drivers", loader_checks.drivers, (TRITON, INDUCTOR)),
    Check("unified-runtime", loader_checks.unified_runtime, (BUILD,)),
    Check("cpu-device", loader_checks.cpu_device, (BUILD,)),
    Check("render-nodes", system_checks.render_nodes, (TRITON, INDUCTOR)),
    Check("wsl", system_checks.wsl, (TRITON, INDUCTOR)),
    Check("long-paths", system_checks.long_paths, AUDIENCES),
    Check("unusual-paths", system_checks.unusual_paths, AUDIENCES),
)


def examined(machine: Machine, audience: str | None) -> Iterator[tuple[Check, Finding]]:
    """Yield each check of an audience, None for all, with what it found."""
    for check in CHECKS:
        if audience is None or audience in check.audiences:
            yield check, check.run(machine)
