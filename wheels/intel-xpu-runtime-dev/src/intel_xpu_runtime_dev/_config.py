"""The command `config`: flags and folders for build tools, in the style of pybind11-config."""

# Makefiles ask this again and again: argparse and json are imported by the questions that need them.
from __future__ import annotations

import os

from ._components import COMPONENTS, WINDOWS, Component, component_named
from ._errors import NotFoundError
from ._sdk import link_library, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    # The words of a command line (printed quoted) or one path or version (printed as it is).
    Answer = tuple[str, ...] | str

EXAMPLES = """\
examples:
  cc -c stub.c $(xpu-dev config --cflags)
  cc -shared -o stub.so stub.o $(xpu-dev config --libs)
  cl stub.c %INCLUDES% /link %LIBS%       with INCLUDES and LIBS from --includes and --libs, --msvc-syntax
  cmake -DLevelZero_DIR="$(xpu-dev config --cmakedir)" ...
  auditwheel repair $(xpu-dev config --auditwheel-args) dist/*.whl

Flags are quoted for the platform's shell, folders are not."""


class Kit:
    """A development kit that was asked about; the search is made when a question needs it."""

    def __init__(self, component: str, msvc: bool) -> None:
        self.component: Component = component_named(component)
        self.msvc = msvc
        self._found: tuple[str, str] | None = None

    def located(self) -> tuple[str, str]:
        """Return the root and the step that found it."""
        if self._found is None:
            attempt = locate(self.component)
            self._found = attempt.place, attempt.via
        return self._found

    def folder(self, below: str) -> str:
        """Return a folder of the kit; raise `NotFoundError` when this kit has none."""
        root, via = self.located()
        path = os.path.normpath(os.path.join(root, below))
        if not os.path.isdir(path):
            raise NotFoundError(
                f"the {self.component.name} development kit has no {below}",
                looked_in=(f"{via}: {root}",),
                fix=f"pip install {self.component.distribution}, whose kit has it",
            )
        return path


def _includes(kit: Kit) -> Answer:
    root, _ = kit.located()
    flag = "/I" if kit.msvc else "-I"
    return tuple(flag + os.path.normpath(os.path.join(root, name)) for name in kit.component.include_folders)


def _ldflags(kit: Kit) -> Answer:
    folder, _ = link_library(kit.component, kit.located()[0]) or ("", "")
    return (f"/LIBPATH:{folder}",) if kit.msvc else (f"-L{folder}",)


def _libs(kit: Kit) -> Answer:
    folder, library = link_library(kit.component, kit.located()[0]) or ("", "")
    return (f"/LIBPATH:{folder}", f"{library}.lib") if kit.msvc else (f"-L{folder}", f"-l{library}")


def _root(kit: Kit) -> Answer:
    return kit.located()[0]


def _cmakedir(kit: Kit) -> Answer:
    root, _ = kit.located()
    # Where Unified Runtime's wheel has it: CMake's own place would make too long a path on Windows.
    if os.path.isfile(os.path.join(root, "cmake", f"{kit.component.cmake_name}-config.cmake")):
        return kit.folder("cmake")
    return kit.folder(f"lib/cmake/{kit.component.cmake_name}")


def _pkgconfigdir(kit: Kit) -> Answer:
    return kit.folder("lib/pkgconfig")


def _version(kit: Kit) -> Answer:
    from ._results import sdk_at

    version = sdk_at(kit.component, *kit.located()).version
    if version is None:
        raise NotFoundError(
            f"the {kit.component.name} development kit does not tell its version",
            looked_in=(kit.located()[0],),
        )
    return version


def _auditwheel_args(kit: Kit) -> Answer:
    return tuple(word for soname in kit.component.sonames for word in ("--exclude", soname))


def _delvewheel_args(kit: Kit) -> Answer:
    return tuple(word for dll in kit.component.dlls for word in ("--exclude", dll))


QUESTIONS: dict[str, tuple[Callable[[Kit], Answer], str]] = {
    "--includes": (_includes, "flags for the include folders"),
    "--cflags": (_includes, "the same, as pkg-config calls it"),
    "--ldflags": (_ldflags, "flags for the library folder"),
    "--libs": (_libs, "flags for the library folder and the library"),
    "--root": (_root, "the folder that has include and lib"),
    "--cmakedir": (_cmakedir, "the folder of the CMake package, for <name>_DIR"),
    "--pkgconfigdir": (_pkgconfigdir, "the folder of the .pc files, for PKG_CONFIG_PATH"),
    "--version": (_version, "the version of the development kit"),
    "--auditwheel-args": (_auditwheel_args, "arguments that keep the loader out of a Linux wheel"),
    "--delvewheel-args": (_delvewheel_args, "arguments that keep the loader out of a Windows wheel"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    questions = parser.add_argument_group("what to print, one or more")
    for flag, (_, purpose) in QUESTIONS.items():
        questions.add_argument(flag, dest="asked", action="append_const", const=flag, help=purpose)
    parser.add_argument("--component", choices=COMPONENTS, default="level-zero", help="default: level-zero")
    parser.add_argument("--msvc-syntax", action="store_true", help="flags as cl and link take them")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing quoted")
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the answers."""
    if not arguments.asked:
        arguments.parser.error("nothing asked: give --includes, --libs or another option of what to print")
    kit = Kit(arguments.component, arguments.msvc_syntax)
    if arguments.json:
        from ._output import print_json

        print_json({flag[2:]: QUESTIONS[flag][0](kit) for flag in arguments.asked})
    else:
        _print(kit, arguments.asked)
    return 0


def answered(words: Sequence[str]) -> bool:
    """Print the answers to plain questions and return True; False when argparse has to look at the words."""
    asked = []
    component, msvc = "level-zero", False
    rest = iter(words)
    for word in rest:
        if word in QUESTIONS:
            asked.append(word)
        elif word == "--msvc-syntax":
            msvc = True
        elif word == "--component":
            component = next(rest, "")
        else:
            return False
    if not asked or component not in COMPONENTS:
        return False
    _print(Kit(component, msvc), asked)
    return True


def _print(kit: Kit, asked: Sequence[str]) -> None:
    words: list[str] = []
    for flag in asked:
        answer = QUESTIONS[flag][0](kit)
        words += [answer] if isinstance(answer, str) else map(_quoted, answer)
    print(" ".join(words))


def _quoted(word: str) -> str:
    """Quote a flag for the platform's shell when it needs it."""
    if word.isascii() and word.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum():
        return word
    if WINDOWS:
        return f'"{word}"' if any(character in word for character in " &()^;,='!%\t") else word
    import shlex

    return shlex.quote(word)
