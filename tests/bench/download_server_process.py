"""The process that sends a model at no more than so many bytes a second, whoever asks: ranges, an ETag, one redirect.

It counts what it hands to the system, so that what was fetched twice can be told.
"""

from __future__ import annotations

import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.bench.children import Answer, serve

PIECE = 256 * 1024
BURST_S = 0.02
"""Who does not read for longer cannot catch up."""
_RANGE = re.compile(r"bytes=(\d+)-")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, path: Path, bytes_per_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.path = path
        self.bytes_per_s = bytes_per_s
        self.sent = 0
        self.never = threading.Event()


class _Request(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if "/resolve/" in self.path:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/blob")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = self.server.path.stat().st_size
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        first = int(asked[1]) if asked is not None else 0
        self.send_response(206 if asked is not None else 200)
        self.send_header("Content-Length", str(size - first))
        self.send_header("ETag", '"one"')
        if asked is not None:
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        self.end_headers()
        self.wfile.flush()
        self._send(first, size)
        self.close_connection = True

    def _send(self, first: int, size: int) -> None:
        begin = time.perf_counter()
        with self.server.path.open("rb") as file:
            while first < size:
                now = time.perf_counter()
                begin = max(begin, now - BURST_S)
                if begin > now:
                    self.server.never.wait(begin - now)
                try:
                    count = os.sendfile(self.connection.fileno(), file.fileno(), first, min(PIECE, size - first))
                except OSError:
                    return  # whoever asked has gone
                first += count
                self.server.sent += count
                begin += count / self.server.bytes_per_s

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class _Serving:
    """What the parent asks for."""

    def __init__(self) -> None:
        self._server: _Server | None = None

    def open(self, path: str, bytes_per_s: float) -> Answer:
        self._server = _Server(Path(path), bytes_per_s)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return {"port": self._server.server_port}

    def sent(self) -> Answer:
        assert self._server is not None
        return {"bytes": self._server.sent}


if __name__ == "__main__":
    serving = _Serving()
    serve({"open": serving.open, "sent": serving.sent})
