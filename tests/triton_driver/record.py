"""Run checks and record what they launch, to be launched again where Triton is not: `python record.py FOLDER GROUP ...`.

For the first launch of each kernel and grid: SPIR-V, signature, metadata, grid, the arguments, and all arrays
before and after, which the checks have found right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
NAMED = sys.argv[2:]
sys.argv[1:] = []

from intel_xpu_runtime_dev.triton._memory import Array  # noqa: E402

from tests.triton_driver import checks  # noqa: E402 - it activates the driver


def main() -> None:
    """Write one JSON object a launch, and its files."""
    driver = checks.driver
    binaries: dict[int, tuple[str, bytes, str]] = {}
    records: list[dict[str, Any]] = []
    load, launcher_for = driver.utils.load_binary, driver.launcher_cls

    def load_binary(name: str, binary: bytes, shared: int, flags: str, device: int) -> Any:
        loaded = load(name, binary, shared, flags, device)
        binaries[loaded[1]] = (name, binary, flags)
        return loaded

    def launcher_cls(src: Any, metadata: Any) -> Callable[..., None]:
        launch = launcher_for(src, metadata)
        seen: set[Any] = set()

        def recorded(*arguments: Any) -> None:
            function = arguments[4]
            key = (function, *arguments[:3])
            if key in seen or 0 in arguments[:3]:
                launch(*arguments)
                return
            seen.add(key)
            own = arguments[9:]
            before = [value.raw().tobytes() if isinstance(value, Array) else None for value in own]
            launch(*arguments)
            name, binary, flags = binaries[function]
            index = len(records)
            (FOLDER / f"{index}.spv").write_bytes(binary)
            passed = []
            for place, value in enumerate(own):
                if not isinstance(value, Array):
                    passed.append({"value": value})
                    continue
                assert value.is_contiguous()
                (FOLDER / f"{index}.{place}.before").write_bytes(before[place] or b"")
                (FOLDER / f"{index}.{place}.after").write_bytes(value.raw().tobytes())
                passed.append({"array": value.dtype})
            records.append(
                {
                    "group": group.__name__, "name": name, "build_flags": flags, "grid": arguments[:3],
                    "signature": dict(src.signature), "shared": metadata.shared, "num_warps": metadata.num_warps,
                    "threads_per_warp": metadata.threads_per_warp, "arguments": passed,
                }
            )  # fmt: skip

        return recorded

    vars(driver.utils)["load_binary"], vars(driver)["launcher_cls"] = load_binary, launcher_cls
    for group in checks.GROUPS:
        if group.__name__ in NAMED:
            group()
    (FOLDER / "launches.json").write_text(json.dumps(records))
    print(len(records))


if __name__ == "__main__":
    main()
