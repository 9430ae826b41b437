"""What the readers of PE and ELF files say: the format and the imported functions."""

from __future__ import annotations

from typing import NamedTuple

from ._window import MalformedError, Window

MOST_IMPORTS = 500_000


class Import(NamedTuple):
    """One imported function; `library` is empty where the file does not tie the two together."""

    name: str
    library: str = ""
    # PE: resolved at the first call. ELF: weak, so that a missing one is a null pointer.
    optional: bool = False


class Binary(NamedTuple):
    """A PE or ELF file: `system` is "Windows" or "Linux", `libraries` are those it names."""

    kind: str
    machine: str
    system: str
    libraries: list[str]
    imports: list[Import]


def read_binary(window: Window) -> Binary:
    """Return the imports of a PE or ELF file; raise `MalformedError` for anything else."""
    from ._elf import read_elf
    from ._pe import read_pe

    magic = window.read(0, min(4, window.size))
    if magic == b"\x7fELF":
        return read_elf(window)
    if magic[:2] == b"MZ":
        return read_pe(window)
    raise MalformedError(
        "this is neither a PE nor an ELF file nor a wheel",
        wanted="a Windows or Linux extension module, library or executable, or a .whl",
        found=f"a file of {window.size} bytes that begins with {magic!r}",
    )
