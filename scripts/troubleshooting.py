#!/usr/bin/env python3
"""Make docs/troubleshooting.md from the messages and checks of `xpu-dev doctor`."""

from __future__ import annotations

import sys
from pathlib import Path

from intel_xpu_runtime_dev.doctor.checks import CHECKS
from intel_xpu_runtime_dev.doctor.messages import MESSAGES, Message
from repack.errors import reported

PAGE = Path(__file__).resolve().parent.parent / "docs" / "troubleshooting.md"
HEAD = """\
# Troubleshooting

<!-- Made by `python3 scripts/dev.py troubleshooting`; change the tables in intel_xpu_runtime_dev/doctor. -->

`xpu-dev doctor` looks for all of this by itself; `xpu-dev doctor --explain "MESSAGE"` finds the row for a message and
runs its checks on your machine. Paste the output of `xpu-dev doctor --json` into a bug report.
"""


def page() -> str:
    """Return the page."""
    parts = [
        HEAD,
        "## Messages\n",
        *map(_section, MESSAGES),
        "## Checks\n",
        "| check | for | what it looks at |",
    ]
    parts.append("|---|---|---|")
    for check in CHECKS:
        purpose = (check.run.__doc__ or "").splitlines()[0]
        parts.append(f"| `{check.name}` | {', '.join(check.audiences)} | {purpose} |")
    return "\n".join(parts) + "\n"


def _section(message: Message) -> str:
    checks = ", ".join(f"`{name}`" for name in message.checks)
    return f"### `{message.text}`\n\n{message.reason}\n\n**Do this:** {message.fix}\n\nChecks: {checks}\n"


@reported
def main(arguments: list[str]) -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
