"""Run by every Python that `xpu-dev run --triton-driver` starts: this folder is the first of its PYTHONPATH.

It makes our package importable where it is not installed, has our driver activated with Triton, and then gives way to the
`sitecustomize` that would have run without it.
"""

import importlib.util
import os
import sys


def _prepare() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes 10 ms
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]  # noqa: PTH100
    package = os.path.dirname(os.path.dirname(here))  # noqa: PTH120
    if importlib.util.find_spec("intel_xpu_runtime_dev") is None:
        spec = importlib.util.spec_from_file_location(
            "intel_xpu_runtime_dev",
            os.path.join(package, "__init__.py"),  # noqa: PTH118
            submodule_search_locations=[package],
        )
        if spec and spec.loader:
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
    from intel_xpu_runtime_dev.triton import requested

    requested.activate_with_triton(os.environ.get(requested.VARIABLE, ""))


def _give_way() -> None:
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found,unused-ignore] # noqa: F401 - the next one
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


try:
    _prepare()
finally:
    _give_way()
