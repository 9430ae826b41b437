"""Real binaries for the fuzzers to damage."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from tests.check.linking import LEVEL_ZERO, UNIFIED_RUNTIME, dll, elf, source

# Both classes and both byte orders.
ELF_TRIPLES = ("x86_64-linux-gnu", "x86-linux-gnu", "s390x-linux-gnu", "powerpc-linux-gnueabihf")
LIBRARIES = {"ze_loader.dll": LEVEL_ZERO, "ur_loader.dll": UNIFIED_RUNTIME}


def write_seeds(folder: Path) -> list[Path]:
    """Write one binary of each format, and a wheel of them, into a folder."""
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    seeds = []
    for triple in ELF_TRIPLES:
        seeds.append(
            elf(scratch, triple, source(*LEVEL_ZERO, *UNIFIED_RUNTIME)).rename(folder / f"{triple}.so")
        )
    delayed = "/delayload:ze_loader.dll"
    linked = dll(scratch, "x86_64-pc-windows-msvc", LIBRARIES, delayed, machine="i386:x86-64")
    seeds.append(linked.rename(folder / "x86_64.dll"))
    archive = folder / "seed.whl"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
        for seed in seeds[-2:]:
            wheel.write(seed, seed.name)
    return [*seeds, archive]


if __name__ == "__main__":
    write_seeds(Path(sys.argv[1]))
