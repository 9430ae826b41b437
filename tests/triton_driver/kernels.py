"""Kernels for the tests that need any: a small one, and one for matrix engines."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def dot_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_block_ptr(a, (M, K), (K, 1), (row, 0), (BM, BK), (1, 0))
    right = tl.make_block_ptr(b, (K, N), (N, 1), (0, column), (BK, BN), (1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total += tl.dot(tl.load(left, boundary_check=(0, 1)), tl.load(right, boundary_check=(0, 1)))
        left = tl.advance(left, (0, BK))
        right = tl.advance(right, (BK, 0))
    out = tl.make_block_ptr(c, (M, N), (N, 1), (row, column), (BM, BN), (1, 0))
    tl.store(out, total, boundary_check=(0, 1))
