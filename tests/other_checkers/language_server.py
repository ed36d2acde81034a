"""A language server asked as an editor asks it: JSON-RPC over its standard streams."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.other_checkers.checkers import CHECKOUT

COMMANDS = {
    "pyright": (sys.executable, "-m", "pyright.langserver", "--stdio"),
    "pyrefly": (sys.executable, "-m", "pyrefly", "lsp"),
}


class LanguageServer:
    """A server that runs, for the files of this checkout."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in: IO[bytes] = process.stdin
        self._out: IO[bytes] = process.stdout
        self._number = 0

    def hover(self, file: Path, text: str, line: int, column: int) -> str:
        """What an editor shows at a place of a file with this text; lines and columns count from 0."""
        uri = file.as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
        found = self.ask("textDocument/hover", place)
        contents: Any = (found or {}).get("contents", "")
        return str(contents.get("value", "")) if isinstance(contents, dict) else str(contents)

    def ask(self, method: str, parameters: object) -> Any:
        """The result of a request; what the server asks meanwhile gets an empty answer."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        while True:
            message = self._read()
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": _answer(message)})
            elif message.get("id") == self._number:
                assert "error" not in message, message
                return message.get("result")

    def notify(self, method: str, parameters: object) -> None:
        """Say something that has no answer."""
        self._send({"method": method, "params": parameters})

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._in.flush()

    def _read(self) -> dict[str, Any]:
        length = 0
        while (line := self._out.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        message: dict[str, Any] = json.loads(self._out.read(length))
        return message


def _answer(message: Mapping[str, Any]) -> object:
    """Of a configuration each part that is asked for is left at its default."""
    if message["method"] != "workspace/configuration":
        return None
    interpreter = {"pythonPath": sys.executable}
    return [interpreter if one.get("section") == "python" else {} for one in message["params"]["items"]]


@contextmanager
def started(name: str) -> Iterator[LanguageServer]:
    """A server of that name, which ends with the block."""
    environment = {**os.environ, "PYRIGHT_PYTHON_GLOBAL_NODE": "0"}
    process = subprocess.Popen(
        COMMANDS[name],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = LanguageServer(process)
        root = CHECKOUT.as_uri()
        folders = [{"uri": root, "name": "moonxi"}]
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}},
        }
        start = {"processId": None, "rootUri": root, "workspaceFolders": folders, "capabilities": capabilities}
        server.ask("initialize", start)
        server.notify("initialized", {})
        yield server
    finally:
        process.kill()
        process.communicate()
