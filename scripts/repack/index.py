"""A package index of static files: PEP 503 pages, PEP 691 JSON beside them, PEP 658 metadata files."""

from __future__ import annotations

import hashlib
import html
import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Any

from packaging.utils import NormalizedName, parse_wheel_filename

# Pages are written for clients that follow links; where a server negotiates content types, it serves the JSON as
# application/vnd.pypi.simple.v1+json.
PAGE, JSON = "index.html", "index.json"
API_VERSION = "1.1"


@dataclass(frozen=True)
class File:
    """A wheel in the index: its name, size in bytes, hash, and what its metadata says."""

    name: str
    size: int
    sha256: str
    requires_python: str
    metadata: bytes
    version: str


def write_index(wheels: Iterable[Path], folder: Path) -> None:
    """Fill the new folder `folder` with an index of these wheels, and the wheels themselves."""
    projects: dict[NormalizedName, list[File]] = {}
    for wheel in sorted(wheels):
        project = parse_wheel_filename(wheel.name)[0]
        file = _read(wheel)
        projects.setdefault(project, []).append(file)
        (folder / project).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wheel, folder / project / wheel.name)
        (folder / project / f"{wheel.name}.metadata").write_bytes(file.metadata)
    _write(folder, _page("Projects", {name: f"{name}/" for name in projects}), _project_list(projects))
    for project, files in projects.items():
        links = "".join(f"    {_link(file)}<br>\n" for file in files)
        _write(folder / project, _html(f"Files of {project}", links), _file_list(project, files))


def _read(wheel: Path) -> File:
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(member)
    headers = Parser().parsestr(metadata.decode("utf-8"), headersonly=True)
    content = wheel.read_bytes()
    return File(
        name=wheel.name,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        requires_python=headers["Requires-Python"] or "",
        metadata=metadata,
        version=headers["Version"],
    )


def _metadata_hash(file: File) -> str:
    return hashlib.sha256(file.metadata).hexdigest()


def _link(file: File) -> str:
    attributes = {
        "href": f"{file.name}#sha256={file.sha256}",
        "data-requires-python": file.requires_python,
        "data-core-metadata": f"sha256={_metadata_hash(file)}",
        "data-dist-info-metadata": f"sha256={_metadata_hash(file)}",  # the name of PEP 658's first edition
    }
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<a {written}>{html.escape(file.name)}</a>"


def _page(title: str, links: Mapping[str, str]) -> str:
    body = "".join(
        f'    <a href="{html.escape(target)}">{html.escape(text)}</a><br>\n' for text, target in links.items()
    )
    return _html(title, body)


def _html(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8">\n'
        f'    <meta name="pypi:repository-version" content="{API_VERSION}">\n'
        f"    <title>{html.escape(title)}</title>\n  </head>\n  <body>\n{body}  </body>\n</html>\n"
    )


def _project_list(projects: Iterable[str]) -> dict[str, Any]:
    return {"meta": {"api-version": API_VERSION}, "projects": [{"name": name} for name in projects]}


def _file_list(project: str, files: Iterable[File]) -> dict[str, Any]:
    files = list(files)
    return {
        "meta": {"api-version": API_VERSION},
        "name": project,
        "versions": sorted({file.version for file in files}),
        "files": [
            {
                "filename": file.name,
                "url": file.name,
                "hashes": {"sha256": file.sha256},
                "requires-python": file.requires_python,
                "core-metadata": {"sha256": _metadata_hash(file)},
                "dist-info-metadata": {"sha256": _metadata_hash(file)},
                "size": file.size,
            }
            for file in files
        ],
    }


def _write(folder: Path, page: str, data: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).write_text(page, "utf-8", newline="\n")
    (folder / JSON).write_text(json.dumps(data, indent=1) + "\n", "utf-8", newline="\n")
