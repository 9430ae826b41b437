"""The command `doctor`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from .. import __version__
from .._errors import XpuDevError
from .._output import print_json
from .._shells import SHELLS
from .checks import AUDIENCES, CHECKS, Check, examined
from .findings import BROKEN, NOT_APPLICABLE, WARNING, Finding
from .machine import Machine, this_machine
from .messages import MESSAGES, explanations

EXAMPLES = """\
examples:
  xpu-dev doctor --for triton                what keeps Triton from working here
  xpu-dev doctor --json                      for programs; paste either form into a bug report
  xpu-dev doctor --smoke                     then also run kernels
  xpu-dev doctor --explain "LNK1181: cannot open input file 'ze_loader.lib'"

Nothing is changed. The exit code is 1 when something is broken."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--for", dest="audience", choices=AUDIENCES, help="only what matters for this")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--verbose", action="store_true", help="tell the details of what is well, too")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--smoke", action="store_true", help="also run the smoke test")
    other.add_argument(
        "--fix-env", metavar="SHELL", choices=SHELLS, help="print what `env` would, for this shell"
    )
    other.add_argument(
        "--explain", metavar="MESSAGE", help="tell what an error message means and run its checks"
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine the machine; return 1 when something is broken."""
    if arguments.fix_env:
        if arguments.json:
            raise XpuDevError("--json does not go with --fix-env, which prints shell commands")
        from .._cli import main

        return main(["env", "--shell", arguments.fix_env])
    machine = this_machine()
    if arguments.explain is not None:
        if not arguments.explain.strip():
            raise XpuDevError("--explain needs the words of a message", found=repr(arguments.explain))
        return _explain(machine, arguments.explain, arguments.json)
    results = list(examined(machine, arguments.audience))
    broken = any(finding.verdict == BROKEN for _, finding in results)
    if not arguments.json:
        _print_report(machine, results, arguments.verbose)
        return max(int(broken), _run_smoke() if arguments.smoke else 0)
    data: dict[str, object] = {
        "about": _about(machine),
        "checks": [_as_data(machine, check, finding) for check, finding in results],
    }
    if arguments.smoke:
        code, data["smoke"] = _smoke_data()
        broken = broken or code != 0
    print_json(data)
    return int(broken)


def _about(machine: Machine) -> dict[str, str]:
    """Return what a bug report has to say about the machine."""
    return {
        "xpu-dev": __version__,
        "python": f"{machine.python_version} {platform.python_implementation()} {platform.machine()}",
        "system": platform.platform(),
        "prefix": machine.short(str(machine.prefix)),
    }


def _print_report(machine: Machine, results: list[tuple[Check, Finding]], verbose: bool) -> None:
    for name, value in _about(machine).items():
        print(f"{name}: {value}")
    for check, finding in results:
        if finding.verdict != NOT_APPLICABLE or verbose:
            _print(machine, check, finding, verbose)
    skipped = [check.name for check, finding in results if finding.verdict == NOT_APPLICABLE]
    if skipped and not verbose:
        print(f"not applicable here: {', '.join(skipped)}")


def _print(machine: Machine, check: Check, finding: Finding, verbose: bool) -> None:
    print(machine.short(f"{finding.verdict:8} {check.name}: {finding.found}"))
    if finding.wanted:
        print(machine.short(f"         wanted: {finding.wanted}"))
    if finding.fix:
        print(machine.short(f"         do this: {finding.fix}"))
    if verbose or finding.verdict in (BROKEN, WARNING):
        for detail in finding.details:
            print(machine.short(f"         - {detail}"))


def _as_data(machine: Machine, check: Check, finding: Finding) -> dict[str, object]:
    return {
        "check": check.name,
        "for": list(check.audiences),
        "verdict": finding.verdict,
        "found": machine.short(finding.found),
        "wanted": machine.short(finding.wanted),
        "fix": machine.short(finding.fix),
        "details": [machine.short(detail) for detail in finding.details],
    }


def _explain(machine: Machine, text: str, as_json: bool) -> int:
    """Tell what a message means, and what its checks find here; return 1 when one of them is broken."""
    found = explanations(text)
    if not found:
        raise XpuDevError(
            "no explanation of this message",
            wanted="; ".join(message.text for message in MESSAGES),
            fix="run xpu-dev doctor, and report the message with its output",
        )
    names = dict.fromkeys(name for message in found for name in message.checks)
    results = [(check, check.run(machine)) for name in names for check in CHECKS if check.name == name]
    if as_json:
        print_json(
            {
                "messages": [message._asdict() for message in found],
                "checks": [_as_data(machine, check, finding) for check, finding in results],
            }
        )
    else:
        for message in found:
            print(f"{message.text}\n  {message.reason}\n  do this: {message.fix}")
        print("What the checks find here:")
        for check, finding in results:
            _print(machine, check, finding, verbose=False)
    return int(any(finding.verdict == BROKEN for _, finding in results))


def _run_smoke() -> int:
    from .._cli import main

    return int(main(["smoke"]) != 0)


def _smoke_data() -> tuple[int, object]:
    """Return exit code and JSON of a smoke test in a process of its own, for it prints."""
    import json
    import subprocess

    command = [sys.executable, "-m", "intel_xpu_runtime_dev", "smoke", "--json"]
    package = Path(__file__).resolve().parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    try:
        return result.returncode, json.loads(result.stdout)
    except ValueError:
        return 1, {"error": result.stderr.decode("utf-8", "replace")}
