#!/usr/bin/env python3
"""Compare the runtime layers in full: `xpu-dev compare --full` with SYCL, a virtual GPU and two older releases.

    python3 scripts/dev.py bench runtime [--json FILE] [--short]

The environments are those of the tests, kept in the cache folder. docs/runtime-choice.json is such a FILE; the page
and plot beside it are made from it by `python3 scripts/runtime_page.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "wheels/intel-xpu-runtime-dev/src")]
from intel_xpu_runtime_dev.compare import text  # noqa: E402 # found through the lines above
from repack.stage import stage  # noqa: E402

from tests.doubles import residency_layer  # noqa: E402
from tests.support.environments import sycl_runtime  # noqa: E402
from tests.virtual_gpu.root import root  # noqa: E402

RELEASE = "2026.2.0"
OTHERS = ("2026.1.2", "2025.3.3")
LEVEL_ZERO = "1.32.0"
PRODUCT = "pvc"


def main(arguments: list[str]) -> int:
    """Print the tables; return the exit code of `compare`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as well")
    parser.add_argument("--short", action="store_true", help="fewer repeats")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        level_zero = stage("level-zero", LEVEL_ZERO, "linux_x86_64", Path(folder, "level-zero"))
        words = command(level_zero, short=chosen.short)
        result = subprocess.run(words, env=variables(level_zero), stdout=subprocess.PIPE, text=True)
    if not result.stdout:
        return result.returncode
    report = json.loads(result.stdout)
    packages = (root().folder / "packages.txt").read_text().split()
    report["versions"]["virtual GPU"] = ", ".join(
        name.rpartition("_")[0] for name in packages if "ze" in name
    )
    print("\n".join(text.lines(report)))
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n")
    return result.returncode


def command(level_zero: Path, *, short: bool) -> list[str]:
    """Return the command line of `compare`; `level_zero` is a development kit."""
    python = sycl_runtime(RELEASE)
    linker, option, libraries = root().launcher
    # The layer hides the loader's own of that name; programs on the root's libc find Intel's runtime in the last.
    folders = [str(residency_layer.folder(level_zero / "include")), libraries, str(python.parents[1] / "lib")]
    launcher = [linker, option, os.pathsep.join(folders)]
    others = [word for release in OTHERS for word in ("--other", str(sycl_runtime(release).parents[1]))]
    words = ["compare", "--json", "--gpu-launcher", shlex.join(launcher), *others]
    return [str(python), "-m", "intel_xpu_runtime_dev", *words, *([] if short else ["--full"])]


def variables(level_zero: Path) -> dict[str, str]:
    """Return the environment of `compare`; `level_zero` is a development kit."""
    return {
        **os.environ,
        **root().variables(PRODUCT),
        **residency_layer.VARIABLES,
        "PYTHONPATH": str(ROOT / "wheels/intel-xpu-runtime-dev/src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LEVEL_ZERO_ROOT": str(level_zero),
        "CMPLR_ROOT": str(sycl_runtime(RELEASE).parents[1]),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
