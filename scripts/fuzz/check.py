#!/usr/bin/env python3
"""Fuzz the readers of `xpu-dev check`, guided by coverage: python check.py CORPUS_FOLDER -runs=100000

Needs atheris and the package on PYTHONPATH. Options are libFuzzer's. The corpus is a folder of real binaries
and wheels. It ends with an error for anything but "read" or "refused".
"""

from __future__ import annotations

import io
import sys

import atheris

with atheris.instrument_imports(include=["intel_xpu_runtime_dev"]):
    from intel_xpu_runtime_dev.check import _elf, _pe  # noqa: F401 # imported on demand, too late to be instrumented
    from intel_xpu_runtime_dev.check._binary import read_binary
    from intel_xpu_runtime_dev.check._wheel import binaries, is_wheel
    from intel_xpu_runtime_dev.check._window import MalformedError, Window


def read_or_refuse(data: bytes) -> None:
    """Read a file as `xpu-dev check` does."""
    file = io.BytesIO(data)
    try:
        if is_wheel(data[:4]):
            for _, content in binaries(file):
                read_binary(Window(content))
        else:
            read_binary(Window(file))
    except MalformedError:
        pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, read_or_refuse)
    atheris.Fuzz()
