"""Triton's own compiler and our driver, on Intel's CPU device, with no compiler on PATH."""
