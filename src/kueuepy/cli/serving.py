"""Pages that commands serve until they are interrupted."""

import webbrowser
from collections.abc import Callable
from typing import Annotated

import typer

from kueuepy.cli.output import say
from kueuepy.errors import InvalidSpecError
from kueuepy.look.loopback import Server

Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port to listen on; 0 selects a free port.")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]


def serve_page(listen: Callable[[int], Server], port: int, title: str, *, browser: bool) -> None:
    """Serve a page on a port, print its address after `title`, and open it in a browser on request.

    Raises:
        InvalidSpecError: The port is in use.
    """
    try:
        server = listen(port)
    except OSError as error:
        raise InvalidSpecError(f"--port {port}: cannot be listened on: {error.strerror}") from None
    say(f"{title}: {server.url}")
    if browser:
        webbrowser.open(server.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
