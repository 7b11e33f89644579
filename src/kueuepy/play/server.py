"""The page of a playground, served on loopback to whoever has the address with its token."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
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
_IDLE = 60
_LATER = "__NONCE__"


class Server:
    """Serves a playground's page at `url`; reads nothing of the disk beside it, and writes nothing.

    It listens on 127.0.0.1 alone. A request without the token in its path, or with another Host than that of the
    address (as one that a foreign page sends by a name of its own), gets nothing.
    """

    def __init__(self, playground: Playground, port: int = 0) -> None:
        """Begins to listen; `port` 0 takes a free one.

        Raises:
            OSError: The port is taken.
        """
        self._token = secrets.token_urlsafe(24)
        handler = type("Handler", (_Handler,), {"playground": playground, "token": self._token})
        self._server = ThreadingHTTPServer((_HOST, port), handler)
        self._server.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """On which it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://{_HOST}:{self.port}/{self._token}/"

    def serve(self) -> None:
        """Answers until `close`, or Ctrl-C."""
        self._server.serve_forever(poll_interval=0.1)

    def start(self) -> None:
        """Answers from a thread of its own."""
        self._thread = threading.Thread(target=self.serve, name="play", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Self:
        """Answers from a thread until the block ends."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    playground: Playground
    token: str
    protocol_version = "HTTP/1.1"
    timeout = _IDLE
    one_at_a_time = threading.Lock()

    def do_GET(self) -> None:
        if self._may("/"):
            nonce = secrets.token_urlsafe(12)
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self._page.replace(_LATER, nonce).encode(), nonce)

    def do_POST(self) -> None:
        if not self._may("/answer"):
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LONGEST:
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
        """Whether the request is for this page from this page; else it is refused."""
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
        # Within a script, the text of an object's name must not end it.
        text = json.dumps(knobs).replace("<", "\\u003c")
        page, style, script = map(part_of_view, ("page.html", "view.css", "view.js"))
        return page.replace("__STYLE__", style).replace("__SCRIPT__", script).replace("__KNOBS__", text)

    def version_string(self) -> str:
        """Tells nobody what serves it."""
        return "kueuepy"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called above
        """Says nothing: the address has the token in it."""


def question_of(body: bytes) -> dict[str, Any] | None:
    """The question of a request; `None` if it is something else."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("values"), dict) else None
