"""Every row of the table of Triton's versions, by kernels compiled to its argument layout: `python layouts.py LAUNCHER`.

Triton 3.3 compiles them; what a version's compiler adds behind a kernel's own parameters is written out as parameters
here. The last line of a good run is `right`.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import intel_xpu_runtime_dev.triton as xpu
import numpy as np
from intel_xpu_runtime_dev import XpuDevError
from intel_xpu_runtime_dev.triton._versions import CONTRACTS, Contract

driver = xpu.activate("cpu", launcher=sys.argv[1])

import triton  # noqa: E402 - the driver comes first
import triton.language as tl  # noqa: E402


@triton.jit
def scratch0(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def scratch1(x, out, n, one, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
    tl.store(one + at, 1.0, mask=at < 0)


@triton.jit
def scratch2(x, out, n, one, two, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
    tl.store(one + at, 1.0, mask=at < 0)
    tl.store(two + at, 1.0, mask=at < 0)


@triton.jit
def local0(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0))


@triton.jit
def local1(x, out, n, one, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0))
    tl.store(one + at, 1.0, mask=at < 0)


@triton.jit
def local2(x, out, n, one, two, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0))
    tl.store(one + at, 1.0, mask=at < 0)
    tl.store(two + at, 1.0, mask=at < 0)


@triton.jit
def _transposed(base, rows, columns, row, column, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < rows * columns
    values = tl.load(base + at // columns * row + at % columns * column, mask=inside)
    tl.store(out + at % columns * rows + at // columns, values, mask=inside)


# The parts of a tensor descriptor of two dimensions, with none to two flags, then scratch pointers.
@triton.jit
def described0(base, s0, s1, t0, t1, z0, z1, u0, u1, out, BLOCK: tl.constexpr):
    _transposed(base, z0, z1, u0, u1, out, BLOCK)
    tl.store(out + s0 * s1 + tl.arange(0, 1), t0 + t1 + tl.zeros((1,), tl.float32))


@triton.jit
def described1(base, s0, s1, t0, t1, nan, z0, z1, u0, u1, out, one, BLOCK: tl.constexpr):
    _transposed(base, z0, z1, u0, u1, out, BLOCK)
    tl.store(out + s0 * s1 + tl.arange(0, 1), t0 + t1 + nan + tl.zeros((1,), tl.float32))
    tl.store(one + tl.arange(0, 1), 1.0, mask=tl.arange(0, 1) < 0)


@triton.jit
def described1_with_2(base, s0, s1, t0, t1, nan, z0, z1, u0, u1, out, one, two, BLOCK: tl.constexpr):
    _transposed(base, z0, z1, u0, u1, out, BLOCK)
    tl.store(out + s0 * s1 + tl.arange(0, 1), t0 + t1 + nan + tl.zeros((1,), tl.float32))
    tl.store(one + tl.arange(0, 1), 1.0, mask=tl.arange(0, 1) < 0)
    tl.store(two + tl.arange(0, 1), 1.0, mask=tl.arange(0, 1) < 0)


@triton.jit
def described2(base, s0, s1, t0, t1, nan, tf32, z0, z1, u0, u1, out, one, two, BLOCK: tl.constexpr):
    _transposed(base, z0, z1, u0, u1, out, BLOCK)
    tl.store(out + s0 * s1 + tl.arange(0, 1), t0 + t1 + nan + tf32 + tl.zeros((1,), tl.float32))
    tl.store(one + tl.arange(0, 1), 1.0, mask=tl.arange(0, 1) < 0)
    tl.store(two + tl.arange(0, 1), 1.0, mask=tl.arange(0, 1) < 0)


# By the number of scratch pointers, and with that of a descriptor's flags before it.
SCRATCH, LOCAL = (scratch0, scratch1, scratch2), (local0, local1, local2)
DESCRIBED = {(0, 0): described0, (1, 1): described1, (1, 2): described1_with_2, (2, 2): described2}
N, BLOCK = 50, 64


class Loaded:
    """A kernel in the driver's hands, with the metadata that its compiler gave."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        compiled = function.warmup(*arguments, BLOCK=BLOCK, grid=(1,), num_warps=4)
        about = compiled.metadata
        self.shared: int = about.shared
        self.metadata = SimpleNamespace(
            name=about.name, shared=about.shared, num_warps=about.num_warps, threads_per_warp=about.threads_per_warp
        )  # fmt: skip
        self.module, self.function, *rest = driver.utils.load_binary(
            about.name, compiled.asm["spv"], about.shared, about.build_flags, 0
        )
        self.results = len(rest)

    def launch(self, contract: Contract, signature: dict[str, str], *arguments: Any) -> None:
        """Launch it as a version of Triton would; the signature is that version's, with its constants."""
        driver.contract = contract
        constants = {"BLOCK": BLOCK}
        if contract.lists_constants:
            source = SimpleNamespace(signature={**signature, "BLOCK": "constexpr"}, constants=constants)
            arguments = (*arguments, BLOCK)
        else:
            names = [*signature, "BLOCK"]
            source = SimpleNamespace(
                signature=signature, constants=constants, fn=SimpleNamespace(arg_names=names)
            )
        launch = driver.launcher_cls(source, self.metadata)
        launch(1, 1, 1, driver.get_current_stream(0), self.function, None, None, None, None, *arguments)


def refused(loaded: Loaded, contract: Contract, signature: dict[str, str], *arguments: Any) -> None:
    """Assert that a launch under another row is refused and changes nothing."""
    out = arguments[1]
    out.numpy()[...] = -1
    try:
        loaded.launch(contract, signature, *arguments)
    except XpuDevError as error:
        assert "other parameters than this driver would fill" in str(error), error
    else:
        raise AssertionError(f"launched with the layout of {contract.version}")
    assert (out.numpy() == -1).all()


def scratch(contract: Contract) -> None:
    """Launch with the row's scratch pointers; every other number of them is refused."""
    x, out = xpu.array(np.arange(N, dtype=np.float32)), xpu.empty(N)
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    extra = [out] * contract.scratch_pointers
    loaded = Loaded(SCRATCH[contract.scratch_pointers], x, out, N, *extra)
    loaded.launch(contract, signature, x, out, N)
    assert (out.numpy() == 2 * x.numpy()).all(), contract
    for other in {row.scratch_pointers: row for row in CONTRACTS}.values():
        if other.scratch_pointers != contract.scratch_pointers:
            refused(loaded, contract._replace(scratch_pointers=other.scratch_pointers), signature, x, out, N)


def local(contract: Contract) -> None:
    """Launch with work-group-local memory behind the scratch pointers."""
    x, out = xpu.array(np.arange(N, dtype=np.float32)), xpu.empty(1)
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    loaded = Loaded(LOCAL[contract.scratch_pointers], x, out, N, *[out] * contract.scratch_pointers)
    assert loaded.shared
    loaded.launch(contract, signature, x, out, N)
    assert out.numpy().tolist() == [sum(range(N))], contract


def local_in_module(contract: Contract) -> None:
    """A module that holds its local memory takes no argument for it: allowed where a version does that, else refused."""
    x, out = xpu.array(np.arange(N, dtype=np.float32)), xpu.empty(N)
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    loaded = Loaded(SCRATCH[contract.scratch_pointers], x, out, N, *[out] * contract.scratch_pointers)
    loaded.metadata.shared = 512
    if not contract.local_memory_in_module:
        refused(loaded, contract, signature, x, out, N)
        return
    loaded.launch(contract, signature, x, out, N)
    assert (out.numpy() == 2 * x.numpy()).all(), contract


def descriptor(contract: Contract) -> None:
    """Launch with a tensor descriptor, expanded as the version does it; refused where it has none for the host."""
    x, out = xpu.array(np.arange(6, dtype=np.float32).reshape(2, 3)), xpu.empty(7)
    described = SimpleNamespace(base=x, shape=[2, 3], strides=[3, 1], padding="nan", round_f32_to_tf32=True)
    signature = {"x": "tensordesc<fp32[2,4]>", "out": "*fp32"}
    if contract.descriptor_flags is None:
        loaded = Loaded(described0, x, 2, 3, 3, 1, 2, 3, 3, 1, out)
        try:
            loaded.launch(contract, signature, described, out)
        except XpuDevError as error:
            assert "is unknown to this driver" in str(error)
            return
        raise AssertionError(contract)
    wide, flags = (2**40, 2**40, 2**40, 2**40), (True, True)[: contract.descriptor_flags]
    function = DESCRIBED[contract.descriptor_flags, contract.scratch_pointers]
    extra = [out] * contract.scratch_pointers
    loaded = Loaded(function, x, *wide, *flags, 5, 5, *wide[:2], out, *extra)
    loaded.launch(contract, signature, described, out)
    assert out.numpy()[:6].tolist() == [0, 3, 1, 4, 2, 5], contract
    assert out.numpy()[6] == 3 + 1 + contract.descriptor_flags


def results(contract: Contract) -> None:
    """What `load_binary` returns behind module and function."""
    driver.contract = contract
    x, out = xpu.empty(N), xpu.empty(N)
    loaded = Loaded(scratch0, x, out, N)
    assert loaded.results == (3 if contract.returns_threads else 2)


if __name__ == "__main__":
    own = driver.contract
    for row in CONTRACTS:
        for check in (scratch, local, local_in_module, descriptor, results):
            driver.contract = own  # Triton 3.3 itself asks for what it compiles
            check(row)
            print(f"{'.'.join(map(str, row.version))} {check.__name__}", flush=True)
    print("right")
