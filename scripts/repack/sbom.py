"""The software bill of materials of an SDK wheel: CycloneDX 1.6, the same for the same manifest."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

PROPERTY = "intel-xpu-runtime-dev"


def sbom(distribution: str, manifest: Mapping[str, Any], manifest_sha256: str) -> str:
    """Return the bill of a wheel as JSON text: the wheel, and each input by package URL and hash.

    An input's hash is its content hash, the one that is the same wherever its bytes came from (see
    sources.toml); the containers of its locations are external references with hashes of their own.
    """
    purl = PackageURL("pypi", name=distribution, version=manifest["version"])
    wheel = Component(
        type=ComponentType.LIBRARY,
        name=distribution,
        version=manifest["version"],
        purl=purl,
        bom_ref=str(purl),
        properties=[Property(name=f"{PROPERTY}:platform", value=manifest["platform"])],
    )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, manifest_sha256))
    bom.metadata.component = wheel
    inputs = [_component(item) for item in manifest["inputs"]]
    bom.components.update(inputs)
    bom.register_dependency(wheel, inputs)
    text = json.loads(JsonV1Dot6(bom).output_as_string())
    # The time of the build would make two builds differ, and CycloneDX does not ask for it.
    del text["metadata"]["timestamp"]
    return json.dumps(text, indent=1, sort_keys=True) + "\n"


def _component(item: Mapping[str, Any]) -> Component:
    """Return an input; nothing but the names that it exports is taken of one that has no destination."""
    taken = "files" if "destination" in item else "exported names"
    return Component(
        type=ComponentType.LIBRARY,
        name=item["name"],
        version=item["version"],
        purl=PackageURL.from_string(item["purl"]),
        bom_ref=item["name"],
        scope=ComponentScope.REQUIRED if "destination" in item else ComponentScope.EXCLUDED,
        licenses=[LicenseFactory().make_from_string(item["licence"])],
        hashes=[_sha256(item["content"])],
        properties=[
            Property(name=f"{PROPERTY}:taken", value=taken),
            *(Property(name=f"{PROPERTY}:file", value=file) for file in item["files"]),
        ],
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(_address(location)),
                hashes=[_sha256(location["sha256"])],
            )
            for location in item["locations"]
        ],
    )


def _address(location: Mapping[str, str]) -> str:
    """Return the URL of a location; of what a configured mirror or index serves, the package URL; of ours, the path."""
    if location["kind"] == "debian":
        qualifiers = {"arch": "amd64", "distro": location["suite"]}
        return str(PackageURL("deb", "debian", location["package"], location["version"], qualifiers))
    if location["kind"] == "wheel":
        return str(PackageURL("pypi", name=location["distribution"], version=location["version"]))
    return location["path"] if location["kind"] == "carried" else location["url"]


def _sha256(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)
