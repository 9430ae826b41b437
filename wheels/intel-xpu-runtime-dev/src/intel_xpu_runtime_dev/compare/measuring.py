"""All measurements of a run, as the object that `compare --json` prints."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from .._errors import XpuDevError
from .._files import is_file
from ..smoke import shipped
from .building import Built, compile_host
from .kits import Kits
from .layers import HOSTS, LAYERS, Layer
from .session import Program, Questioned, Timed, ask, first_right_result, spread

# Sub-group of the kernel, which only matters in that all layers get the same.
SUB_GROUP = 16
# Of SPIR-V's OpExecutionMode.
MODE_SUBGROUP_SIZE = 35
NO_SUB_GROUP = 7


class Plan(NamedTuple):
    """How much is measured."""

    repeats: int
    launches: int
    cold_starts: int
    rounds: int


SHORT = Plan(repeats=5, launches=500, cold_starts=3, rounds=200)
FULL = Plan(repeats=15, launches=2000, cold_starts=9, rounds=1000)


class Bench:
    """The hosts of this machine and what is known of the layers so far."""

    def __init__(
        self, kits: Kits, folder: Path, gpu_launcher: Sequence[str], say: Callable[[str], None]
    ) -> None:
        self._kits = kits
        self._folder = folder
        self._gpu_launcher = tuple(gpu_launcher)
        self._say = say
        self._built: dict[str, Built] = {}
        self._problems: dict[str, str] = {}

    def compile(self) -> dict[str, Any]:
        """Compile every host that can be; return what each took."""
        report: dict[str, Any] = {}
        folder = self._folder / "hosts"
        folder.mkdir()
        for name, host in HOSTS.items():
            self._say(f"compiling {host.source}")
            try:
                built = compile_host(host, self._kits, folder)
            except XpuDevError as error:
                self._problems[name] = str(error)
                report[name] = {"source": host.source, "reason": str(error)}
                continue
            self._built[name] = built
            report[name] = {
                "source": host.source,
                "seconds": built.seconds,
                "peak_bytes": built.peak_bytes,
                "release": built.release,
            }
        return report

    def ask(self, layer: Layer) -> Questioned:
        """Let a layer answer the questions."""
        self._say(f"asking {layer.title}")
        if layer.host in self._problems:
            return Questioned("", {}, self._problems[layer.host])
        return ask(self.program(layer), layer.adapter)

    def program(self, layer: Layer) -> Program:
        """Return how to start the host of a layer, in a folder with the kernels for its device."""
        folder = self._folder / layer.name
        if not folder.exists():
            folder.mkdir()
            write_kernels(folder, "gpu" if layer.on_level_zero else "cpu")
        launcher = self._gpu_launcher if layer.on_level_zero else ()
        command = (*launcher, str(self._built[layer.host].program))
        return Program(command, folder, {**self._kits.environment(), **layer.variables})

    def can_hold(self, layer: Layer) -> bool:
        """Return whether the device can be kept from running what is submitted: OpenCL's, whatever feeds its queue."""
        return not layer.on_level_zero and "opencl" in self._kits.found

    def order(self, rounds: int) -> dict[str, Any]:
        """Return how many rounds go wrong with each way of waiting."""
        self._say(f"order, {rounds} rounds each")
        if "order" in self._problems:
            return {"reason": self._problems["order"], "rows": []}
        (layer,) = (layer for layer in LAYERS if layer.name == "sycl-compiler")
        program = self.program(layer)._replace(command=(str(self._built["order"].program),))
        rows: list[dict[str, Any]] = []
        reason = ""
        with program.start(str(rounds)) as child:
            for event in child.events():
                if event.kind == "order":
                    numbers = {name: int(value) for name, value in event.fields.items() if name != "launcher"}
                    rows.append({"launcher": event.fields["launcher"], **numbers})
                elif event.kind == "failed":
                    reason = event.fields["detail"]
            reason = reason or child.ending()
        return {"reason": reason, "rows": rows}


def measure(
    bench: Bench, plan: Plan, others: Sequence[Kits], kits: Kits, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return everything that a run measures."""
    hosts = bench.compile()
    layers: list[dict[str, Any]] = []
    for layer in LAYERS:
        questioned = bench.ask(layer)
        answers = {name: answer._asdict() for name, answer in questioned.answers.items()}
        launch = questioned.answers["launch"].verdict if "launch" in questioned.answers else ""
        layers.append(
            {
                "name": layer.name,
                "title": layer.title,
                "host": layer.host,
                "baseline": layer.baseline,
                "device": questioned.device,
                "reason": questioned.reason,
                "answers": answers,
                "right": launch == "yes",
                "executes": launch in ("yes", "no"),
            }
        )
    there = [layer for layer, row in zip(LAYERS, layers) if not row["reason"]]
    cold = _cold_starts(bench, [layer for layer in there if _row(layers, layer)["right"]], plan, say)
    launches = _launches(bench, there, plan, say)
    for row in layers:
        row["cold"] = cold.get(row["name"], {})
        row["launches"] = launches.get(row["name"], {})
    _add_ratios(layers)
    return {
        "hosts": hosts,
        "layers": layers,
        "order": {**bench.order(plan.rounds), "level_zero": _order_on_level_zero(layers)},
        "compatibility": _compatibility([kits, *others], folder, say) if others else [],
    }


def _order_on_level_zero(layers: list[dict[str, Any]]) -> str:
    """Return why the order is shown on OpenCL's device only."""
    if any(row["executes"] for row in layers if row["baseline"] == "level-zero"):
        return "the test launches on OpenCL's device only"
    return "needs a device that executes: wrong numbers cannot come from launches that change nothing"


def _row(layers: list[dict[str, Any]], layer: Layer) -> dict[str, Any]:
    return next(row for row in layers if row["name"] == layer.name)


def _cold_starts(
    bench: Bench, layers: Sequence[Layer], plan: Plan, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return the spread of the time to the first right result, layers and forms taking turns."""
    say(f"cold starts, {plan.cold_starts} each")
    seconds: dict[tuple[str, str], list[float]] = {}
    for _ in range(plan.cold_starts):
        for layer in layers:
            for form in ("spirv", "native"):
                if form == "native" and not is_file(bench.program(layer).folder / "native.bin"):
                    continue
                seconds.setdefault((layer.name, form), []).append(
                    first_right_result(bench.program(layer), layer.adapter, form)
                )
    report: dict[str, Any] = {}
    for (name, form), values in seconds.items():
        report.setdefault(name, {})[form] = spread(values)._asdict()
    return report


def _launches(
    bench: Bench, layers: Sequence[Layer], plan: Plan, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return the spread of the time of a launch, one pinned process a layer, all taking turns."""
    say(f"launches, {plan.repeats} x {plan.launches}")
    processor = max(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else None
    report: dict[str, Any] = {}
    timed: dict[str, tuple[Timed, str]] = {}
    seconds: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        for layer in layers:
            submit = "held" if bench.can_hold(layer) else "submit"
            try:
                session = stack.enter_context(Timed(bench.program(layer), layer.adapter, processor))
            except XpuDevError as error:
                report[layer.name] = {"reason": str(error)}
                continue
            timed[layer.name] = (session, submit)
            seconds[layer.name] = {"submit": [], "finish": []}
        for repeat in range(plan.repeats):
            # Each layer comes first in turn.
            names = list(timed)
            first = repeat % max(1, len(names))
            for name in names[first:] + names[:first]:
                session, submit = timed[name]
                try:
                    seconds[name]["submit"].append(session.seconds(submit, plan.launches))
                    seconds[name]["finish"].append(session.seconds("finish", plan.launches))
                except XpuDevError as error:
                    report[name] = {"reason": str(error)}
                    del timed[name]
        for name, (session, submit) in timed.items():
            report[name] = {
                "held": submit == "held",
                "right_afterwards": session.right().verdict == "yes",
                **{what: spread(values)._asdict() for what, values in seconds[name].items()},
                "series": seconds[name],
            }
    return report


def _add_ratios(layers: list[dict[str, Any]]) -> None:
    """Divide each layer's times by those of its baseline on the same device, repeat by repeat."""
    series = {row["name"]: row["launches"].pop("series") for row in layers if "series" in row["launches"]}
    devices = {row["name"]: row["device"] for row in layers}
    for row in layers:
        base = series.get(row["baseline"])
        if row["name"] not in series or not base or devices[row["name"]] != devices[row["baseline"]]:
            continue
        for what in ("submit", "finish"):
            pairs = zip(series[row["name"]][what], base[what])
            row["launches"][f"{what}_ratio"] = spread([own / other for own, other in pairs])._asdict()


def _compatibility(
    releases: Sequence[Kits], folder: Path, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Build hosts with each release, start each with each release's runtime."""
    rows = []
    for index, built_with in enumerate(releases):
        for layer in LAYERS:
            if layer.name not in ("ur-opencl", "sycl-compiler", "opencl"):
                continue
            work = folder / f"release{index}-{layer.name}"
            work.mkdir()
            write_kernels(work, "cpu")
            release = _release(built_with)
            say(f"{layer.title} built with {release}")
            try:
                built = compile_host(HOSTS[layer.host], built_with, work)
            except XpuDevError as error:
                rows.append(_compatible(layer, release, release, False, str(error)))
                continue
            for runs_on in releases:
                environment = {**runs_on.environment(), **layer.variables}
                program = Program((str(built.program),), work, environment)
                asked = ask(program, layer.adapter)
                launch = asked.answers.get("launch")
                right = launch is not None and launch.verdict == "yes"
                detail = launch.detail if launch else asked.reason
                # The file names of a run say nothing later.
                detail = detail.replace(f"{built.program}: ", "")
                rows.append(_compatible(layer, release, _release(runs_on), right, detail))
    return rows


def _compatible(layer: Layer, built: str, runs_on: str, right: bool, detail: str) -> dict[str, Any]:
    return {"layer": layer.name, "built_with": built, "runs_on": runs_on, "right": right, "detail": detail}


def _release(kits: Kits) -> str:
    known: Mapping[str, Any] = kits.found
    return next(
        (kits.found[name].release for name in ("unified-runtime", "sycl") if name in known), "unknown"
    )


def write_kernels(folder: Path, device_type: str) -> None:
    """Write the kernel, and the same one with a sub-group size that no device has."""
    spirv = shipped.kernel("add", SUB_GROUP, device_type).spirv
    size = struct.pack("<2I", MODE_SUBGROUP_SIZE, SUB_GROUP)
    if spirv.count(size) != 1:
        raise XpuDevError(
            "the shipped kernel is not what it was", found=f"{spirv.count(size)} sub-group sizes"
        )
    (folder / "kernel.spv").write_bytes(spirv)
    (folder / "spilling.spv").write_bytes(shipped.kernel("matmul", SUB_GROUP, device_type).spirv)
    (folder / "bad.spv").write_bytes(
        spirv.replace(size, struct.pack("<2I", MODE_SUBGROUP_SIZE, NO_SUB_GROUP))
    )
