"""HTTP server of a playground's page on the loopback interface, protected by a token in the address."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from kueuepy.engine.cached import cached_property
from kueuepy.play.view import part_of_view

if TYPE_CHECKING:
    from typing_extensions import Self

    from kueuepy.play.answers import Playground

_HOST = "127.0.0.1"
_LONGEST = 256 * 1024
_DIGITS = len(str(_LONGEST))
_IDLE = 60
_STRANGER_IDLE = 10
"""Idle timeout in seconds of a connection that has not sent the token."""
_MOST = 32
"""Maximum number of connections, each with its thread; a browser opens up to six."""
_ROOM = 1.0
"""Time in seconds that a new connection waits for the end of the connection it replaces."""
_LATER = "__NONCE__"


class _Connections(ThreadingHTTPServer):
    """A server with at most `_MOST` connections at once.

    At the limit, a new connection replaces the oldest one that has not sent the token, and is refused if there is none.
    Without the limit, any process of the machine could start unlimited threads or block the page.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *args: Any) -> None:
        self._known: dict[Any, bool] = {}  # connection, in order of arrival: whether it has sent the token
        self._changed = threading.Condition()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            if len(self._known) >= _MOST:
                self._end_a_stranger()
                self._changed.wait_for(lambda: len(self._known) < _MOST, _ROOM)
            has_room = len(self._known) < _MOST
            if has_room:
                self._known[request] = False
        if has_room:
            super().process_request(request, client_address)
        else:
            super().shutdown_request(request)

    def _end_a_stranger(self) -> None:
        stranger = next((one for one, known in self._known.items() if not known), None)
        if stranger is not None:
            with suppress(OSError):
                stranger.shutdown(socket.SHUT_RDWR)  # its thread reads the end of the stream and stops

    def has_token(self, request: Any) -> None:
        """Mark a connection that has sent the token, so that it is not replaced."""
        with self._changed:
            if request in self._known:
                self._known[request] = True

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._known.pop(request, None)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a traceback, unless the client has only disconnected."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Server:
    """An HTTP server for the page of a playground at `url`.

    The server listens on 127.0.0.1 only and writes no files. The server rejects requests without the token in their
    path. It also rejects another Host header, which a foreign web page could send by DNS rebinding.
    """

    def __init__(self, playground: Playground, port: int = 0) -> None:
        """Start to listen.

        Args:
            playground: The playground to serve.
            port: Port to listen on; 0 selects a free port.

        Raises:
            OSError: The port is in use.
        """
        self._token = secrets.token_urlsafe(24)
        handler = type("Handler", (_Handler,), {"playground": playground, "token": self._token})
        self._server = _Connections((_HOST, port), handler)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://{_HOST}:{self.port}/{self._token}/"

    def serve(self) -> None:
        """Serve requests until `close` or Ctrl-C."""
        self._server.serve_forever(poll_interval=0.1)

    def start(self) -> None:
        """Serve requests in a background thread."""
        self._thread = threading.Thread(target=self.serve, name="play", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server and release the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Self:
        """Serve requests in a background thread until the block ends."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    playground: Playground
    token: str
    protocol_version = "HTTP/1.1"
    timeout = _STRANGER_IDLE
    server: _Connections
    one_at_a_time = threading.Lock()

    def do_GET(self) -> None:
        if self._may("/"):
            nonce = secrets.token_urlsafe(12)
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self._page.replace(_LATER, nonce).encode(), nonce)

    def do_POST(self) -> None:
        if not self._may("/answer"):
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) <= _DIGITS) or int(length) > _LONGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        question = question_of(self.rfile.read(int(length)))
        if question is None:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        with self.one_at_a_time:
            found = self.playground.reply(question)
        self._send(HTTPStatus.OK, "application/json", json.dumps(found, allow_nan=False).encode())

    def _may(self, path: str) -> bool:
        """Return whether the request has the right path, Host and Origin; otherwise, refuse it."""
        port = self.connection.getsockname()[1]
        hosts = {f"{_HOST}:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in hosts or (
            origin is not None and origin not in {f"http://{host}" for host in hosts}
        ):
            self._refuse(HTTPStatus.FORBIDDEN)
            return False
        given, wanted = self.path.encode("utf-8", "replace"), f"/{self.token}{path}".encode()
        if not hmac.compare_digest(given, wanted):
            self._refuse(HTTPStatus.NOT_FOUND)
            return False
        self.server.has_token(self.connection)
        self.connection.settimeout(_IDLE)
        return True

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(status, "text/plain", status.phrase.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes, nonce: str = "") -> None:
        sources = f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; " if nonce else ""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"default-src 'none'; {sources}frame-ancestors 'none'")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    @cached_property
    def _page(self) -> str:
        knobs = [knob._asdict() for knob in self.playground.knobs]
        # The name of an object must not end the script element.
        text = json.dumps(knobs).replace("<", "\\u003c")
        page, style, script = map(part_of_view, ("page.html", "view.css", "view.js"))
        return page.replace("__STYLE__", style).replace("__SCRIPT__", script).replace("__KNOBS__", text)

    def version_string(self) -> str:
        return "kueuepy"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called above
        """Log nothing, because the request URLs contain the token."""


def question_of(body: bytes) -> dict[str, Any] | None:
    """Parse the question in the body of a request; return `None` if it is not valid."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("values"), dict) else None
