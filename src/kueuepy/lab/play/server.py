"""The page of a playground, served on the loopback interface."""

import json
import threading
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from kueuepy.lab.play.answers import Playground
from kueuepy.look.page import data_element, document, policy_of
from kueuepy.look.serving import Answer, Request
from kueuepy.look.serving import Server as LoopbackServer


def part_of_view(name: str) -> str:
    """Return the contents of a file of the page or the widget."""
    return files("kueuepy.lab.play").joinpath(name).read_text(encoding="utf-8")


class Server(LoopbackServer):
    """An HTTP server for the page of a playground at `url`; see `kueuepy.look.serving.Server`."""

    def __init__(self, playground: Playground, port: int = 0) -> None:
        """Start to listen.

        Args:
            playground: The playground to serve.
            port: Port to listen on; 0 selects a free port.

        Raises:
            OSError: The port is in use.
        """
        one_at_a_time = threading.Lock()
        parts = {"extra_style": part_of_view("page.css") + part_of_view("view.css"), "connect": "'self'"}
        parts["script"] = part_of_view("view.js") + part_of_view("page.js")
        body = f'<div id="play"></div>\n{data_element("knobs", [knob._asdict() for knob in playground.knobs])}'
        page = Answer("text/html; charset=utf-8", document("kueuepy serve", body, **parts).encode(), policy_of(**parts))

        def answer(request: Request) -> Answer | None:
            if request.body is None:
                return None if request.path else page
            if request.path != "answer":
                return None
            question = question_of(request.body)
            if question is None:
                return Answer("text/plain", b'body: must be JSON such as {"values": {}}', status=HTTPStatus.BAD_REQUEST)
            # The playground continues one simulation, which two requests must not share.
            with one_at_a_time:
                found = playground.reply(question)
            return Answer("application/json", json.dumps(found, allow_nan=False).encode())

        super().__init__(answer, port)


def question_of(body: bytes) -> dict[str, Any] | None:
    """Parse the JSON body of an HTTP request; return `None` if it is not valid."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("values"), dict) else None
