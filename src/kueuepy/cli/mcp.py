"""`kueuepy mcp`: answer the questions of AI agents about a cluster, over the Model Context Protocol."""

import hashlib
import json
import sys
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import redirect_stdout
from threading import Lock
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kueuepy.cli.signature import in_options
from kueuepy.cli.tools import TOOLS, Answer, Source
from kueuepy.errors import InternalError, KueueError, NotFoundError, imported, suggestion
from kueuepy.jobs.numbers import unsigned
from kueuepy.manifest.text.reading import CLUSTER
from kueuepy.profiles.version import installed

MOST_BYTES = 2000
"""The largest size of an answer, in bytes of UTF-8."""
# An agent follows few answers at a time; older ones are asked for again.
_ANSWERS = 32
# The field `next_cursor` with its quotes, and a margin.
_FOR_CURSOR = 60
# Tried in turn until an item fits into half a page.
_LENGTHS = (600, 300, 150, 60, 20)


def pages_of(answer: Answer, key: str) -> list[str]:
    """Return the pages of an answer as JSON; each but the last has the field `next_cursor`."""
    # Half of a page for each item and for the fields of the first page, so that every page has at least one item.
    items = [_shortened(item, MOST_BYTES // 2) for item in answer.items]
    fields = _shortened({**answer.fields, **({"total": len(items)} if items else {})}, MOST_BYTES // 2)
    groups: list[tuple[Any, list[Any]]] = [(fields, [])]
    size = _size(fields)
    for item in items:
        length = _size(item) + 1
        if groups[-1][1] and size + length > MOST_BYTES - _FOR_CURSOR:
            groups.append(({}, []))
            size = 2
        groups[-1][1].append(item)
        size += length
    made = []
    for number, (first, group) in enumerate(groups, 1):
        listed = {"items": group} if items else {}
        following = {"next_cursor": f"{key}.{number}"} if number < len(groups) else {}
        made.append(_encoded({**first, **listed, **following}).decode())
    return made


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=str)


def _size(value: Any) -> int:
    return len(_encoded(value))


def _shortened(value: Any, most: int) -> Any:
    """Return a value whose long texts and lists are cut until it is small enough."""
    for length in _LENGTHS:
        if _size(value) <= most:
            return value
        value = _cut(value, length)
    return value if _size(value) <= most else {"omitted": "the item is too large"}


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[:length]}…"
    if isinstance(value, Mapping):
        return {name: _cut(inner, length) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        few = max(1, length // 20)
        kept = [_cut(inner, length) for inner in value[:few]]
        return [*kept, f"and {len(value) - few} more"] if len(value) > few else kept
    return value


class Pages:
    """The pages of the last answers, so that a cursor continues the answer to which it belongs."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._answers: OrderedDict[str, list[str]] = OrderedDict()

    def key(self, tool: str, given: Mapping[str, Any]) -> str:
        """Return the first part of the cursors of a call."""
        rest = {name: value for name, value in given.items() if name != "cursor"}
        return hashlib.sha256(json.dumps([tool, rest], sort_keys=True).encode()).hexdigest()[:16]

    def first(self, key: str, answer: Answer) -> str:
        """Store an answer and return its first page."""
        self._answers[key] = pages_of(answer, key)
        # An answer that is asked for again is the last to be dropped.
        self._answers.move_to_end(key)
        while len(self._answers) > _ANSWERS:
            self._answers.popitem(last=False)
        return self._answers[key][0]

    def page(self, tool: str, key: str, cursor: str) -> str:
        """Return the page of a cursor.

        Raises:
            NotFoundError: The cursor belongs to another call, or to an answer that is no longer stored.
        """
        own, _, number = cursor.partition(".")
        pages = self._answers.get(key, []) if own == key else []
        place = unsigned(number)
        if place is None or not 0 < place < len(pages):
            raise NotFoundError(
                f'{tool}: cursor: is "{cursor}"; it must be next_cursor of the previous page of the same call; call '
                "without a cursor for the first page"
            )
        return pages[place]


# Without sources, the tools answer about the current cluster of kubectl.
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
        imported(name, "kueuepy mcp") for name in ("mcp.server.lowlevel", "mcp.server.stdio", "mcp_types", "anyio")
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
            text = in_options(str(error), (), ()).encode("utf-8", "replace")
            return text[:MOST_BYTES].decode("utf-8", "ignore"), True
