"""What a driver must know of each version of Triton: the table, and nothing derived from it."""

from __future__ import annotations

from typing import NamedTuple

from .._errors import XpuDevError


class Contract(NamedTuple):
    """What one version of Triton expects of a driver, and what its kernels expect of a launch.

    Wrong values are found at run time: a kernel's own parameters are compared with what a launch would pass.
    """

    version: tuple[int, int]
    # Null pointers that the compiler puts behind a kernel's own parameters: global scratch, then profile scratch.
    scratch_pointers: int
    # Whether a signature lists compile-time constants, and a launch passes them; before, both leave them out.
    lists_constants: bool
    # Whether `load_binary` also returns the greatest number of threads.
    returns_threads: bool
    # Work-group-local memory: always the last parameter, or in newer compilers sometimes static in the module.
    local_memory_in_module: bool
    # One-byte flags in an expanded tensor descriptor, None where the host cannot pass one.
    descriptor_flags: int | None
    # Whether backends come from entry points of the group `triton.backends`.
    discovers_backends: bool


# Read from the sources of each release; only 3.3 was run from its own compiler, the argument layouts of the others
# with kernels compiled to them.
CONTRACTS = (
    Contract((3, 2), 0, False, False, False, None, False),
    Contract((3, 3), 0, True, False, False, None, False),
    Contract((3, 4), 0, True, True, False, 0, True),
    Contract((3, 5), 1, True, True, False, 1, True),
    Contract((3, 6), 2, True, True, False, 1, True),
    Contract((3, 7), 2, True, True, False, 2, True),
    Contract((3, 8), 2, True, True, True, 2, True),
)


def contract(version: str) -> Contract:
    """Return the row of a version of Triton, such as "3.3.0"; raise XpuDevError when there is none."""
    for row in CONTRACTS:
        if version.split(".")[:2] == [str(part) for part in row.version]:
            return row
    known = [".".join(map(str, row.version)) for row in (CONTRACTS[0], CONTRACTS[-1])]
    raise XpuDevError(
        f"this driver does not know Triton {version}",
        wanted=f"Triton {known[0]} to {known[1]}, whose kernels' argument layouts were checked",
        fix="update intel-xpu-runtime-dev, or use Triton's own driver",
    )
