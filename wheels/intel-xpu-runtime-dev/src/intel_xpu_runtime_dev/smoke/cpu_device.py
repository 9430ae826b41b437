"""Tell the OpenCL loader of Intel's CPU device when it came as a wheel, which registers it nowhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .._files import is_file
from .compilers import WINDOWS

LIBRARY = "intelocl64.dll" if WINDOWS else "libintelocl.so"
VENDORS = Path("/etc/OpenCL/vendors")
REGISTRY_KEY = r"SOFTWARE\Khronos\OpenCL\Vendors"
VARIABLE = "OCL_ICD_FILENAMES"

SPACE = "which does not work in a folder with a space in its name: use another environment"


class Offer(NamedTuple):
    """The variables to set, none when nothing is needed, and what to tell about it."""

    variables: Mapping[str, str]
    remark: str


def offer(runtime: str) -> Offer:
    """Return how the CPU device beside a runtime gets known to the OpenCL loader.

    What the user has set stays. `OCL_ICD_FILENAMES` adds to the devices that the system knows.
    """
    for name in (VARIABLE, "OCL_ICD_VENDORS"):
        if os.environ.get(name):
            return Offer({}, f"CPU device: {name} as it is set")
    for registered in _registered():
        if Path(registered).name == LIBRARY and is_file(Path(registered)):
            return Offer({}, f"CPU device: {registered}, registered with the system")
    library = Path(runtime).parent / LIBRARY
    if not is_file(library):
        return Offer({}, f"CPU device: no {LIBRARY} beside the runtime")
    remark = f"CPU device: {library} by {VARIABLE}"
    if " " in str(library):
        # It looks for its own files by a path that it cuts at the space.
        remark += f", {SPACE}"
    if _is_elevated():
        remark += ", which OpenCL ignores here: this process is elevated, run it as an ordinary user"
    return Offer({VARIABLE: str(library)}, remark)


def _is_elevated() -> bool:
    if not WINDOWS:
        return False
    import ctypes

    return bool(ctypes.WinDLL("shell32").IsUserAnAdmin())  # type: ignore[attr-defined,unused-ignore]


def _registered() -> list[str]:
    if WINDOWS:
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, REGISTRY_KEY) as key:  # type: ignore[attr-defined,unused-ignore]
                return [winreg.EnumValue(key, index)[0] for index in range(winreg.QueryInfoKey(key)[1])]  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return []
    return [path.read_text(errors="replace").strip() for path in VENDORS.glob("*.icd") if is_file(path)]
