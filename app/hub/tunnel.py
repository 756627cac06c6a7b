"""Asks a proxy for a connection to a server, and keeps with which status it refuses: the standard library only tells it in words."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping

_GRANTED = range(200, 300)


class ProxyRefused(OSError):
    """A proxy makes no connection."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the proxy answers {status}")
        self.status = status


def open_tunnel(connection: socket.socket, host: str, port: int, headers: Mapping[str, str]) -> None:
    """Have a proxy at the other end of a connection lead it on to a server; `ProxyRefused` says that it does not."""
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if not place.isascii() or not place.isprintable() or " " in place:
        raise ValueError("no name of a server")
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", *(f"{name}: {value}" for name, value in headers.items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
    response = http.client.HTTPResponse(connection, method="CONNECT")
    try:
        response.begin()
        if response.status not in _GRANTED:
            raise ProxyRefused(response.status)
    finally:
        response.close()
