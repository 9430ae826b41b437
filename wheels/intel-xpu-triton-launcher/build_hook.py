"""Build hook: the tag of the platform whose extension lies in `native/`."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# auditwheel replaces the first by the oldest manylinux policy that the file keeps.
TAGS = {"_launcher.abi3.so": "cp39-abi3-linux_x86_64", "_launcher.pyd": "cp39-abi3-win_amd64"}


class LauncherBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Set what pyproject.toml cannot know."""

    def initialize(self, version: str, build_data: "dict[str, Any]") -> None:
        """Set the tag; there must be one extension."""
        (extension,) = Path(self.root, "native").iterdir()
        build_data["pure_python"] = False
        build_data["tag"] = TAGS[extension.name]
