"""Compile and link the host, as Triton compiles its own: against the development kit, in two steps."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from .._components import COMPONENTS
from .._errors import XpuDevError
from .._results import SDK
from .compilers import WINDOWS, Compiler

HOSTS = Path(__file__).parent / "hosts"
SOURCES = {"level-zero": "level_zero.c", "unified-runtime": "unified_runtime.c"}

PROBE = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'


class Outcome(NamedTuple):
    """What a compiler did: `output` is its last words, empty when it was content."""

    succeeded: bool
    output: str


class Stub:
    """A host that is about to be compiled in a folder, for this platform or, ahead, for Windows."""

    def __init__(self, sdk: SDK, folder: Path, *, windows: bool = WINDOWS, limit: float = 60.0) -> None:
        self.sdk = sdk
        self.folder = folder
        self.windows = windows
        self.limit = limit
        self.program = folder / ("host.exe" if windows else "host")

    @property
    def distribution(self) -> str:
        """The distribution that ships the headers and the library."""
        return COMPONENTS[self.sdk.component].distribution

    def compile(self, compiler: Compiler) -> Outcome:
        """Compile the host's source to an object file."""
        source = str(HOSTS / SOURCES[self.sdk.component])
        defines = {
            "SMOKE_VERSION": self.sdk.version or "unknown",
            "SMOKE_RELEASE": str(release_number(self.sdk.version)),
            "SMOKE_LIBRARY": self.sdk.libraries[0],
        }
        if compiler.style == "msvc":
            # As C++: ur_api.h is not C for MSVC.
            flags = ["/nologo", "/TP", "/O1", "/c", source, "/Fo" + self._object(compiler)]
            flags += [f"/I{folder}" for folder in self.sdk.include_dirs]
            flags += [f"/D{name}={value}" for name, value in defines.items()]
        else:
            # C23 has the attributes that ur_api.h uses.
            flags = ["-std=gnu2x", "-c", source, "-o", self._object(compiler)]
            flags += [f"-I{folder}" for folder in self.sdk.include_dirs]
            flags += [f"-D{name}={value}" for name, value in defines.items()]
        return self._run(compiler, flags)

    def link(self, compiler: Compiler) -> Outcome:
        """Link the object file with the development kit's library to `program`."""
        library, output = self.sdk.libraries[0], str(self.program)
        if compiler.style == "msvc":
            flags = ["/nologo", self._object(compiler), f"/Fe{output}", "/link"]
            flags += [f"/LIBPATH:{folder}" for folder in self.sdk.library_dirs] + [f"{library}.lib"]
        else:
            flags = [self._object(compiler), "-o", output]
            flags += [f"-L{folder}" for folder in self.sdk.library_dirs] + [f"-l{library}"]
            if not self.windows:
                # Every function is looked up when the program starts: a loader that lacks one is known at once. The
                # runtime's own dependencies are not ours to find.
                flags += ["-ldl", "-Wl,-z,now", "-Wl,--allow-shlib-undefined"]
        return self._run(compiler, flags)

    def works(self, compiler: Compiler) -> Outcome:
        """Compile a program that needs nothing of ours: it tells a broken compiler from a broken development kit."""
        (self.folder / "probe.c").write_text(PROBE)
        flags = (
            ["/nologo", "/c", "probe.c", "/Foprobe.obj"]
            if compiler.style == "msvc"
            else ["-c", "probe.c", "-o", "probe.o"]
        )
        return self._run(compiler, flags)

    def _object(self, compiler: Compiler) -> str:
        return "host.obj" if compiler.style == "msvc" else "host.o"

    def _run(self, compiler: Compiler, flags: list[str]) -> Outcome:
        environment = os.environ if compiler.environment is None else compiler.environment
        try:
            result = subprocess.run(
                [*compiler.command, *flags],
                cwd=self.folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=self.limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise XpuDevError(
                f"{compiler.name} gives no answer within {self.limit:g} s",
                fix="give it more time with --timeout",
            ) from None
        except OSError as error:
            return Outcome(False, f"{compiler.name}: {error.strerror}")
        return Outcome(result.returncode == 0, told(result.stdout.decode(errors="replace")))


def told(output: str) -> str:
    """Return the lines of a compiler's or linker's output that say what is wrong, the first few of them."""
    return wrong_lines(output) or "; ".join(
        [line.strip() for line in output.splitlines() if line.strip()][:3]
    )


def wrong_lines(output: str) -> str:
    """Return the first few lines that tell of an error, "" when none does."""
    pattern = r"\berror\b|cannot find|undefined|not found"
    return "; ".join(
        [line.strip() for line in output.splitlines() if re.search(pattern, line, re.IGNORECASE)][:3]
    )


def release_number(version: str | None) -> int:
    """Return a version as a number that the preprocessor can compare: 20260200 for 2026.2.0."""
    parts = [int(part) for part in re.findall(r"\d+", version or "")[:3]]
    year, minor, patch = [*parts, 0, 0, 0][:3]
    return year * 10000 + minor * 100 + patch
