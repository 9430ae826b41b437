"""Build hook of the SDK wheels: the tag of the staged tree's platform and, on Windows, files of the prefix.

The tree lies in `sdk/` of the project; `python3 scripts/dev.py build` puts it there, in a copy.
"""

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAGS = {
    "win_amd64": "py3-none-win_amd64",
    # The link stub asks for no symbol of glibc. pip before 20.3 does not know PEP 600's name of the policy.
    "linux_x86_64": "py3-none-manylinux1_x86_64.manylinux_2_5_x86_64",
}


class SdkBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Read the platform off the staged tree; `windows-overlay` in pyproject.toml maps its paths to the prefix."""

    def initialize(self, version: str, build_data: "dict[str, Any]") -> None:
        """Set what pyproject.toml cannot know."""
        manifest = json.loads(Path(self.root, "sdk", "manifest.json").read_text(encoding="utf-8"))
        build_data["pure_python"] = False
        build_data["tag"] = TAGS[manifest["platform"]]
        if manifest["platform"].startswith("win_"):
            build_data["shared_data"].update(self.config.get("windows-overlay", {}))
