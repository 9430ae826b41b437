"""Checks that run inside the environment with Triton: `python checks.py GROUP`.

Each group ends in an AssertionError where a number is wrong; the last line of a good run is `right: GROUP`.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

import intel_xpu_runtime_dev.triton as xpu
import numpy as np
from intel_xpu_runtime_dev import XpuDevError

driver = xpu.activate("cpu", launcher=sys.argv[2] if len(sys.argv) > 2 else "ctypes")

import triton  # noqa: E402 - the driver comes first, as autotune wants it
import triton.language as tl  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402

random = np.random.default_rng(7)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(out, x, stride, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    row = tl.load(x + tl.program_id(0) * stride + offsets, mask=mask, other=-float("inf"))
    powers = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * stride + offsets, powers / tl.sum(powers, axis=0), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BM": 32, "BN": 32, "BK": 16}, num_warps=4),
        triton.Config({"BM": 16, "BN": 16, "BK": 32}, num_warps=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        left_mask = (rows[:, None] < M) & (inner[None, :] < K)
        right_mask = (inner[:, None] < K) & (columns[None, :] < N)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=left_mask, other=0.0)
        right = tl.load(b + inner[:, None] * N + columns[None, :], mask=right_mask, other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(
        c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N)
    )


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    kept = tl.rand(seed, offsets) > p
    tl.store(out + offsets, tl.where(kept, tl.load(x + offsets, mask=mask) / (1 - p), 0.0), mask=mask)


@triton.jit
def layer_norm_kernel(x, out, weight, bias, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=mask, other=0.0)
    average = tl.sum(values, axis=0) / columns
    centred = tl.where(mask, values - average, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    w, b = tl.load(weight + offsets, mask=mask), tl.load(bias + offsets, mask=mask)
    tl.store(out + row * columns + offsets, centred * scale * w + b, mask=mask)


@triton.jit
def layer_norm_backward_kernel(dx, dy, x, weight, mean, rstd, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=mask, other=0.0)
    scale = tl.load(rstd + row)
    normal = tl.where(mask, (values - tl.load(mean + row)) * scale, 0.0)
    given = tl.load(dy + row * columns + offsets, mask=mask, other=0.0)
    weighted = given * tl.load(weight + offsets, mask=mask, other=0.0)
    first = tl.sum(normal * weighted, axis=0) / columns
    second = tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * columns + offsets, (weighted - (normal * first + second)) * scale, mask=mask)


@triton.jit
def attention_kernel(q, k, v, out, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inner = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + inner[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        keys = start + tl.arange(0, BN)
        scores = (
            tl.dot(query, tl.load(k + keys[None, :] * D + inner[:, None]), input_precision="ieee") * scale
        )
        new = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new[:, None])
        correction = tl.exp(largest - new)
        total = total * correction + tl.sum(weights, axis=1)
        value = tl.load(v + keys[:, None] * D + inner[None, :])
        result = result * correction[:, None] + tl.dot(weights, value, input_precision="ieee")
        largest = new
    tl.store(out + rows[:, None] * D + inner[None, :], result / total[:, None])


@triton.jit
def libdevice_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, libdevice.asin(values) + libdevice.erf(values), mask=offsets < n)


@triton.jit
def block_pointer_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    place = (tl.program_id(0) * BM, tl.program_id(1) * BN)
    source = tl.make_block_ptr(x, (M, N), (N, 1), place, (BM, BN), (1, 0))
    target = tl.make_block_ptr(out, (M, N), (N, 1), place, (BM, BN), (1, 0))
    values = tl.load(source, boundary_check=(0, 1))
    tl.store(target, values * 2, boundary_check=(0, 1))


@triton.jit
def scalars_kernel(out, i8, u8, i16, u16, i32, u32, i64, u64, f32, flag):
    tl.store(out + 0, i8.to(tl.float64))
    tl.store(out + 1, u8.to(tl.float64))
    tl.store(out + 2, i16.to(tl.float64))
    tl.store(out + 3, u16.to(tl.float64))
    tl.store(out + 4, i32.to(tl.float64))
    tl.store(out + 5, u32.to(tl.float64))
    tl.store(out + 6, i64.to(tl.float64))
    tl.store(out + 7, u64.to(tl.float64))
    tl.store(out + 8, f32.to(tl.float64))
    tl.store(out + 9, flag.to(tl.float64))


@triton.jit
def grid_kernel(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    index = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out + index, x + 10 * y + 100 * z)


@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)


@triton.jit
def atomic_kernel(out, x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0)
    tl.atomic_add(out, tl.sum(values, axis=0))


@triton.jit
def widen_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask).to(tl.float32), mask=mask)


# The first has more threads than a work-group of the CPU device may have.
@triton.autotune(
    configs=[triton.Config({"BLOCK": 1024}, num_warps=512), triton.Config({"BLOCK": 1024}, num_warps=4)],
    key=["n"],
)
@triton.jit
def tuned_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)


def floats(*shape: int) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32)


def close(ours: object, reference: np.ndarray, tolerance: float = 1e-5) -> None:
    values = np.asarray(ours)
    assert values.shape == reference.shape
    error = float(np.max(np.abs(values.astype(np.float64) - reference.astype(np.float64))))
    assert error <= tolerance, error


def add() -> None:
    n = 12345
    x, y, out = xpu.array(floats(n)), xpu.array(floats(n)), xpu.empty(n + 64)
    out.numpy()[:] = -7
    add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    assert np.array_equal(out.numpy()[:n], x.numpy() + y.numpy())
    assert (out.numpy()[n:] == -7).all()


def softmax() -> None:
    x = floats(37, 781)
    out = xpu.empty(x.shape)
    softmax_kernel[(37,)](out, xpu.array(x), 781, 781, BLOCK=1024)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    close(out, powers / powers.sum(axis=1, keepdims=True), 1e-6)


def matmul() -> None:
    for dtype, tolerance in ((np.float32, 1e-4), (np.float16, 2e-2)):
        a, b = floats(70, 90).astype(dtype), floats(90, 50).astype(dtype)
        out = xpu.empty((70, 50))
        grid = lambda meta: (triton.cdiv(70, meta["BM"]), triton.cdiv(50, meta["BN"]))  # noqa: E731
        matmul_kernel[grid](xpu.array(a), xpu.array(b), out, 70, 50, 90)
        close(out, a.astype(np.float64) @ b.astype(np.float64), tolerance)
    assert len(matmul_kernel.cache) == 2  # both were tuned


def dropout() -> None:
    n, p = 4096, 0.25
    x, out, again = xpu.array(floats(n)), xpu.empty(n), xpu.empty(n)
    dropout_kernel[(4,)](x, out, n, p, 123, BLOCK=1024)
    dropout_kernel[(4,)](x, again, n, p, 123, BLOCK=1024)
    kept = out.numpy() != 0
    assert np.array_equal(out.numpy(), again.numpy())
    assert abs(kept.mean() - (1 - p)) < 0.03
    close(out.numpy()[kept], (x.numpy() / (1 - p))[kept])


def layer_norm() -> None:
    rows, columns, eps = 19, 700, 1e-5
    x, weight, bias, dy = floats(rows, columns), floats(columns), floats(columns), floats(rows, columns)
    on_device = {"x": xpu.array(x), "w": xpu.array(weight), "mean": xpu.empty(rows), "rstd": xpu.empty(rows)}
    out, dx = xpu.empty(x.shape), xpu.empty(x.shape)
    layer_norm_kernel[(rows,)](
        on_device["x"], out, on_device["w"], xpu.array(bias), on_device["mean"], on_device["rstd"], columns, eps,
        BLOCK=1024,
    )  # fmt: skip
    x64 = x.astype(np.float64)
    scale = 1 / np.sqrt(x64.var(axis=1, keepdims=True) + eps)
    normal = (x64 - x64.mean(axis=1, keepdims=True)) * scale
    close(out, normal * weight + bias, 1e-5)
    layer_norm_backward_kernel[(rows,)](
        dx, xpu.array(dy), on_device["x"], on_device["w"], on_device["mean"], on_device["rstd"], columns,
        BLOCK=1024,
    )  # fmt: skip
    weighted = dy.astype(np.float64) * weight
    first = (normal * weighted).mean(axis=1, keepdims=True)
    close(dx, (weighted - normal * first - weighted.mean(axis=1, keepdims=True)) * scale, 1e-5)


def attention() -> None:
    n, d = 128, 32
    q, k, v = floats(n, d), floats(n, d), floats(n, d)
    out = xpu.empty((n, d))
    attention_kernel[(n // 32,)](
        xpu.array(q), xpu.array(k), xpu.array(v), out, n, d**-0.5, D=d, BM=32, BN=32
    )  # fmt: skip
    scores = q.astype(np.float64) @ k.T.astype(np.float64) * d**-0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    close(out, weights / weights.sum(axis=1, keepdims=True) @ v, 1e-5)


def functions() -> None:
    from math import asin, erf

    x = random.uniform(-1, 1, 500).astype(np.float32)
    out = xpu.empty(500)
    libdevice_kernel[(1,)](xpu.array(x), out, 500, BLOCK=512)
    close(out, np.array([asin(value) + erf(value) for value in x.astype(float)]), 1e-5)


def block_pointers() -> None:
    x = floats(50, 70)
    out = xpu.empty(x.shape)
    block_pointer_kernel[(2, 3)](xpu.array(x), out, 50, 70, BM=32, BN=32)
    close(out, x * 2, 0)


def arguments() -> None:
    out = xpu.empty(10, "float64")
    values = (-5, 200, -300, 60000, -70000, 3_000_000_000, -(2**40), 2**63 + 2**20, 0.5, True)
    scalars_kernel[(1,)](out, *values)
    assert out.numpy().tolist() == [float(value) for value in values]


def grids() -> None:
    for grid in ((7,), (3, 5), (2, 3, 4)):
        x, y, z = (*grid, 1, 1)[:3]
        out = xpu.empty(x * y * z, "int32")
        grid_kernel[grid](out)
        expected = [i + 10 * j + 100 * k for k in range(z) for j in range(y) for i in range(x)]
        assert out.numpy().tolist() == expected
    out = xpu.array(np.full(1, 5, np.int32))
    grid_kernel[(0, 1, 1)](out)
    assert out.numpy().tolist() == [5]  # an empty grid runs nothing


def dtypes() -> None:
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):  # fmt: skip
        x = xpu.array(np.arange(50), name)
        out = xpu.empty(50, name)
        double_kernel[(1,)](x, out, 50, BLOCK=64)
        assert out.numpy().tolist() == [2 * i for i in range(50)], name
    x, out = xpu.array(np.linspace(-3, 3, 50, dtype=np.float32), "bfloat16"), xpu.empty(50, "bfloat16")
    double_kernel[(1,)](x, out, 50, BLOCK=64)
    assert np.array_equal(out.numpy(), 2 * x.numpy())  # doubling is exact


def narrow_floats() -> None:
    """All 256 values of each 8-bit type, but those that are not finite numbers, against its definition."""
    codes = np.arange(256)
    for name, mantissa, bias, finite in (
        ("float8_e5m2", 2, 15, codes & 0x7F < 0x7C),
        ("float8_e4m3fn", 3, 7, codes & 0x7F < 0x7F),
    ):
        x, out = xpu.array(codes, "uint8").view("int8").view(name), xpu.empty(256)
        widen_kernel[(1,)](x, out, 256, BLOCK=256)
        exponent, fraction = (codes & 0x7F) >> mantissa, (codes & (1 << mantissa) - 1) / (1 << mantissa)
        value = np.where(exponent, 1 + fraction, fraction) * 2.0 ** (np.maximum(exponent, 1) - bias)
        expected = np.where(codes & 0x80, -value, value)
        assert finite.sum() > 240
        assert np.array_equal(out.numpy()[finite], expected[finite].astype(np.float32)), name


def local_memory() -> None:
    """Work-groups of several sub-groups reduce through their local memory."""
    x, out = floats(5, 1000), xpu.empty((5, 1000))
    kernel = softmax_kernel[(5,)](out, xpu.array(x), 1000, 1000, BLOCK=1024, num_warps=8)
    assert kernel.metadata.shared > 0
    assert driver._loaded[kernel.function].arguments == 5  # two pointers, two numbers, and the local memory
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    close(out, powers / powers.sum(axis=1, keepdims=True), 1e-6)


def skipped_configuration() -> None:
    """Autotune passes over what the device cannot run, and takes the other."""
    x, out = xpu.array(np.arange(1000), "float32"), xpu.empty(1000)
    tuned_kernel[(1,)](x, out, 1000)
    assert tuned_kernel.best_config.num_warps == 4
    times = {config.num_warps: taken for config, taken in tuned_kernel.configs_timings.items()}
    assert times[512] == [float("inf")] * 3
    assert out.numpy().tolist() == [2.0 * i for i in range(1000)]


def atomics() -> None:
    x, out = xpu.array(np.arange(5000), "int32"), xpu.array(np.zeros(1), "int32")
    atomic_kernel[(5,)](out, x, 5000, BLOCK=1024)
    assert out.numpy().tolist() == [sum(range(5000))]


class Meeting:
    """An array whose address two threads ask for at the same time, so that each is amid its launch when the other is."""

    def __init__(self, array: Any, barrier: threading.Barrier) -> None:
        self.array = array
        self.dtype = array.dtype
        self._barrier = barrier

    def data_ptr(self) -> int:
        """Wait for the other thread, then return the address."""
        self._barrier.wait(60)
        return int(self.array.data_ptr())


def threads() -> None:
    """Two threads launch one kernel with arguments of their own; each result must be its own."""
    n, rounds = 1024, 50
    wrong: list[object] = []
    barrier = threading.Barrier(2)

    def work(factor: int) -> None:
        try:
            for round_ in range(rounds):
                values = (factor * (round_ + 1), 10 * factor, 0)
                x, y, out = (Meeting(xpu.array(np.full(n, value, np.float32)), barrier) for value in values)
                add_kernel[(1,)](x, y, out, n, BLOCK=1024)
                if not (out.array.numpy() == values[0] + values[1]).all():
                    wrong.append(factor)
        except Exception as error:
            wrong.append(error)
            barrier.abort()

    add_kernel[(1,)](xpu.empty(n), xpu.empty(n), xpu.empty(n), n, BLOCK=1024)
    workers = [threading.Thread(target=work, args=(factor,)) for factor in (1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong


def devices() -> None:
    """The only device listed twice: two contexts, two queues, two copies of a kernel; arrays stay with theirs."""
    driver.devices.append(driver.devices[0])
    known = set(driver._loaded)
    try:
        for number in (0, 1, 0, 1):
            driver.set_current_device(number)
            assert driver.get_current_device() == driver.get_device_interface().current_device() == number
            x, y, out = xpu.array(np.full(300, number, np.float32)), xpu.array(floats(300)), xpu.empty(300)
            add_kernel[(5,)](x, y, out, 300, BLOCK=64)
            assert np.array_equal(out.numpy(), y.numpy() + number)
        assert len(set(driver._loaded) - known) == 2
        assert driver.get_current_stream(0) != driver.get_current_stream(1)
    finally:
        driver.set_current_device(0)
        driver.devices.pop()


def hooks() -> None:
    seen: list[str] = []
    compiled = triton.compiler.CompiledKernel
    compiled.launch_enter_hook = lambda metadata: seen.append(f"enter {metadata.get()['name']}")
    compiled.launch_exit_hook = lambda metadata: seen.append("exit")
    try:
        add_kernel[(1,)](xpu.empty(8), xpu.empty(8), xpu.empty(8), 8, BLOCK=16)
    finally:
        compiled.launch_enter_hook = compiled.launch_exit_hook = None
    assert seen == ["enter add_kernel", "exit"]


def timing() -> None:
    x, y, out = xpu.array(floats(4096)), xpu.array(floats(4096)), xpu.empty(4096)
    from triton.testing import do_bench

    milliseconds = do_bench(lambda: add_kernel[(4,)](x, y, out, 4096, BLOCK=1024), warmup=2, rep=10)
    assert 0 < milliseconds < 1000


def views() -> None:
    x = xpu.array(np.arange(24, dtype=np.float32).reshape(4, 6))
    row = x[2]
    out = xpu.empty(6)
    double_kernel[(1,)](row, out, 6, BLOCK=8)
    assert out.numpy().tolist() == [2.0 * i for i in range(12, 18)]
    assert np.from_dlpack(x).tolist() == x.numpy().tolist()
    assert x.numpy().__array_interface__["data"][0] == x.data_ptr()  # no copy


def refusal(
    function: Callable[..., object], *arguments: object, expected: type[Exception] = XpuDevError
) -> str:
    """Return what the error says that the call ends in."""
    try:
        function(*arguments)
    except expected as error:
        return str(error)
    raise AssertionError(f"{function} accepts {arguments}")


def refusals() -> None:
    from intel_xpu_runtime_dev._ur_api import Result
    from intel_xpu_runtime_dev.triton._program import out_of_resources
    from intel_xpu_runtime_dev.triton._versions import contract
    from triton.runtime.errors import OutOfResources

    for version in ("2.1.0", "9.9.0"):
        assert f"does not know Triton {version}" in refusal(contract, version)
    spirv = add_kernel[(1,)](xpu.empty(8), xpu.empty(8), xpu.empty(8), 8, BLOCK=16).asm["spv"]
    words = list(struct.unpack(f"<{len(spirv) // 4}I", spirv))
    words[words.index(0x00020011) + 1] = 60000  # the first OpCapability asks for one that no device has
    for module, said in (
        (spirv[:24], "damaged"),
        (struct.pack(f"<{len(words)}I", *words), "Compilation failed"),  # the device's own log
    ):
        assert said in refusal(driver.utils.load_binary, "add_kernel", module, 0, "", 0)
    try:
        add_kernel[(1,)]("text", xpu.empty(8), xpu.empty(8), 8, BLOCK=16)
    except (TypeError, AttributeError, ValueError):
        pass
    else:
        raise AssertionError("a text passed for a pointer")
    # What autotune takes as "skip this configuration"; the check is before a kernel's first launch.
    kernel = add_kernel.warmup(*(xpu.empty(8) for _ in range(3)), 8, BLOCK=128, grid=(1,))
    kernel._init_handles()
    driver.remember(kernel.function, driver._loaded[kernel.function]._replace(max_threads=1))
    too_many = refusal(
        lambda: kernel[(1, 1, 1)](*(xpu.empty(8) for _ in range(3)), 8), expected=OutOfResources
    )
    assert "threads" in too_many
    assert isinstance(out_of_resources(Result.OUT_OF_RESOURCES), OutOfResources)
    assert out_of_resources(Result.INVALID_BINARY) is None


GROUPS = (
    add,
    softmax,
    matmul,
    dropout,
    layer_norm,
    attention,
    functions,
    block_pointers,
    arguments,
    grids,
    dtypes,
    narrow_floats,
    local_memory,
    skipped_configuration,
    atomics,
    threads,
    devices,
    hooks,
    timing,
    views,
    refusals,
)

if __name__ == "__main__":
    for group in GROUPS:
        if sys.argv[1] in ("all", group.__name__):
            group()
            print(f"right: {group.__name__}", flush=True)
