"""An HTTP server on this machine, for tests of downloads."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from unittest.mock import patch

type Answer = Callable[[BaseHTTPRequestHandler, Event], None]
"""Writes the answer to a request; the event is set when the test is over."""


@dataclass(frozen=True)
class Mirror:
    """Where the server is, and the paths that were asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


def sends(content: bytes, *, promised: int | None = None) -> Answer:
    """The content, with a header that promises so many bytes."""

    def answer(request: BaseHTTPRequestHandler, _: Event) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content) if promised is None else promised))
        request.end_headers()
        request.wfile.write(content)

    return answer


def hangs(request: BaseHTTPRequestHandler, over: Event) -> None:
    """Nothing at all."""
    over.wait(30)


def drips(request: BaseHTTPRequestHandler, over: Event) -> None:
    """A byte now and then, without an end."""
    request.send_response(200)
    request.end_headers()
    while not over.wait(0.02):
        request.wfile.write(b"\0")


def babbles(request: BaseHTTPRequestHandler, _: Event) -> None:
    """No HTTP."""
    request.wfile.write(b"nonsense\r\n")


@contextmanager
def mirror(answers: Mapping[str, Answer]) -> Iterator[Mirror]:
    """A server that gives these answers by the last part of the path, and 404 for every other one."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.asked.append(self.path)
            name = self.path.rpartition("/")[2]
            if name in answers:
                answers[name](self, over)
            else:
                self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # the client went away, as it should where the answer is no good

    with Server(("127.0.0.1", 0), Handler) as server, patch.dict(os.environ, no_proxy="127.0.0.1"):
        here = Mirror(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield here
        finally:
            over.set()
            server.shutdown()
            thread.join()
