"""The kernels in Triton: compiled ahead into the SPIR-V beside this file, and by the user's own Triton."""

# Triton reads annotations: no `from __future__ import annotations` here, and no types but its own.
# mypy: ignore-errors
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):  # noqa: N803
    """Add two vectors; the last block is masked."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, columns, BLOCK: tl.constexpr):  # noqa: N803
    """Take the softmax of one row a program; a row fits into one block."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(in_ptr + row * in_stride + offsets, mask=mask, other=-float("inf"))
    exponentials = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + offsets, exponentials / tl.sum(exponentials, axis=0), mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, a_stride, b_stride, c_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Multiply two row-major matrices, one block of the result a program, all edges masked."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * a_stride + inner[None, :],
            mask=(rows[:, None] < m) & (inner[None, :] < k),
            other=0.0,
        )
        b = tl.load(
            b_ptr + inner[:, None] * b_stride + columns[None, :],
            mask=(inner[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(
        c_ptr + rows[:, None] * c_stride + columns[None, :],
        total,
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )
