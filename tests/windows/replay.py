"""Launch on Windows what `tests/triton_driver/record.py` recorded: `python replay.py FOLDER LAUNCHER`.

Through the driver's own classes, on the CPU device. Prints one JSON object: the groups, launches and wrong numbers.
Standard library only; runs in Windows Python.
"""

from __future__ import annotations

import array
import json
import sys
import types
from pathlib import Path
from typing import Any

from tests.doubles import triton_package

# The compiler's that made the kernels.
VERSION = "3.3.0"
# Element codes and tolerances; other types, whose operations are exact, are compared as bytes.
FLOATS = {"float32": ("f", 1e-5), "float64": ("d", 1e-12)}


def main(folder: Path, launcher: str) -> None:
    """Launch everything and compare every array with what it was on Linux."""
    triton_package.install(VERSION, folder / "cache")
    from intel_xpu_runtime_dev.triton import _driver
    from intel_xpu_runtime_dev.triton._native import native_launcher

    driver = _driver.create("cpu", profiling=False, native_launcher=native_launcher(launcher))
    records = json.loads((folder / "launches.json").read_text())
    wrong = []
    for index, record in enumerate(records):
        wrong += [f"{record['group']}: {problem}" for problem in problems(driver, folder, index, record)]
    groups = sorted({record["group"] for record in records})
    print(json.dumps({"groups": groups, "launches": len(records), "wrong": wrong}))


def problems(driver: Any, folder: Path, index: int, record: dict[str, Any]) -> list[str]:
    """Return how the arrays of one launch differ from the recorded ones."""
    from intel_xpu_runtime_dev.triton._memory import Allocation

    module, function, _, _ = driver.utils.load_binary(
        record["name"], (folder / f"{index}.spv").read_bytes(), record["shared"], record["build_flags"], 0
    )
    source = types.SimpleNamespace(signature=record["signature"])
    launch = driver.launcher_cls(source, types.SimpleNamespace(**record))
    arrays: dict[int, Allocation] = {}
    passed: list[Any] = []
    for place, argument in enumerate(record["arguments"]):
        if "array" in argument:
            content = (folder / f"{index}.{place}.before").read_bytes()
            arrays[place] = Allocation(driver.session(), len(content))
            arrays[place].bytes.raw = content
            passed.append(arrays[place].address)
        else:
            passed.append(argument["value"])
    stream = driver.get_current_stream(driver.get_current_device())
    launch(*record["grid"], stream, function, None, None, None, None, *passed)
    driver.utils.wait()
    del module
    found = []
    for place, allocation in arrays.items():
        expected = (folder / f"{index}.{place}.after").read_bytes()
        kind = record["arguments"][place]["array"]
        if not alike(bytes(allocation.bytes.raw), expected, kind):
            found.append(f"{record['name']}, argument {place}, {kind}")
    return found


def alike(ours: bytes, expected: bytes, kind: str) -> bool:
    """Return whether two arrays hold the same numbers, floating-point ones within their tolerance."""
    if kind not in FLOATS or ours == expected:
        return ours == expected
    code, tolerance = FLOATS[kind]
    pairs = zip(array.array(code, ours), array.array(code, expected), strict=True)
    return all(abs(one - other) <= tolerance * max(1, abs(other)) or one == other for one, other in pairs)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
