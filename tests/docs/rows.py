"""Where each command of the documents is run: by test_commands.py, by another test, or on a machine that is not here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

ENVIRONMENT_ARRIVES = "python scripts/ci/check_environment.py"


class Here(NamedTuple):
    """Run as written by test_commands.py, in a place that a fixture there makes, by each of the shells.

    `given` says what a reader puts for a word, `then` what is run in the same shell afterwards. Afterwards the output
    holds `says`, and the files `keeps` are those of the working tree.
    """

    place: Literal["environment", "new environment", "repository"]
    says: str = ""
    codes: tuple[int, ...] = (0,)
    shells: tuple[str, ...] = ("bash",)
    given: Mapping[str, str] = {}
    then: str = ""
    keeps: tuple[str, ...] = ()
    nightly: bool = False
    from_index: bool = False


class Elsewhere(NamedTuple):
    """Run by another test, or fixture, which has these words of the command in its text."""

    test: str
    words: tuple[str, ...]


class Workflow(NamedTuple):
    """Needs real Windows, GitHub, or the whole of CI: run by a step of a workflow, or by the script that it starts."""

    file: str
    run: str = ""
    script: str = ""


INSTALLED = "Successfully installed"
DOCTOR = (0, 1)  # 1: something on the machine is broken, which is doctor's to say

ROWS: dict[str, Here | Elsewhere | Workflow] = {
    # pip
    "pip install intel-xpu-runtime-dev": Here("new environment", INSTALLED),
    'pip install "intel-xpu-runtime-dev[cpu]"': Here("new environment", INSTALLED),
    'pip install "intel-xpu-runtime-dev[triton]"': Here("new environment", "intel-xpu-triton-launcher"),
    "pip install level-zero-devel": Here("new environment", INSTALLED),
    "pip install unified-runtime-devel==2026.2.0 intel-cmplr-lib-ur==2026.2.0": Here(
        "new environment", INSTALLED
    ),
    'pip install "intel-sycl-rt==2025.*"': Here(
        "new environment", "intel-sycl-rt-2025.", nightly=True, from_index=True
    ),
    # a user's shell
    "python your_script.py": Here("environment", "variables: none"),
    "xpu-dev run -- python your_script.py": Here("environment", "variables: set"),
    "xpu-dev run -- python train.py": Here("environment", "variables: set"),
    "xpu-dev run --": Here("environment", "variables: set", given={"--": "-- python train.py"}),
    "xpu-dev run COMMAND": Here("environment", "variables: set", given={"COMMAND": "python your_script.py"}),
    "xpu-dev run -- meson setup build": Here("environment", "Run-time dependency level-zero found: YES"),
    "xpu-dev find": Here("environment", "level-zero development kit 1.32.0"),
    "xpu-dev find --steps": Here("environment", "(wheel level-zero-devel)"),
    "xpu-dev smoke": Here("environment", "matmul: right on"),
    "xpu-dev run --triton-driver ur -- python script.py": Elsewhere(
        "tests/triton_driver/test_requested.py::test_without_triton_nothing_is_imported", ('"ur", "--"',)
    ),
    "xpu-dev run --triton-driver ur:cpu -- pytest tests": Elsewhere(
        "tests/triton_driver/test_requested.py::test_an_unmodified_script_runs_through_unified_runtime",
        ('"--triton-driver", "ur:cpu", "--"',),
    ),
    "xpu-dev smoke --triton": Here("environment", "right"),
    "xpu-dev compare": Here("environment", "opencl"),
    "xpu-dev api": Here("environment", "zeInitDrivers", given={"api": "api zeInitDrivers"}),
    "xpu-dev check dist/*.whl": Here("environment", "level_zero_devel-1.32.0"),
    "xpu-dev check FILE": Here("environment", "ze_loader", given={"FILE": "dist-linux/*.whl"}),
    "xpu-dev api --diff unified-runtime 2026.1.2 2026.2.0": Here("environment", "+ urEventCreateExp"),
    "xpu-dev doctor": Here("environment", "render-nodes", DOCTOR),
    "xpu-dev doctor --json": Here("environment", '"checks"', DOCTOR),
    "xpu-dev doctor --for triton": Here("environment", "triton-level-zero", DOCTOR),
    "xpu-dev doctor --for inductor": Here("environment", "inductor", DOCTOR),
    "xpu-dev doctor --explain \"LNK1181: cannot open input file 'ze_loader.lib'\"": Here(
        "environment", "import library", DOCTOR
    ),
    'xpu-dev doctor --explain "MESSAGE"': Here(
        "environment", "gcc and g++", DOCTOR, given={"MESSAGE": "Failed to find C compiler"}
    ),
    "xpu-dev env": Here("environment", "LEVEL_ZERO_V1_SDK_PATH"),
    "xpu-dev env --unset": Elsewhere(
        "tests/cli/test_shells.py::test_values_arrive_and_the_undo_restores", ("--unset",)
    ),
    'eval "$(xpu-dev env)"': Here("environment", shells=("bash", "zsh"), then=ENVIRONMENT_ARRIVES),
    "xpu-dev env --shell fish | source": Here("environment", shells=("fish",), then=ENVIRONMENT_ARRIVES),
    "xpu-dev env --shell pwsh | Out-String | Invoke-Expression": Workflow("windows.yml"),
    'xpu-dev env --shell cmd > "%TEMP%\\xpu.bat" & call "%TEMP%\\xpu.bat"': Workflow("windows.yml"),
    "xpu-dev config --cmakedir --component unified-runtime": Here(
        "environment", "unified_runtime_devel/cmake"
    ),
    # builds
    '-DLevelZero_DIR="$(xpu-dev config --cmakedir)"': Elsewhere(
        "tests/downstream/test_tools.py::test_cmake_is_told_the_folder", ("-DLevelZero_DIR=", "--cmakedir")
    ),
    "$(shell xpu-dev config --cflags)": Elsewhere(
        "tests/downstream/test_tools.py::test_makefile_with_the_command_line",
        ("$(shell xpu-dev config --cflags)",),
    ),
    "$(shell xpu-dev config --libs)": Elsewhere(
        "tests/downstream/test_tools.py::test_makefile_with_the_command_line",
        ("$(shell xpu-dev config --libs)",),
    ),
    "auditwheel repair $(xpu-dev config --auditwheel-args)": Here(
        "environment", "Fixed-up wheel", given={"args)": "args) dist-linux/*.whl"}
    ),
    "auditwheel repair $(xpu-dev config --auditwheel-args) dist/*.whl": Here(
        "environment", "Fixed-up wheel", given={"dist/": "dist-linux/"}
    ),
    "delvewheel repair $(xpu-dev config --delvewheel-args) dist/*.whl": Here(
        "environment", "dist-windows", given={"dist/": "dist-windows/"}
    ),
    "delvewheel repair $(xpu-dev config --delvewheel-args)": Here(
        "environment", "wheel copied to", given={"args)": "args) dist-windows/*.whl"}
    ),
    "xpu-dev config --delvewheel-args": Here("environment", "--exclude ze_loader.dll"),
    # conda
    "conda create -n xpu -c ./dist/conda -c conda-forge python intel-xpu-runtime-dev": Elsewhere(
        "tests/docs/test_commands.py::test_conda_create", ("conda create",)
    ),
    "conda build recipes/level-zero-devel": Elsewhere(
        "tests/conda/channels.py::build_ours", ("repack.conda",)
    ),
    **{
        f"conda env create -f environments/{name}.yml": Elsewhere(
            "tests/conda/test_environments.py::test_environment_files_solve", ("environments",)
        )
        for name in ("build-extension", "ci", "triton-windows")
    },
    # this repository
    "python3 scripts/dev.py build": Here("repository", "level_zero_devel-1.32.0"),
    "python3 scripts/dev.py conda": Here("repository", "noarch/intel-xpu-runtime-dev"),
    "python3 scripts/dev.py release": Here("repository", "site/simple/index.html"),
    "python3 scripts/dev.py smoke": Here("repository", "matmul: right on"),
    "python3 scripts/dev.py verify dist/*.whl": Here("repository", "win_amd64.whl: identical"),
    "python3 scripts/dev.py update": Here("repository", "level-zero: ", (0, 1)),
    "python3 scripts/dev.py update --check": Here("repository", "level-zero: ", (0, 3)),
    "python3 scripts/dev.py troubleshooting": Here("repository", keeps=("docs/troubleshooting.md",)),
    "python3 scripts/dev.py api-history": Here(
        "repository",
        nightly=True,
        keeps=tuple(
            f"wheels/intel-xpu-runtime-dev/src/intel_xpu_runtime_dev/api/data/{name}.json"
            for name in ("level_zero", "unified_runtime", "parity")
        ),
    ),
    "python3 scripts/dev.py bench": Elsewhere(
        "tests/bench/test_bench.py::test_every_benchmark_runs", ("bench.main(",)
    ),
    "python3 scripts/dev.py bench runtime --json FILE": Elsewhere(
        "tests/compare/test_virtual_gpu.py::test_layers_on_level_zero_answer_and_are_not_said_to_execute",
        ("scripts/bench/runtime.py", "--json"),
    ),
    "python3 scripts/runtime_page.py": Here(
        "repository", keeps=("docs/runtime-choice.md", "docs/runtime-choice.svg")
    ),
    "python3 scripts/dev.py test": Workflow("ci.yml", "bash .ci/run", ".ci/run"),
    "python3 scripts/dev.py test tests/repack/test_elf_symbols.py": Here("repository", " passed"),
    "python3 scripts/dev.py test -m nightly": Workflow("nightly.yml"),
    'export SDK_VERSION=1.32.0 STAGED_TREE="$PWD/build/tree"\n'
    "PYTHONPATH=scripts .venv/bin/python -c \\\n"
    "    \"from repack.stage import *; stage('level-zero', '1.32.0', 'linux_x86_64', Path('build/tree'))\"": Here(
        "repository", then="ls build/tree/lib", says="libze_loader.so"
    ),
    # trust
    "gh attestation verify FILE --repo OWNER/REPOSITORY": Workflow("release.yml", "gh attestation verify"),
}
