"""A stand-in for torch with an XPU: a test double, enough for Triton's own driver to compile and load its stub.

There is no queue behind `sycl_queue` and no device: whoever uses the stub then comes to grief, as with a broken driver.
"""

from __future__ import annotations

from types import SimpleNamespace

__version__ = "0 (test double)"

# Asked by the backends for NVIDIA and AMD.
version = SimpleNamespace(hip=None, cuda=None)
cuda = SimpleNamespace(is_available=lambda: False)

xpu = SimpleNamespace(
    is_available=lambda: True,
    current_stream=lambda: SimpleNamespace(sycl_queue=0),
    get_device_capability=lambda device: {},
)
