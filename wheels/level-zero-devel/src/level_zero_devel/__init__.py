"""Level Zero development kit: headers in `include/`, the library to link in `lib/`."""

import os


def get_include() -> str:
    """Return the folder for the compiler's include path, for `#include <level_zero/ze_api.h>`."""
    return os.path.join(get_root(), "include")


def get_root() -> str:
    """Return the folder that holds `include` and `lib`, for LEVEL_ZERO_V1_SDK_PATH, CMAKE_PREFIX_PATH."""
    return os.path.dirname(os.path.abspath(__file__))
