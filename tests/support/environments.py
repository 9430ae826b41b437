"""Virtual environments that several test modules use, made once and cached."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from .cached import made_once
from .needs import lacking

# Unified Runtime as Intel ships it, with Intel's OpenCL CPU device; one environment for each release.
INTEL_RUNTIME = {
    release: (
        f"intel-cmplr-lib-ur=={release}",
        f"intel-cmplr-lib-rt=={release}",
        f"intel-opencl-rt=={release}",
    )
    for release in ("2025.3.3", "2026.1.2", "2026.2.0")
}
TRITON = ("triton-xpu==3.3.0b1", "setuptools<81", "numpy<2.3")


def environment(name: str, *requirements: str) -> Path:
    """Return the interpreter of a cached environment that holds these requirements from the index."""
    digest = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:10]

    folder = made_once(f"{name}-{digest}", lambda path: _install(path, requirements))
    return folder / "bin" / "python"


def intel_runtime(release: str) -> Path:
    """Return the interpreter of an environment with Intel's Unified Runtime and CPU device of a release."""
    return environment(f"intel-runtime-{release}", *INTEL_RUNTIME[release])


def sycl_runtime(release: str) -> Path:
    """Return the interpreter of an environment with SYCL's headers and library (172 MB) and the CPU device."""
    return environment(f"sycl-{release}", f"intel-sycl-rt=={release}", *INTEL_RUNTIME[release])


def triton() -> Path:
    """Return the interpreter of an environment with triton-xpu, which compiles kernels without a GPU."""
    return environment("triton-xpu", *TRITON)


def triton_with_runtime(release: str = "2026.2.0") -> Path:
    """Return the interpreter of an environment with triton-xpu and a release of Intel's runtime and CPU device."""
    return environment(f"triton-xpu-runtime-{release}", *TRITON, *INTEL_RUNTIME[release])


def upstream_triton(version: str) -> Path:
    """Return the interpreter of an environment with upstream's Triton, without a backend for Intel, and the runtime."""
    return environment(f"triton-{version}", f"triton=={version}", "numpy<2.3", *INTEL_RUNTIME["2026.2.0"])


def _install(folder: Path, requirements: tuple[str, ...]) -> None:
    run = [sys.executable, "-m", "venv", str(folder)]
    subprocess.run(run, check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    result = subprocess.run([*pip, *requirements], capture_output=True, text=True)
    if result.returncode:
        lacking(f"pip cannot install {' '.join(requirements)}: {result.stderr.strip().splitlines()[-1:]}")
