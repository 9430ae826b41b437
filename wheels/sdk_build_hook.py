"""Hooks of the SDK wheels: what the staged tree tells of the platform and the version.

The tree lies in `sdk/` of the project; `python3 scripts/dev.py build` puts it there, in a copy.
"""

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TAGS = {
    "win_amd64": "py3-none-win_amd64",
    # The link stub asks for no symbol of glibc. pip before 20.3 does not know PEP 600's name of the policy.
    "linux_x86_64": "py3-none-manylinux1_x86_64.manylinux_2_5_x86_64",
}


class SdkBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Read the platform off the staged tree; tables of pyproject.toml say where else its files go.

    `moved` renames folders of the tree, `windows-overlay` maps paths of the tree to paths of the prefix.
    """

    def initialize(self, version: str, build_data: "dict[str, Any]") -> None:
        """Set what pyproject.toml cannot know."""
        manifest = read_manifest(self.root)
        build_data["pure_python"] = False
        build_data["tag"] = TAGS[manifest["platform"]]
        for longer, shorter in self.config.get("moved", {}).items():
            Path(self.root, longer).rename(Path(self.root, shorter))
        if manifest["platform"].startswith("win_"):
            build_data["shared_data"].update(self.config.get("windows-overlay", {}))


class SdkMetadataHook(MetadataHookInterface):
    """Pin the distributions of `same-version` extras to this wheel's version, which is their release's."""

    def update(self, metadata: "dict[str, Any]") -> None:
        """Add the extras."""
        version = read_manifest(self.root)["version"]
        metadata["optional-dependencies"] = {
            extra: [f"{name}=={version}" for name in names]
            for extra, names in self.config["same-version"].items()
        }


def read_manifest(root: str) -> "dict[str, Any]":
    """Return the manifest of the staged tree in a project's folder."""
    manifest: dict[str, Any] = json.loads(Path(root, "sdk", "manifest.json").read_text(encoding="utf-8"))
    return manifest
