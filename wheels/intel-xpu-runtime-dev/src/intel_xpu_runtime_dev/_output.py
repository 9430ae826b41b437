"""Print data for programs."""

from __future__ import annotations

import json


def print_json(data: object) -> None:
    """Print JSON in ASCII, which is UTF-8 and what every code page and pipe lets through."""
    print(json.dumps(data, indent=2))
