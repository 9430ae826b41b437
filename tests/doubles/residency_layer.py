"""A Level Zero layer that answers requests for residency by itself, so that a virtual GPU serves the v2 adapter.

A test double: Intel's driver cannot make memory resident on a device that it only simulates, and Unified Runtime's
second Level Zero adapter asks for that at once. The loader loads the layer in place of its validation layer, which
has to offer all tables of functions; all but two functions stay the driver's.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.support.cached import made_once
from tests.support.needs import program

NAME = "libze_validation_layer.so.1"
VARIABLES = {"ZE_ENABLE_VALIDATION_LAYER": "1"}
HEADERS = ("ze", "zet", "zes", "zer")
TABLE = re.compile(
    r"^(z\w+Get\w+ProcAddrTable)\(\s*ze_api_version_t \w+,[^;]*?(\w+_dditable_t)\s*\*\s*\w+", re.MULTILINE
)
RESIDENCY = "zeGetContextProcAddrTable"

HEAD = """\
static ze_result_t granted(ze_context_handle_t context, ze_device_handle_t device, void *memory, size_t size) {
    (void)context, (void)device, (void)memory, (void)size;
    return ZE_RESULT_SUCCESS;
}
"""
FUNCTION = """\
__attribute__((visibility("default"))) ze_result_t {name}(ze_api_version_t version, {table} *table) {{
    (void)version, (void)table;{body}
    return ZE_RESULT_SUCCESS;
}}
"""
GRANTED = "\n    table->pfnMakeMemoryResident = granted;\n    table->pfnEvictMemory = granted;"


def source(include: Path) -> str:
    """Return the layer in C, with every table that the headers below `include` declare."""
    parts = [f"#include <level_zero/{header}_ddi.h>\n" for header in HEADERS] + [HEAD]
    for header in HEADERS:
        text = (include / "level_zero" / f"{header}_ddi.h").read_text()
        parts += [
            FUNCTION.format(name=name, table=table, body=GRANTED if name == RESIDENCY else "")
            for name, table in TABLE.findall(text)
        ]
    return "".join(parts)


def folder(include: Path) -> Path:
    """Return a folder with the compiled layer."""

    def make(path: Path) -> None:
        (path / "layer.c").write_text(source(include))
        flags = ["-shared", "-fPIC", f"-I{include}", str(path / "layer.c"), "-o", str(path / NAME)]
        subprocess.run([program("cc", "gcc"), *flags], check=True)

    return made_once("residency-layer", make)
