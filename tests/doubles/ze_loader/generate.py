"""Write the double's source: every function that the headers declare, around those that device.h implements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clang import cindex
from repack import declarations

IMPLEMENTED = re.compile(r"^static \w+ double_(\w+)\(", re.MULTILINE)
DEVICE = Path(__file__).parent / "device.h"
POINTER, RECORD = cindex.TypeKind.POINTER, cindex.TypeKind.RECORD


def source(include: Path, without: str = "") -> str:
    """Return the C source for the headers in `include`, without one of their functions."""
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    unit = declarations.parse_headers(include.resolve(), headers)
    implemented = set(IMPLEMENTED.findall(DEVICE.read_text()))
    functions = {cursor.spelling: cursor for cursor in declarations.function_cursors(unit.cursor)}
    unknown = implemented - set(functions)
    if unknown:
        raise ValueError(f"device.h implements what no header declares: {', '.join(sorted(unknown))}")
    needed = sorted({cursor.location.file.name for cursor in functions.values()})
    lines = ["#include <stdbool.h>", "#include <stddef.h>"]
    lines += [f'#include "{Path(name).relative_to(include.resolve()).as_posix()}"' for name in needed]
    lines.append('#include "device.h"')
    for name, cursor in sorted(functions.items()):
        if name == without:
            # Nothing else mentions its static part, which compilers warn of.
            lines.append(f"void *unused = (void *)double_{name};")
        else:
            lines += _function(name, cursor, name in implemented)
    return "\n".join(lines) + "\n"


def _function(name: str, cursor: cindex.Cursor, implemented: bool) -> Iterator[str]:
    kinds = list(cursor.type.argument_types())
    names = [f"a{index}" for index in range(len(kinds))]
    parameters = [f"{declarations.as_passed(kind)} {name}" for kind, name in zip(kinds, names, strict=True)]
    result = cursor.result_type.spelling
    yield f"{result} ZE_APICALL {name}({', '.join(parameters) or 'void'}) {{"
    yield f'    begin_call("{name}");'
    for kind, argument in zip(kinds, names, strict=True):
        yield f"    {_recorded(kind.get_canonical(), argument)};"
    yield "    end_call();"
    if result == "ze_result_t":
        yield f'    ze_result_t chosen = (ze_result_t)chosen_fault("ZE_DOUBLE_FAIL", "{name}");'
        yield "    if (chosen != ZE_RESULT_SUCCESS) return chosen;"
        answer = (
            f"double_{name}({', '.join(names)})" if implemented else "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"
        )
        yield f"    return {answer};"
    elif result != "void":
        yield f"    return ({result})0;"
    yield "}"


def _recorded(kind: cindex.Type, argument: str) -> str:
    """Return the statement that records one argument."""
    if kind.kind == RECORD:
        return 'record_text("structure")'
    if kind.kind != POINTER:
        return f"record_integer((long long){argument})"
    if kind.get_pointee().spelling == "const char":
        return f"record_string({argument})"
    # C has no conversion from a function pointer to void *.
    return f"record_pointer((const void *)(uintptr_t){argument})"
