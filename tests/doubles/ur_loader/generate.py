"""Write the double's source: every function of `ur_api.h`, passed on to the real loader but for the fault asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clang import cindex
from repack import declarations

CHANGED = re.compile(r"^static ur_result_t double_(\w+)\(", re.MULTILINE)
CHANGES = Path(__file__).parent / "changes.h"
HEAD = """\
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#include <stdio.h>

#include "../faults.h"
#include <unified-runtime/ur_api.h>

#ifdef _WIN32
static void *opened(const char *path) {
    return (void *)LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}
static void *found(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}
#else
/* RTLD_DEEPBIND: what the real loader calls by name is its own. */
static void *opened(const char *path) {
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}
static void *found(void *library, const char *name) {
    return dlsym(library, name);
}
#endif

static void *real_function(const char *name) {
    static void *library;
    if (!library) library = opened(setting("UR_DOUBLE_REAL", ""));
    void *function = library ? found(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "the double finds no %s in UR_DOUBLE_REAL\\n", name);
        exit(3);
    }
    return function;
}

static void record(const char *name) {
    const char *path = setting("UR_DOUBLE_LOG", "");
    FILE *file = *path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s\\n", name);
    fclose(file);
}
"""


def source(include: Path, without: str = "") -> str:
    """Return the C source for the headers in `include`, without one of their functions."""
    unit = declarations.parse_headers(include.resolve(), ["unified-runtime/ur_api.h"])
    functions = {cursor.spelling: cursor for cursor in declarations.function_cursors(unit.cursor)}
    changed = CHANGED.findall(CHANGES.read_text("utf-8"))
    functions.pop(without, None)
    lines = [HEAD]
    for name in changed:
        lines += _real(name, functions[name])
    lines.append('#include "changes.h"')
    for name, cursor in sorted(functions.items()):
        if name not in changed:
            lines += _real(name, cursor)
        lines += _exported(name, cursor, f"{'double' if name in changed else 'real'}_{name}")
    return "\n".join(lines) + "\n"


def _signature(cursor: cindex.Cursor) -> tuple[str, str]:
    """Return a function's parameters as a declaration and as arguments."""
    kinds = [declarations.as_passed(kind) for kind in cursor.type.argument_types()]
    names = [f"a{index}" for index in range(len(kinds))]
    pairs = ", ".join(f"{kind} {name}" for kind, name in zip(kinds, names, strict=True))
    return pairs or "void", ", ".join(names)


def _real(name: str, cursor: cindex.Cursor) -> Iterator[str]:
    parameters, arguments = _signature(cursor)
    yield f"static ur_result_t real_{name}({parameters}) {{"
    yield f"    static ur_result_t (UR_APICALL *real)({parameters});"
    yield f'    if (!real) *(void **)&real = real_function("{name}");'
    yield f"    return real({arguments});"
    yield "}"


def _exported(name: str, cursor: cindex.Cursor, answer: str) -> Iterator[str]:
    parameters, arguments = _signature(cursor)
    yield f"ur_result_t UR_APICALL {name}({parameters}) {{"
    yield f'    record("{name}");'
    yield f'    unsigned long chosen = chosen_fault("UR_DOUBLE_FAIL", "{name}");'
    yield f"    return chosen ? (ur_result_t)chosen : {answer}({arguments});"
    yield "}"
