"""The HTTP server of pages and metrics. A service is a `Site`: a function that answers requests.

A page is served on the loopback interface only and protected by a token in its address.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

_HOST = "127.0.0.1"
# The largest body of a request: far more than the values of all sliders.
_LONGEST = 256 * 1024
# Python refuses to convert texts with thousands of digits, and slowly converts shorter ones.
_DIGITS = len(str(_LONGEST))
# Pages ask at least every 10 seconds by default, so that their connections stay open.
_IDLE = 60
# Idle timeout in seconds of a connection that has not sent the token.
_STRANGER_IDLE = 10
# Maximum number of connections, each with its thread; a browser opens up to six.
_MOST = 32
# Time in seconds that a new connection waits until the connection that it replaces has ended.
_ROOM = 1.0


class _Connections(ThreadingHTTPServer):
    """A server with at most `_MOST` connections at once.

    At the limit, a new connection replaces the oldest connection that has not sent the token. If every open connection
    has sent the token, the new connection is refused. Without the limit on connections, any process on the machine
    could start unlimited threads or block the page.
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


class Answer(NamedTuple):
    """The response to a request.

    Attributes:
        kind: The media type.
        body: The content.
        policy: The Content-Security-Policy of a page; by default, a policy under which the content can neither load
            resources nor run scripts.
        tag: The ETag of the content; a request with this ETag gets a response without a body. Empty for none.
        status: The HTTP status.
    """

    kind: str
    body: bytes
    policy: str = "default-src 'none'"
    tag: str = ""
    status: HTTPStatus = HTTPStatus.OK


class Request(NamedTuple):
    """A request.

    Attributes:
        path: The path below the token, such as an empty string for the page.
        query: The parameters of the address.
        body: The body of a POST request; `None` for a GET request.
    """

    path: str
    query: Mapping[str, str]
    body: bytes | None = None


Site: TypeAlias = "Callable[[Request], Answer | None]"
"""The function that answers the requests of a server; `None` if the path does not exist."""


class Server:
    """An HTTP server for a site at `url`.

    By default, the server listens on 127.0.0.1 only and rejects requests without the token in their path. Requests with
    a different Host header, which a malicious web page could send by DNS rebinding, are rejected too. The server writes
    no files.
    """

    def __init__(self, site: Site, port: int = 0, public_host: str = "") -> None:
        """Start to listen.

        Args:
            site: The content to serve.
            port: Port to listen on; 0 selects a free port.
            public_host: Host name or address to listen on, for content that every client may read: the address has no
                token, and any Host header is accepted. Default: serve only this machine, with a token.

        Raises:
            OSError: The port is in use, or the host does not belong to this machine.
        """
        self._host = public_host or _HOST
        self._root = "/" if public_host else f"/{secrets.token_urlsafe(24)}/"
        handler = type(
            "Handler", (_Handler,), {"site": staticmethod(site), "root": self._root, "is_public": bool(public_host)}
        )
        self._server = _Connections((self._host, port), handler)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://{self._host}:{self.port}{self._root}"

    def serve(self) -> None:
        """Serve requests until `close` or Ctrl-C."""
        self._server.serve_forever(poll_interval=0.1)

    def start(self) -> None:
        """Serve requests in a background thread."""
        self._thread = threading.Thread(target=self.serve, name="kueuepy-serving", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server and release the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Self:
        """Serve requests in a background thread until the `with` block ends."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    site: Site
    root: str
    is_public: bool
    protocol_version = "HTTP/1.1"
    timeout = _STRANGER_IDLE
    server: _Connections

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return
        name, _, query = path.partition("?")
        self._reply(self.site(Request(name, dict(parse_qsl(query)))))

    def do_POST(self) -> None:
        path = self._path()
        if path is None:
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) <= _DIGITS) or int(length) > _LONGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        self._reply(self.site(Request(path, {}, self.rfile.read(int(length)))))

    def _reply(self, found: Answer | None) -> None:
        if found is None:
            self._refuse(HTTPStatus.NOT_FOUND)
        elif found.status >= HTTPStatus.BAD_REQUEST:
            self._refuse(found.status)
        elif found.tag and self.headers.get("If-None-Match") == found.tag:
            self._send(found._replace(status=HTTPStatus.NOT_MODIFIED, body=b""))
        else:
            self._send(found)

    def _path(self) -> str | None:
        """Return the path below the token; refuse a request without the right token, Host or Origin."""
        if self.is_public:
            return self.path[1:]
        port = self.connection.getsockname()[1]
        hosts = {f"{_HOST}:{port}", f"localhost:{port}"}
        # Other web pages that the browser shows must not send requests (CSRF, DNS rebinding).
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in hosts or (
            origin is not None and origin not in {f"http://{host}" for host in hosts}
        ):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        given, wanted = self.path.encode("utf-8", "replace"), self.root.encode()
        # A comparison in constant time: response times must not reveal the token.
        if not hmac.compare_digest(given[: len(wanted)], wanted):
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        self.server.has_token(self.connection)
        # A page polls now and then; strangers get less time.
        self.connection.settimeout(_IDLE)
        return self.path[len(wanted) :]

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(Answer("text/plain", status.phrase.encode(), status=status))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{answer.policy}; frame-ancestors 'none'")
        # The address contains the token, which links must not reveal.
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if answer.tag:
            self.send_header("ETag", answer.tag)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def version_string(self) -> str:
        return "kueuepy"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called above
        """Log nothing, because the request URLs contain the token."""
