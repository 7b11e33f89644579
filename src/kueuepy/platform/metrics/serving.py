"""A small HTTP server from which Prometheus reads metrics."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from kueuepy.errors import InvalidSpecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

_IDLE = 10.0
"""Time in seconds after which an idle connection is closed."""
_PORTS = 65536


class MetricsServer:
    """A server that answers `GET /metrics` with the text that a function returns.

    Attributes:
        url: The address of the metrics.
    """

    def __init__(self, address: str, text: Callable[[], str]) -> None:
        """Start to listen.

        Args:
            address: `HOST:PORT`, or a port of the loopback interface; port 0 selects a free port.
            text: A function that returns the metrics in the Prometheus text format. The function is called in other
                threads.

        Raises:
            InvalidSpecError: The address is not valid, or cannot be used.
        """
        host, _, port = address.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if not port.isdecimal() or int(port) >= _PORTS:
            raise InvalidSpecError(f"{address!r}; it must be HOST:PORT, or a port of the loopback interface")
        try:
            handler = type("Handler", (_Handler,), {"text": staticmethod(text)})
            self._server = ThreadingHTTPServer((host, int(port)), handler)
        except OSError as error:
            raise InvalidSpecError(f"{address}: cannot be used: {error.strerror or error}") from None
        self.url = f"http://{host}:{self._server.server_port}/metrics"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        """Return the server."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self.close()


class _Handler(BaseHTTPRequestHandler):
    timeout = _IDLE
    text: Callable[[], str]

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        body = self.text().encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Write no log."""
