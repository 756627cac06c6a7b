"""A hub on this machine: lists files, sends on to a second server and answers ranges, and fails in every way wanted."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

GUARD_S = 10
PIECE = 64 * 1024
POLL_S = 0.004
"""How long a server takes to notice that it is to end: nearly every test waits for that."""
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
Answer = Callable[["Request"], None]
"""Answers a request in the place of the server."""


class Request(BaseHTTPRequestHandler):
    """One request, and what it takes to answer it."""

    server: _Server

    def do_GET(self) -> None:
        self.server.heard(self)

    do_CONNECT = do_GET  # noqa: N815  what the standard library calls

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            pass  # whoever asked has gone

    @property
    def asked_range(self) -> tuple[int, int] | None:
        """The first byte that was asked for, and the last."""
        found = _RANGE.fullmatch(self.headers.get("Range", ""))
        return None if found is None else (int(found[1]), int(found[2]))

    def begin(self, status: int, headers: Mapping[str, object]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def send(self, content: bytes) -> bool:
        """Write and count; return whether somebody still listens."""
        try:
            self.wfile.write(content)
        except OSError:
            return False
        self.server.count(len(content))
        return True

    def send_text(self, text: str, status: int = 200, kind: str = "text/plain", **headers: object) -> None:
        content = text.encode(errors="surrogateescape")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.begin(status, {"Content-Type": kind, "Content-Length": len(content), **named})
        self.send(content)

    def send_part(self, content: bytes, **headers: object) -> None:
        """Answer the range that was asked for; what `headers` say replaces the truth."""
        asked = self.asked_range
        assert asked is not None
        first, last = asked[0], min(asked[1], len(content) - 1)
        told = {
            "Content-Type": "application/octet-stream",
            "Content-Length": last + 1 - first,
            "Content-Range": f"bytes {first}-{last}/{len(content)}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        self.begin(206, told)
        self.send(content[first : last + 1])


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, hear: Callable[[Request], None]) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.heard = hear
        self.sent = 0
        self._lock = threading.Lock()

    def count(self, size: int) -> None:
        with self._lock:
            self.sent += size

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what the tests want."""


class LoopbackHub:
    """The hub under `endpoint`, which sends on to where files are, under another port."""

    def __init__(self, files: Mapping[str, bytes], repository: str = "org/tiny-GGUF") -> None:
        self.files = dict(files)
        self.repository = repository
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """Where each request went to, its path and its headers."""
        self.listing: Answer | None = None
        self.resolving: Answer | None = None
        """In place of the redirect."""
        self.delivering: Answer | None = None
        """In place of the ranges of a file."""
        self.searching: Answer | None = None
        self.found: list[dict[str, object]] = []
        """What searches find, in the hub's words."""
        self.info: dict[str, object] = {"id": repository}
        """What the hub tells of the repository, in its words."""
        self.describing: Answer | None = None
        """In place of that."""
        self.card: bytes | None = None
        """The README of the repository; None has none."""
        self.pointers: dict[str, dict[str, object]] = {}
        """What the tree says of a file, in place of what is made up for it."""
        self.page_entries = 1000
        self.commits: list[str] = []
        """Which commit each page of a listing says it is of; the last one holds on. None says nothing."""
        self.ended = threading.Event()
        """What hangs waits for it."""
        self._hub, self._store = _Server(self._hear_hub), _Server(self._hear_store)
        self._threads = [threading.Thread(target=server.serve_forever, args=(POLL_S,)) for server in self._servers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join()

    @property
    def _servers(self) -> tuple[_Server, _Server]:
        return self._hub, self._store

    @property
    def revision(self) -> str:
        """The commit that is there; “main” where the hub tells none."""
        return str(self.info.get("sha", "main"))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._hub.server_port}"

    @property
    def encrypted_endpoint(self) -> str:
        """The hub by the name that its certificate has."""
        return f"https://localhost:{self._hub.server_port}"

    def encrypt(self, certificate: Path) -> None:
        """Speak TLS from now on; the file holds a key and a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._hub.socket = context.wrap_socket(self._hub.socket, server_side=True)

    @property
    def store(self) -> str:
        """Where files are; another host by its name."""
        return f"http://localhost:{self._store.server_port}"

    @property
    def delivered(self) -> int:
        """Bytes of files that were sent."""
        return self._store.sent

    def content_of(self, request: Request) -> bytes:
        path = request.path.partition("?")[0]
        return self.files[self._named(path) or path.removeprefix("/blobs/")]

    def _named(self, path: str) -> str:
        """Return the file of an address of the hub; it is whole where a proxy is asked."""
        return path.partition(f"/{self.repository}/resolve/")[2].partition("/")[2]

    def _note(self, where: str, request: Request) -> None:
        self.asked.append((where, request.path, {name.lower(): value for name, value in request.headers.items()}))

    def _hear_hub(self, request: Request) -> None:
        self._note("hub", request)
        path, _, query = request.path.partition("?")
        if path == "/api/models":
            if self.searching is not None:
                self.searching(request)
            else:
                self._send_page(request, self.found, path, query)
        elif path == f"/api/models/{self.repository}":
            if self.describing is not None:
                self.describing(request)
            else:
                request.send_text(json.dumps(self.info), 200, "application/json")
        elif path.startswith("/api/models/"):
            self._list(request, path, query)
        elif self.resolving is not None:
            self.resolving(request)
        elif path == f"/{self.repository}/resolve/{self.revision}/README.md" and self.card is not None:
            request.send_text(self.card.decode("utf-8", "surrogateescape"))
        else:
            name = self._named(path)
            request.send_text("", 302 if name in self.files else 404, Location=f"{self.store}/blobs/{name}?key=1")

    def _list(self, request: Request, path: str, query: str) -> None:
        if self.listing is not None:
            self.listing(request)
            return
        if path != f"/api/models/{self.repository}/tree/{self.revision}":
            request.send_text('{"error":"Repository not found"}', 404, "application/json")
            return
        entries: list[dict[str, object]] = [{"type": "directory", "path": "folder", "size": 0}]
        for name, content in {"README.md": b"#", **self.files}.items():
            size = len(content)
            made = {"type": "file", "path": name, "size": size, "lfs": {"size": size, "oid": "0"}}
            entries.append({**made, **self.pointers.get(name, {})})
        self._send_page(request, entries, path, query)

    def _send_page(self, request: Request, entries: list[dict[str, object]], path: str, query: str) -> None:
        asked = parse_qs(query)
        start = int(asked.get("cursor", ["0"])[0])
        end = start + min(self.page_entries, int(asked.get("limit", ["1000"])[0]))
        following = urlencode({**asked, "cursor": end}, doseq=True)
        more = {"Link": f'<{self.endpoint}{path}?{following}>; rel="next"'} if end < len(entries) else {}
        if self.commits and "/tree/" in path:
            more["X-Repo-Commit"] = self.commits.pop(0) if len(self.commits) > 1 else self.commits[0]
        request.send_text(json.dumps(entries[start:end]), 200, "application/json", **more)

    def _hear_store(self, request: Request) -> None:
        self._note("store", request)
        if self.delivering is not None:
            self.delivering(request)
        else:
            request.send_part(self.content_of(request))
