"""HTTP(S) and file:// transfers whose bytes are counted."""

from __future__ import annotations

import io
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter

from .errors import BuildError

CHUNK = 1 << 16
# Seconds to connect, and to wait for the next bytes.
TIMEOUT = (10, 60)
RETRIES = urllib3.Retry(total=3, connect=1, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504))


class UnreachableError(BuildError):
    """A location does not answer or does not have what it should; another one may."""

    @property
    def reason(self) -> str:
        """What was found instead, in one line."""
        found = [text for label, texts in self.details if label == "found" for text in texts if text]
        return found[0] if found else self.problem


class _LocalFiles(BaseAdapter):
    """Serve file:// URLs; for a folder its index.html, as a package index needs it."""

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        path = Path(urllib.request.url2pathname(urlsplit(request.url or "").path))
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        try:
            file = (path / "index.html" if path.is_dir() else path).open("rb")
        except OSError as error:
            response.status_code, response.reason = 404, error.strerror or str(error)
            response.raw = urllib3.HTTPResponse(io.BytesIO(), preload_content=False)
            return response
        response.status_code = 200
        response.raw = urllib3.HTTPResponse(file, preload_content=False)
        return response

    def close(self) -> None:
        """Nothing stays open between two requests."""


class Session(requests.Session):
    """A requests session that serves file:// too, retries, and counts the bytes it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.mount("https://", HTTPAdapter(max_retries=RETRIES))
        self.mount("http://", HTTPAdapter(max_retries=RETRIES))
        self.mount("file://", _LocalFiles())
        self._received = 0
        self._streams: list[urllib3.HTTPResponse] = []
        # What the replies announced, for a progress bar.
        self.announced = 0

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request, with a time limit, and count what the reply brings."""
        options["timeout"] = options.get("timeout") or TIMEOUT
        response = super().send(request, **options)
        if urlsplit(request.url).scheme != "file":
            self.announced += int(response.headers.get("Content-Length", 0))
            if options.get("stream"):
                self._streams.append(response.raw)
            else:
                # urllib3 does not count the bytes of a chunked reply; its content, inflated, is no less.
                self._received += response.raw.tell() or len(response.content)
        return response

    def close(self) -> None:
        """Close all connections, also those of replies that nobody read to the end."""
        for stream in self._streams:
            stream.close()
        super().close()

    def count(self, size: int) -> None:
        """Count bytes that another program received."""
        self._received += size

    @property
    def received(self) -> int:
        """Bytes of content received over the network, as they were on the wire."""
        return self._received + sum(stream.tell() for stream in self._streams)


def download(session: Session, url: str, target: Path) -> None:
    """Write the file of a URL; UnreachableError where it cannot be had."""
    try:
        with session.get(url, stream=True, headers={"Accept-Encoding": "identity"}) as response:
            response.raise_for_status()
            with target.open("wb") as file:
                while chunk := response.raw.read(CHUNK):
                    file.write(chunk)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise UnreachableError(f"cannot download {without_password(url)}", found=brief(error)) from error


def brief(error: BaseException) -> str:
    """Return the innermost reason of a network error, which requests wraps three times."""
    reason: Any = error
    while True:
        inner = getattr(reason, "reason", None) or next(iter(getattr(reason, "args", ())), None)
        if not isinstance(inner, BaseException):
            return str(reason)
        reason = inner


def without_password(url: str) -> str:
    """Return a URL without the credentials it may hold."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
