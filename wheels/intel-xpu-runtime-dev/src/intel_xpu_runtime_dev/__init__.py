"""Find Level Zero and Unified Runtime development kits and runtimes."""

# Builds import this for one folder: each name is imported when it is first used.
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._errors import MismatchError, NotFoundError, XpuDevError
    from ._results import SDK, LoadedRuntime, Runtime
    from ._runtime import find_runtime, load_runtime
    from ._sdk import find_sdk, get_include

__version__ = "0.1.0"

__all__ = [
    "SDK",
    "LoadedRuntime",
    "MismatchError",
    "NotFoundError",
    "Runtime",
    "XpuDevError",
    "find_runtime",
    "find_sdk",
    "get_include",
    "load_runtime",
]

_HOMES = {
    "MismatchError": "_errors",
    "NotFoundError": "_errors",
    "XpuDevError": "_errors",
    "LoadedRuntime": "_results",
    "Runtime": "_results",
    "SDK": "_results",
    "find_runtime": "_runtime",
    "load_runtime": "_runtime",
    "find_sdk": "_sdk",
    "get_include": "_sdk",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = __import__(f"{__name__}.{_HOMES[name]}", fromlist=[name])
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
