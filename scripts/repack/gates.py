"""What every wheel must pass before it reaches the output folder."""

from __future__ import annotations

import contextlib
import io
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from functools import cached_property
from itertools import combinations
from pathlib import Path, PurePosixPath

from auditwheel.error import NonPlatformWheelError
from auditwheel.wheel_abi import analyze_wheel_abi
from auditwheel.wheeltools import get_wheel_architecture, get_wheel_libc
from check_wheel_contents.checker import WheelChecker
from check_wheel_contents.checks import Check, FailedCheck
from check_wheel_contents.contents import WheelContents
from packaging.utils import parse_wheel_filename
from twine.commands.check import check as twine_check
from twine.exceptions import TwineException

from .catalogue import PLATFORMS, Platform
from .errors import BuildError
from .neighbours import Neighbour, installed_path, neighbours, owned_files
from .transfer import UnreachableError

# As many faults as a screen can hold.
MOST_TOLD = 20
# That of intel-sycl-rt: where its wheel can be installed on Windows, ours can.
LONGEST_PATH = 88
# The dynamic loader refuses the link stubs, so they may lie in a wheel; nothing else that is executable may, but
# for the launcher's extension, which is all that its wheel is for.
LAUNCHER = re.compile(r"intel_xpu_triton_launcher/_launcher\.(abi3\.so|pyd)")
LINK_STUB = re.compile(r"(level_zero|unified_runtime)_devel/lib/lib\w+_loader\.so")
EXECUTABLE_MAGIC = (b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
LICENCE_NAME = re.compile(r"licen[cs]e|copying|copyright|notice|eula|third-party", re.IGNORECASE)


@dataclass(frozen=True)
class Wheel:
    """A wheel and what its name and its archive say."""

    path: Path

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.name

    @cached_property
    def tags(self) -> frozenset[str]:
        """The platform tags."""
        return frozenset(tag.platform for tag in parse_wheel_filename(self.name)[3])

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """The platforms it can be installed on."""
        if "any" in self.tags:
            return PLATFORMS
        return ("win_amd64",) if "win_amd64" in self.tags else ("linux_x86_64",)

    @cached_property
    def members(self) -> list[zipfile.ZipInfo]:
        """The members of the archive."""
        with zipfile.ZipFile(self.path) as archive:
            return archive.infolist()

    def read(self, member: str, size: int = -1) -> bytes:
        """Return a member's bytes, or the first ones of them."""
        with zipfile.ZipFile(self.path) as archive, archive.open(member) as file:
            return file.read(size)


Gate = Callable[[Sequence[Wheel]], Iterator[str]]


def check_wheels(paths: Sequence[Path]) -> None:
    """Run every gate over the wheels; BuildError with all that is wrong."""
    wheels = [Wheel(path) for path in paths]
    problems = [f"{name}: {problem}" for name, gate in GATES.items() for problem in gate(wheels)]
    if problems:
        told = problems[:MOST_TOLD]
        if len(problems) > MOST_TOLD:
            told.append(f"and {len(problems) - MOST_TOLD} more")
        raise BuildError(
            f"{len(problems)} faults in the wheels; none is published",
            wanted=f"wheels that pass: {', '.join(GATES)}",
            found="\n    ".join(told),
        )


def _twine(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                failed = twine_check([str(wheel.path)], strict=True)
        except TwineException as error:
            yield f"{wheel.name}: {error}"
            continue
        if failed:
            yield f"{wheel.name}: {' '.join(said.getvalue().split())}"


def _wheel_contents(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        failures = WheelChecker().check_contents(WheelContents.from_wheel(wheel.path))
        yield from (failure.show(wheel.name) for failure in failures if not _is_overlay(failure))


def _is_overlay(failure: FailedCheck) -> bool:
    """Return whether a duplicate is what Triton needs on Windows: a file of the SDK in `Library` once more."""
    if failure.check is not Check.W002 or len(failure.args) != 2:
        return False
    package, overlay = failure.args
    return bool(package == re.sub(r"[^/]+\.data/data/Library/", "level_zero_devel/", overlay))


def _auditwheel(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        if wheel.platforms != ("linux_x86_64",):
            continue
        try:
            found = analyze_wheel_abi(
                get_wheel_libc(wheel.name),
                get_wheel_architecture(wheel.name),
                wheel.path,
                frozenset(),
                disable_isa_ext_check=False,
                allow_graft=False,
            )
        except NonPlatformWheelError as error:
            yield f"{wheel.name}: {error}"
            continue
        policy = found.overall_policy
        if wheel.tags != {policy.name, *policy.aliases}:
            yield f"{wheel.name}: consistent with {policy.name}"
        if libraries := found.external_refs[found.policies.lowest.name].libs:
            yield f"{wheel.name}: needs {', '.join(sorted(libraries))}"


def _delvewheel(wheels: Sequence[Wheel]) -> Iterator[str]:
    paths = [str(wheel.path) for wheel in wheels if wheel.platforms == ("win_amd64",)]
    if not paths:
        return
    command = [sys.executable, "-m", "delvewheel", "show", "--analyze-existing", *paths]
    result = subprocess.run(command, capture_output=True, text=True)
    vendored = re.findall(r"will be copied into the wheel\.\n((?: +\S.*\n)+)", result.stdout)
    if result.returncode or len(vendored) != len(paths):
        yield f"delvewheel failed: {(result.stderr or result.stdout).strip().splitlines()[-1]}"
    yield from (f"would vendor {' '.join(dlls.split())}" for dlls in vendored if dlls.strip() != "None")


def _binaries(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        for member in wheel.members:
            executable = wheel.read(member.filename, 4).startswith(EXECUTABLE_MAGIC)
            stub = LINK_STUB.fullmatch(member.filename) and wheel.platforms == ("linux_x86_64",)
            allowed = stub or LAUNCHER.fullmatch(member.filename)
            if (executable or member.filename.lower().endswith((".dll", ".pyd", ".exe"))) and not allowed:
                yield f"{wheel.name}: holds the program or library {member.filename}"


def _licences(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        (metadata,) = [
            each.filename for each in wheel.members if each.filename.endswith(".dist-info/METADATA")
        ]
        folder = metadata.removesuffix("METADATA") + "licenses/"
        headers = Parser().parsestr(wheel.read(metadata).decode("utf-8"), headersonly=True)
        listed = {folder + name for name in headers.get_all("License-File", [])}
        if not headers["License-Expression"] or not listed:
            yield f"{wheel.name}: METADATA names no licence"
        names = {member.filename for member in wheel.members}
        yield from (f"{wheel.name}: there is no {name}" for name in sorted(listed - names))
        yield from (
            f"{wheel.name}: unlisted licence file {name}"
            for name in sorted(names - listed)
            if name.startswith(folder) or LICENCE_NAME.search(PurePosixPath(name).name)
        )


def _shared_files(wheels: Sequence[Wheel]) -> Iterator[str]:
    for platform in PLATFORMS:
        here = [wheel for wheel in wheels if platform in wheel.platforms]
        owners = _owners(platform) if here else {}
        places = {wheel: {installed_path(each.filename).lower() for each in wheel.members} for wheel in here}
        for wheel, files in places.items():
            yield from (
                f"{wheel.name}: {file} is also in {owners[file]}" for file in sorted(files & owners.keys())
            )
        for one, other in combinations(here, 2):
            if _distribution(one) != _distribution(other) and (shared := places[one] & places[other]):
                yield f"{one.name}: {min(shared)} is also in {other.name}"


def _owners(platform: Platform) -> Mapping[str, Neighbour]:
    """Return who owns which file; where the package index cannot be reached, nobody, and a loud line says so.

    A build is then as good as the sources that it could reach, as with a version that is skipped.
    """
    try:
        return owned_files(neighbours(platform))
    except UnreachableError as error:
        reason = str(error).removeprefix("error: ")
        print(f"NOT CHECKED for files of Intel's wheels ({platform}): {reason}", file=sys.stderr, flush=True)
        return {}


def _distribution(wheel: Wheel) -> str:
    return parse_wheel_filename(wheel.name)[0]


def _path_lengths(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        for path in (installed_path(member.filename) for member in wheel.members):
            if len(path) > LONGEST_PATH:
                yield f"{wheel.name}: {path} has {len(path)} characters, {LONGEST_PATH} are allowed"


def _modes(wheels: Sequence[Wheel]) -> Iterator[str]:
    for wheel in wheels:
        for member in wheel.members:
            mode = member.external_attr >> 16
            if mode != stat.S_IFREG | 0o644:
                yield f"{wheel.name}: {member.filename} has the mode {stat.filemode(mode)}, not -rw-r--r--"


GATES: dict[str, Gate] = {
    "twine check --strict": _twine,
    "check-wheel-contents": _wheel_contents,
    "auditwheel show": _auditwheel,
    "delvewheel show": _delvewheel,
    "no program or DLL": _binaries,
    "licence files": _licences,
    "no file of another wheel": _shared_files,
    "path lengths": _path_lengths,
    "modes": _modes,
}
