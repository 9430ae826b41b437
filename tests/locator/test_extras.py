"""The extras: `cpu` brings Intel's runtime in the release of the headers, whichever that is."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from tests.support import wheels
from tests.support.environments import INTEL_RUNTIME


def metadata(wheel: Path) -> Metadata:
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(member))


@pytest.mark.parametrize("platform", ["win_amd64", "linux_x86_64"])
@pytest.mark.parametrize("release", INTEL_RUNTIME)
def test_cpu_brings_the_release_of_the_headers(release: str, platform: str) -> None:
    told = metadata(wheels.wheel("unified-runtime-devel", release, platform))

    names = ("intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "intel-opencl-rt")
    assert list(map(str, told.requires_dist or [])) == [
        f'{name}=={release}; extra == "cpu"' for name in names
    ]


def test_nothing_of_intels_comes_without_the_extra() -> None:
    (wheel,) = wheels.built().glob("intel_xpu_runtime_dev-*.whl")

    told = [requirement for requirement in metadata(wheel).requires_dist or [] if not requirement.marker]

    assert list(map(str, told)) == ["level-zero-devel", "unified-runtime-devel"]
