"""The server of the Model Context Protocol, with the official SDK."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from threading import Lock
from typing import Any

from kueuepy.cli.agents.arguments import read, schema_of
from kueuepy.cli.agents.pages import MOST_BYTES, Pages
from kueuepy.cli.agents.source import Source
from kueuepy.cli.agents.tools import TOOLS
from kueuepy.errors import InternalError, KueueError, NotFoundError
from kueuepy.errors.libraries import imported
from kueuepy.errors.problems import suggestion
from kueuepy.profiles.version import installed

_INSTRUCTIONS = (
    "Exact admission decisions of Kueue for one cluster, read-only: why a workload waits, what a change of quota would "
    "do, and simulations. Answers have at most 2 kB; pass next_cursor as cursor, with the same arguments, for more."
)


class Agents:
    """The tools of a source; calls are answered one at a time."""

    def __init__(self, source: Source) -> None:
        """Create the tools of a source."""
        self._source = source
        self._pages = Pages()
        self._lock = Lock()

    def call(self, name: str, given: Mapping[str, Any]) -> str:
        """Return one page of an answer as JSON.

        Raises:
            KueueError: The tool does not exist, an argument is not valid, or the source cannot be read.
        """
        if name not in TOOLS:
            raise NotFoundError(f'"{name[:80]}" is not a tool; {suggestion(name, list(TOOLS))}')
        tool = TOOLS[name]
        with self._lock, redirect_stdout(sys.stderr):
            try:
                asked = read(name, tool.arguments, given)
                key = self._pages.key(name, given)
                if asked.cursor:
                    return self._pages.page(name, key, asked.cursor)
                return self._pages.first(key, tool.ask(self._source, asked))
            except KueueError:
                raise
            except Exception as error:
                raise InternalError(f"{name}: {type(error).__name__}: {error}") from error

    def answer(self, name: str, given: Mapping[str, Any]) -> tuple[str, bool]:
        """Return one page of an answer, or the text of an error, and whether it is an error."""
        try:
            return self.call(name, given), False
        except KueueError as error:
            text = str(error).encode("utf-8", "replace")
            return text[:MOST_BYTES].decode("utf-8", "ignore"), True


def serve(source: Source) -> None:
    """Answer calls from standard input on standard output until the input ends.

    Raises:
        UnsupportedError: The SDK is not installed.
    """
    lowlevel: Any = imported("mcp.server.lowlevel", "kueuepy mcp", '"kueuepy[mcp]"')
    stdio: Any = imported("mcp.server.stdio", "kueuepy mcp", '"kueuepy[mcp]"')
    types: Any = imported("mcp_types", "kueuepy mcp", '"kueuepy[mcp]"')
    anyio: Any = imported("anyio", "kueuepy mcp", '"kueuepy[mcp]"')
    agents = Agents(source)

    async def on_list_tools(_context: Any, _params: Any) -> Any:
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name, description=tool.description, input_schema=schema_of(tool.arguments), annotations=hints
                )
                for name, tool in TOOLS.items()
            ]
        )

    async def on_call_tool(_context: Any, params: Any) -> Any:
        text, is_error = await anyio.to_thread.run_sync(agents.answer, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)

    async def run() -> None:
        server = lowlevel.Server(
            "kueuepy",
            version=installed(),
            instructions=_INSTRUCTIONS,
            on_list_tools=on_list_tools,
            on_call_tool=on_call_tool,
        )
        async with stdio.stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
