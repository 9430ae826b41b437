"""Damaged files: whatever they claim, they are read or refused, with nothing else, in bounded time and memory."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from intel_xpu_runtime_dev.check._binary import read_binary
from intel_xpu_runtime_dev.check._wheel import binaries
from intel_xpu_runtime_dev.check._window import MalformedError, Window

from tests.check.seeds import write_seeds
from tests.support.environments import environment

# Values that parsers stumble over, in the widths and byte orders that the formats use.
NUMBERS = (0, 1, 2, 7, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**32, 2**63, 2**64 - 1)
HEADERS = 1024
MOST_MEMORY = 96 << 20

NUMBER = st.builds(
    lambda form, value: struct.pack(form, value & (2 ** (8 * struct.calcsize(form)) - 1)),
    st.sampled_from(["<H", ">H", "<I", ">I", "<Q", ">Q"]),
    st.one_of(st.sampled_from(NUMBERS), st.integers(0, 2**64 - 1)),
)
# Where a change goes: mostly into the headers, where a byte decides about many others.
PLACE = st.one_of(st.integers(0, HEADERS), st.floats(0, 1, exclude_max=True))
CHANGES = st.lists(st.tuples(PLACE, st.one_of(NUMBER, st.binary(min_size=1, max_size=8))), max_size=6)
CUT = st.one_of(st.none(), st.floats(0, 1))


class Seeds(list[bytes]):
    """Whole files, which would drown a report."""

    def __repr__(self) -> str:
        return "seeds"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Seeds:
    return Seeds(path.read_bytes() for path in write_seeds(tmp_path_factory.mktemp("seeds")))


def damaged(data: bytes, changes: list[tuple[int | float, bytes]], cut: float | None) -> bytes:
    result = bytearray(data)
    for place, content in changes:
        at = int(place * len(data)) if isinstance(place, float) else min(place, len(data) - 1)
        result[at : at + len(content)] = content
    return bytes(result if cut is None else result[: int(cut * len(result))])


def read_or_refuse(data: bytes) -> None:
    file = io.BytesIO(data)
    try:
        if data[:2] == b"PK":
            for _, content in binaries(file):
                read_binary(Window(content))
        else:
            read_binary(Window(file))
    except MalformedError:
        pass


FUZZ = settings(
    deadline=5000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def check(seeds: Seeds, which: int, changes: list[tuple[int | float, bytes]], cut: float | None) -> None:
    tracemalloc.start()
    try:
        read_or_refuse(damaged(seeds[which % len(seeds)], changes, cut))
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@settings(FUZZ, max_examples=3000)
@given(which=st.integers(0, 5), changes=CHANGES, cut=CUT)
def test_damaged_binaries(
    seeds: Seeds, which: int, changes: list[tuple[int | float, bytes]], cut: float | None
) -> None:
    check(seeds, which, changes, cut)


@settings(FUZZ, max_examples=500)
@given(
    magic=st.sampled_from([b"", b"MZ", b"\x7fELF", b"PK\x03\x04", b"PK\x05\x06"]),
    content=st.binary(max_size=4096),
)
def test_noise(magic: bytes, content: bytes) -> None:
    read_or_refuse(magic + content)


@pytest.mark.nightly
@settings(FUZZ, max_examples=100_000)
@given(which=st.integers(0, 5), changes=CHANGES, cut=CUT)
def test_many_damaged_binaries(
    seeds: Seeds, which: int, changes: list[tuple[int | float, bytes]], cut: float | None
) -> None:
    check(seeds, which, changes, cut)


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_every_truncation_is_refused_or_read(seeds: Seeds, size: int) -> None:
    for seed in seeds:
        for end in range(0, min(len(seed), 200 * size), size):
            read_or_refuse(seed[:end])


@pytest.mark.nightly
def test_guided_by_coverage(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for seed in write_seeds(tmp_path / "seeds"):
        seed.rename(corpus / seed.name)
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [
            environment("atheris", "atheris==3.0.0"),
            root / "scripts/fuzz/check.py",
            corpus,
            "-runs=100000",
            "-timeout=5",
        ],
        env={**os.environ, "PYTHONPATH": str(root / "wheels/intel-xpu-runtime-dev/src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert "Done 100000 runs" in run.stderr
