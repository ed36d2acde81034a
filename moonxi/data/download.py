"""Downloads: from the first mirror that has the right content, whole or not at all."""

import hashlib
import http.client
import io
import os
import secrets
import time
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from moonxi.data.idx import decode_idx
from moonxi.errors import DataError

_LARGEST_FILE: Final = 1 << 28  # bytes; more than any file of the data sets here, less than the memory of any machine
_CHUNK: Final = 1 << 16


def download_idx(
    urls: Iterable[str], target: Path, /, *, sha256: str, timeout: float = 20.0, deadline: float = 600.0
) -> None:
    """Stores the IDX file that one of the URLs gives as ``target``, which appears complete and verified or not at all.

    ``sha256`` is that of the uncompressed content. The URLs are tried in turn; each may be silent for ``timeout``
    seconds and take ``deadline`` seconds. Raises `DataError` with the reason for each URL if none works, and if
    ``target`` cannot be written."""

    def check(content: bytes, url: str) -> None:
        decode_idx(io.BytesIO(content), url, sha256=sha256)

    _download(urls, target, check, timeout, deadline)


def download_file(
    urls: Iterable[str], target: Path, /, *, md5: str, timeout: float = 20.0, deadline: float = 3600.0
) -> None:
    """Stores what one of the URLs gives as ``target``, as `download_idx` does; ``md5`` is that of the file itself."""
    _download(urls, target, lambda content, url: check_md5(content, url, md5), timeout, deadline)


def check_md5(content: bytes, name: str, md5: str, /) -> None:
    """Raises `DataError` if the MD5 of the content is another one. It tells damage, not somebody's intent."""
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise DataError(
            f"{name}: expected a file with the MD5 {md5}, found {found}: the file is damaged or another one"
        )


def _download(
    urls: Iterable[str], target: Path, check: Callable[[bytes, str], None], timeout: float, deadline: float, /
) -> None:
    reasons = []
    for url in urls:
        try:
            content = _get(url, timeout, deadline)
            check(content, url)
        except DataError as error:
            reasons.append(str(error))
        except (OSError, http.client.HTTPException, ValueError) as error:
            reasons.append(f"{url}: {str(error).strip() or type(error).__name__}")
        else:
            _write(target, content)
            return
    tried = "".join(f"\n  {reason}" for reason in reasons)
    raise DataError(
        f"download: {target.name}: no mirror gave it:{tried}\n"
        "Check the network, or get the files in another way and name their folder."
    )


def cache_folder(name: str, /) -> Path:
    """Where downloads of a data set are kept: ``$XDG_CACHE_HOME/moonxi/NAME``, by default in ``~/.cache``."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG Base Directory Specification asks to ignore a relative path.
    return (configured if configured.is_absolute() else Path.home() / ".cache") / "moonxi" / name


def _get(url: str, timeout: float, deadline: float, /) -> bytes:
    end = time.monotonic() + deadline
    content = bytearray()
    request = urllib.request.Request(url, headers={"User-Agent": "moonxi"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        while chunk := response.read1(_CHUNK):
            content += chunk
            if len(content) > _LARGEST_FILE:
                raise DataError(f"{url}: more than {_LARGEST_FILE} bytes")
            if time.monotonic() > end:
                raise DataError(f"{url}: not complete after {deadline:g} s")
    return bytes(content)


def _write(target: Path, content: bytes, /) -> None:
    """In two steps, so that neither an interruption nor another process leaves or sees half a file."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(content)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"download: {target}: cannot be written: {error.strerror or error}") from error
