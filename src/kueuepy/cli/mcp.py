"""`kueuepy mcp`: answer the questions of AI agents about a cluster, over the Model Context Protocol."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from threading import Lock
from typing import Annotated, Any

from msgspec import Meta

from kueuepy.cli.paging import MOST_BYTES, Pages
from kueuepy.cli.tools import TOOLS, Source
from kueuepy.errors import InternalError, KueueError, NotFoundError
from kueuepy.errors.libraries import imported
from kueuepy.errors.problems import suggestion
from kueuepy.manifest.text.sources import CLUSTER
from kueuepy.profiles.version import installed

_DEFAULT = (CLUSTER,)
_INSTRUCTIONS = (
    "Exact admission decisions of Kueue for one cluster, read-only: why a workload waits, what a change of quota would "
    "do, and simulations. Answers have at most 2 kB; pass next_cursor as cursor, with the same arguments, for more."
)


def mcp(
    files: tuple[str, ...] = _DEFAULT,
    *,
    jobs: str | None = None,
    max_age: Annotated[float, Meta(ge=0)] = 60,
    kueue_version: str | None = None,
) -> None:
    """Serve the Model Context Protocol on standard input and output, so that AI agents can ask about a cluster.

    The tools only read the cluster, accept no file names, and return answers of at most 2 kB. This command needs the
    extra mcp.

    Options:
        files (SOURCE): File, directory, recording, or cluster:CONTEXT; by default, the current kubectl context.
        jobs (FILE): Job log to simulate; by default, the job history of SOURCE, if it has one.
        max_age (SECONDS): Read a running cluster again if the data is older than this number of seconds.

    Examples:
        kueuepy mcp
        kueuepy mcp cluster:prod
        kueuepy mcp history.db
        kueuepy mcp manifests/
    """
    lowlevel, stdio, types, anyio = (
        imported(name, "kueuepy mcp", '"kueuepy[mcp]"')
        for name in ("mcp.server.lowlevel", "mcp.server.stdio", "mcp_types", "anyio")
    )
    agents = Agents(Source(list(files), jobs=jobs, version=kueue_version, max_age=max_age))
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    tools = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)
        for tool in TOOLS.values()
    ]

    async def on_list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=tools)

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
        # Standard output belongs to the protocol: text that a library prints there would break it.
        with self._lock, redirect_stdout(sys.stderr):
            try:
                asked = TOOLS[name].read(given)
                key = self._pages.key(name, given)
                if asked.cursor:
                    return self._pages.page(name, key, asked.cursor)
                return self._pages.first(key, TOOLS[name].ask(self._source, asked))
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
