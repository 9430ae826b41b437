"""Functions that headers declare: real header sets, and what a text search would get wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from repack.binaries import Export, SharedLibrary
from repack.catalogue import Release, load
from repack.crossing import LeftOut, cross, is_cxx, stub_exports
from repack.declarations import Function, declared_functions
from repack.errors import BuildError

from tests.support.wheels import staged

RELEASES = load().releases
# Each C function of the two interfaces is declared with its name at the start of a line, or after the macro.
DECLARED = re.compile(
    r"(?:^|_APICALL\s+|_DLLEXPORT\s+\w+\s+)((?:ze[rst]?|zel|ur)[A-Z]\w+)\s*\($", re.MULTILINE
)


def headers(folder: Path, **texts: str) -> Path:
    """Write headers and return their folder."""
    for name, text in texts.items():
        (folder / f"{name}.h").write_text(text)
    return folder


def prototypes(folder: Path, text: str) -> dict[str, str]:
    """Return the prototypes that a header declares, by symbol."""
    return {item.name: item.prototype for item in declared_functions(headers(folder, one=text))}


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_real_headers(release: Release) -> None:
    include = staged(release.component, release.version, "linux_x86_64") / "include"
    text = "\n".join(path.read_text().replace(" (", "(") for path in include.rglob("*.h"))

    functions = declared_functions(include)

    names = {function.name for function in functions}
    assert names >= {match[1] for match in DECLARED.finditer(text)}
    assert len(names) > 200
    assert all(f"{function.name}(" in text for function in functions)
    assert all((include / function.header).is_file() for function in functions)


def test_real_prototypes() -> None:
    include = staged("level-zero", "1.32.0", "linux_x86_64") / "include"

    found = {function.name: function for function in declared_functions(include)}

    assert found["zeInit"] == Function("zeInit", "ze_result_t zeInit(ze_init_flags_t)", "level_zero/ze_api.h")
    assert found["zelCheckIsLoaderInTearDown"].prototype == "bool zelCheckIsLoaderInTearDown(void)"
    assert found["zelTracerResetAllCallbacks"].header == "level_zero/layers/zel_tracing_register_cb.h"


def test_both_platforms_declare_the_same() -> None:
    """The Windows headers have other line ends."""
    linux, windows = (
        declared_functions(staged("unified-runtime", "2026.2.0", platform) / "include")
        for platform in ("linux_x86_64", "win_amd64")
    )

    assert linux == windows


def test_what_a_text_search_gets_wrong(tmp_path: Path) -> None:
    text = """
    // void commented(void);
    #if 0
    void disabled(void);
    #endif
    #define MAKE(x) int x##Made(int)
    MAKE(macro);
    typedef void (*callback_t)(int);
    static inline int defined(void) { return 0; }
    struct with { void (*member)(void); };
    extern "C" { void across(
        int a,   /* first */
        const char *b); }
    extern "C" callback_t returns_pointer(void (*handler)(int, char), double numbers[4]);
    extern int variable;
    extern "C" void variadic(const char *, ...);
    """

    assert prototypes(tmp_path, text) == {
        "_Z9macroMadei": "int macroMade(int)",
        "across": "void across(int, const char *)",
        "returns_pointer": "callback_t returns_pointer(void (*)(int, char), double *)",
        "variadic": "void variadic(const char *, ...)",
    }


def test_names_of_parameters_and_spacing_do_not_matter(tmp_path: Path) -> None:
    first = 'extern "C" int f(const char*name,unsigned long int n);'
    second = '#define X __attribute__((visibility("default")))\nextern "C" X int\nf( char const *  , unsigned long );'

    assert (
        prototypes(tmp_path, first)
        == prototypes(tmp_path, second)
        == {"f": "int f(const char *, unsigned long)"}
    )


def test_a_function_declared_twice_counts_once_where_it_came_first(tmp_path: Path) -> None:
    text = 'extern "C" void f(void);'

    assert declared_functions(headers(tmp_path, b=text, a=f'#include "b.h"\n{text}')) == (
        Function("f", "void f(void)", "b.h"),
    )


def test_standard_types_without_a_compiler(tmp_path: Path) -> None:
    text = "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n"
    text += 'extern "C" size_t f(uint64_t, intptr_t, ptrdiff_t, bool, int8_t *p = NULL);'

    assert prototypes(tmp_path, text) == {"f": "size_t f(uint64_t, intptr_t, ptrdiff_t, bool, int8_t *)"}


def test_nothing_of_the_machine_is_read(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="do not parse") as error:
        prototypes(tmp_path, "#include <stdio.h>\n")

    assert "'stdio.h' file not found" in str(error.value)


def test_a_folder_with_a_hostile_name(tmp_path: Path) -> None:
    folder = tmp_path / "Zoë Müller's #1 & Söhne"
    folder.mkdir()

    assert prototypes(folder, 'extern "C" void f(void);') == {"f": "void f(void)"}


@pytest.mark.parametrize("text", ["void f(;", "unknown_t f(void);", '#include "absent.h"', "#error no"])
def test_headers_that_do_not_parse(text: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="do not parse"):
        prototypes(tmp_path, text)


def test_no_headers(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no header to read"):
        declared_functions(tmp_path)


def test_crossing() -> None:
    functions = [Function(name, f"void {name}(void)", "a.h") for name in ("both", "gone", "another")]
    exports = [Export("hidden"), Export("both", version="V"), Export("_Z3runv"), Export("?run@@YAXXZ")]
    library = SharedLibrary("liba.so.1", "x64", tuple(sorted(exports)))

    crossing = cross(functions, library)

    assert crossing.linkable == (Export("both", version="V"),)
    assert crossing.declared_only == (
        LeftOut("another", "declared in a.h, but liba.so.1 does not export it"),
        LeftOut("gone", "declared in a.h, but liba.so.1 does not export it"),
    )
    assert crossing.exported_only == (
        LeftOut("?run@@YAXXZ", "C++ internals of the loader"),
        LeftOut("_Z3runv", "C++ internals of the loader"),
        LeftOut("hidden", "no shipped header declares it"),
    )
    assert [export.name for export in stub_exports(library)] == ["both", "hidden"]
    assert is_cxx("_ZTV1A")
    assert not is_cxx("zeInit")


def test_headers_and_loader_of_different_things() -> None:
    with pytest.raises(BuildError, match="do not belong together"):
        cross([Function("f", "void f(void)", "a.h")], SharedLibrary("libb.so", "x64", (Export("g"),)))
