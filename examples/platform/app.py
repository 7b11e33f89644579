"""An HTTP service that admits jobs with a Scheduler and a journal, and survives being killed."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import signal
import sys
import time
from contextlib import asynccontextmanager, suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

import uvicorn
from desk import Desk
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

import kueuepy as kq
from kueuepy.errors import DuplicateError, KueueError, NotFoundError, StateError
from kueuepy.manifest import to_dict
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import pending_workloads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from types import FrameType

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from kueuepy.platform.journal import OnChange
    from kueuepy.platform.visibility import SchedulerEvent

_STATUS = (
    (NotFoundError, 404),
    (DuplicateError, 409),
    (StateError, 409),
    (KueueError, 422),
    (ValueError, 400),
)
_LARGEST = 3 * 1024 * 1024  # largest body in bytes, as in Kubernetes' API server
_MOST = 500  # jobs per request; a request is atomic, and all other requests wait for it
_LONG = 20  # a request with more jobs is long
_HEALTHY = 10.0  # seconds within which a healthy service responds
_DIGITS = 10  # of a number in a query
_BEHIND = 10_000  # events that a client may be behind, before its stream ends
_SECONDS = 5  # in which requests may end when the service is stopped
_JOB = {"type": "object", "description": "A job of any kind that Kueue manages, a Workload, or a row"}
_PATCH = {"type": "object", "required": ["kind", "metadata"], "description": "An object with the fields to change"}
_BODIES = {"submit": _JOB, "change": _PATCH}
_PAGE = ("limit", "offset")

access, decisions, service = (logging.getLogger(f"platform.{name}") for name in ("access", "decisions", "service"))


class Platform:
    """The routes of the service, for one Scheduler."""

    def __init__(
        self,
        journal: Journal,
        cluster: kq.Cluster,
        hosts: Sequence[str] = ("localhost", "127.0.0.1"),
        on_change: OnChange = "error",
    ) -> None:
        """Restore the state from the journal, or start from the cluster if the journal is empty.

        Args:
            journal: The journal of the service.
            cluster: The objects of the service.
            hosts: Accepted host names of requests.
            on_change: What to do if the objects of the journal differ from those of the cluster.
        """
        self._journal = journal
        self._hosts = hosts
        scheduler = journal.scheduler(cluster, on_change=on_change, clock="system")
        self._watch = Watch(scheduler, history=1, on_events=self._decided)
        self._desk = Desk(journal, scheduler)
        self._streams: set[asyncio.Queue[SchedulerEvent | None]] = set()  # None is the end of a stream
        self._loop: asyncio.AbstractEventLoop | None = None

    def app(self) -> Starlette:
        """Return the ASGI application."""
        workload = "/workloads/{namespace}/{name}"
        # Web pages of other origins must not submit jobs, by whatever host name they reach this service.
        guards = (
            Middleware(_Access),
            Middleware(TrustedHostMiddleware, allowed_hosts=self._hosts),
            Middleware(_OwnOrigin),
        )
        return Starlette(
            lifespan=self._lifespan,
            middleware=guards,
            exception_handlers=dict.fromkeys(
                (KueueError, ValueError, RecursionError, HTTPException, ClientDisconnect), self._error
            ),
            routes=[
                Route("/jobs", self.submit, methods=["POST"]),
                Route(workload, self.show),
                Route(workload, self.delete, methods=["DELETE"]),
                Route(f"{workload}/finish", self.finish, methods=["POST"]),
                Route(f"{workload}/explain", self.explain),
                Route("/clusterqueues/{queue}/pendingworkloads", self.pending),
                Route("/namespaces/{namespace}/localqueues/{queue}/pendingworkloads", self.pending),
                Route("/objects", self.change, methods=["PATCH"]),
                Route("/events", self.events),
                Route("/metrics", self.metrics),
                Route("/healthz", self.live),
                Route("/readyz", self.ready),
                Route("/openapi.json", self.openapi),
            ],
        )

    async def submit(self, request: Request) -> Response:
        """Submit jobs, Workloads or rows: 201 once they are durable, or 200 if all of them exist already."""
        body = await _json(request)
        count = len(body) if isinstance(body, list) else 1
        if count > _MOST:
            raise HTTPException(413, f"body: has {count} jobs; a post may have {_MOST} at most: send several")
        if count == 0:
            raise HTTPException(422, "body: is an empty list; it must have at least one job")
        keys = await self._ask(lambda scheduler: scheduler.submit(body), long=count > _LONG)
        return JSONResponse(
            {"workloads": keys, "remarks": keys.remarks}, 200 if len(keys.existing) == len(keys) else 201
        )

    async def show(self, request: Request) -> Response:
        """Return a workload with its status."""
        return JSONResponse(await self._ask(lambda scheduler: to_dict(scheduler.workload(_key(request)))))

    async def finish(self, request: Request) -> Response:
        """Finish a workload."""
        await self._ask(lambda scheduler: scheduler.finish(_key(request)))
        return Response(status_code=204)

    async def delete(self, request: Request) -> Response:
        """Delete a workload."""
        await self._ask(lambda scheduler: scheduler.delete(_key(request)))
        return Response(status_code=204)

    async def explain(self, request: Request) -> Response:
        """Explain why a workload is waiting."""
        return PlainTextResponse(str(await self._ask(lambda scheduler: scheduler.explain(_key(request)))))

    async def pending(self, request: Request) -> Response:
        """Return the pending workloads of a queue, in the format of Kueue's visibility API."""
        place, page = request.path_params, request.query_params
        whose = {"cluster_queue": place["queue"]}
        if "namespace" in place:
            whose = {"local_queue": f"{place['namespace']}/{place['queue']}"}
        for name in page:
            if name not in _PAGE:
                raise ValueError(f"{name:.20}: is not a parameter; known are {', '.join(_PAGE)}")
        cut = {name: _count(name, page.get(name, "0")) for name in _PAGE}
        found = await self._ask(lambda scheduler: pending_workloads(scheduler, **whose, **cut))
        return JSONResponse(found.manifest())

    async def change(self, request: Request) -> Response:
        """Change fields of queues, cohorts, flavors or checks, merged as by `kubectl apply`."""
        body = await _json(request)
        manifests = body if isinstance(body, list) else [body]
        kinds = [manifest.get("kind") if isinstance(manifest, dict) else None for manifest in manifests]
        if not all(
            kind in ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "AdmissionCheck") for kind in kinds
        ):
            raise HTTPException(422, "must be manifests of queues, cohorts, flavors or admission checks")
        await self._ask(lambda scheduler: scheduler.patch(*manifests), long=len(manifests) > _LONG)
        return Response(status_code=204)

    async def events(self, _: Request) -> Response:
        """Stream the events of all workloads, one JSON line each, from now on."""
        queue: asyncio.Queue[SchedulerEvent | None] = asyncio.Queue()
        self._streams.add(queue)

        async def lines() -> AsyncIterator[str]:
            try:
                while (event := await queue.get()) is not None:
                    yield _line(event)
            finally:
                self._streams.discard(queue)

        return StreamingResponse(lines(), media_type="application/jsonl")

    async def metrics(self, _: Request) -> Response:
        """Return Kueue's metrics, with the names that Kueue's dashboards use."""
        text = await self._ask(lambda _: self._watch.metrics_text())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def live(self, _: Request) -> Response:
        """Respond 200 if calls are processed, and 503 otherwise: the service should then be restarted."""
        try:
            await asyncio.wait_for(self._ask(lambda _: None), _HEALTHY)
        except asyncio.TimeoutError:
            return PlainTextResponse(f"no answer in {_HEALTHY:g} s", 503)
        return PlainTextResponse("ok")

    async def ready(self, _: Request) -> Response:
        """Respond 200 if calls can be made durable, and 503 otherwise: no requests should then be sent."""
        failure = self._journal.failure or ("" if self._loop else "the service is stopping")
        return PlainTextResponse(failure or "ok", 503 if failure else 200)

    async def openapi(self, request: Request) -> Response:
        """Return the description of this API in the format OpenAPI 3.1."""
        paths: dict[str, dict[str, Any]] = {}
        for route in request.app.routes:
            names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
            parameters = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
            if route.name == "pending":
                count = {"type": "integer", "minimum": 0, "default": 0}
                parameters += [{"name": name, "in": "query", "required": False, "schema": count} for name in _PAGE]
            one = _BODIES.get(route.name)
            schema = {"oneOf": [one, {"type": "array", "items": one}]}
            body = (
                {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}} if one else {}
            )
            for method in route.methods - {"HEAD"}:
                paths.setdefault(route.path, {})[method.lower()] = {
                    "operationId": f"{route.name}{'_of_local_queue' * ('namespaces' in route.path)}",
                    "summary": (route.endpoint.__doc__ or "").strip(),
                    "parameters": parameters,
                    "responses": {"default": {"description": "See README.md for the status codes"}},
                    **body,
                }
        about = {"title": "A platform on kueuepy", "version": "1"}
        return JSONResponse({"openapi": "3.1.0", "info": about, "paths": paths})

    async def _ask(self, act: Callable[[kq.Scheduler], Any], *, long: bool = False) -> Any:
        return await asyncio.wrap_future(self._desk.ask(act, long=long))

    def _decided(self, events: list[SchedulerEvent]) -> None:
        """Log events, and pass them to the streams; the thread of the desk calls this method."""
        for event in events:
            decisions.info(_line(event).rstrip())
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(self._publish, events)

    def _publish(self, events: list[SchedulerEvent]) -> None:
        for queue in list(self._streams):
            if queue.qsize() + len(events) > _BEHIND:
                self._streams.discard(queue)
                queue.put_nowait(None)
                continue
            for event in events:
                queue.put_nowait(event)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        with self._desk.open():
            self._loop = asyncio.get_running_loop()
            service.info("serving")
            yield

    def stop(self) -> None:
        """End the streams, which would otherwise last until the service ends; a handler of signals may call this."""
        if loop := self._loop:
            self._loop = None
            loop.call_soon_threadsafe(self._end_streams)

    def _end_streams(self) -> None:
        for queue in self._streams:
            queue.put_nowait(None)

    async def _error(self, _: Request, error: Exception) -> Response:
        if isinstance(error, ClientDisconnect):
            service.debug("a client has left before the end of its request")
            return Response(status_code=499)
        if isinstance(error, HTTPException):
            return JSONResponse({"error": error.detail}, error.status_code)
        status = next(status for kind, status in _STATUS if isinstance(error, kind))
        if isinstance(error, StateError) and self._journal.failure:
            status = 503
        body = {"error": str(error)}
        if isinstance(error, DuplicateError) and isinstance(key := error.about, str):
            with suppress(NotFoundError):
                body["existing"] = await self._ask(lambda scheduler: to_dict(scheduler.workload(key)))
        return JSONResponse(body, status)


class _Access:
    """Logs one line for each request: who, what, the status, and the time it took."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not access.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._app(scope, receive, noted)
        took = round(1000 * (time.monotonic() - began), 3)
        who = (scope.get("client") or ("",))[0]
        about = {"who": who, "what": f"{scope['method']} {scope['path']}", "status": status, "took_ms": took}
        access.info(json.dumps(about))


class _OwnOrigin:
    """Rejects requests of web pages of other origins.

    Browsers send the origin with each request that may change state.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{headers['host']}":
            await JSONResponse({"error": f"origin: is {origin}; it must be this service"}, 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _line(event: SchedulerEvent) -> str:
    """Return an event as a line of JSON: who, what, why, when, and how long the period took that it ends."""
    about = {
        "time": str(event.time),
        "who": event.workload,
        "what": event.kind,
        "why": event.reason,
        "message": event.message,
        "cluster_queue": event.cluster_queue,
        "preemptor": event.preemptor,
        "took_s": None if event.since is None else (event.time - event.since).total_seconds(),
    }
    return json.dumps({name: value for name, value in about.items() if value not in (None, "")}) + "\n"


async def _json(request: Request) -> Any:
    """Return the body of a request, parsed as standard JSON.

    Raises:
        HTTPException: The body is too large, its content type is not JSON, or it is not valid JSON.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f'content-type: is "{kind}"; it must be "application/json"')
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise HTTPException(413, f"body: is larger than {_LARGEST} bytes")
    try:
        return json.loads(body, parse_constant=_number, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"body: is not valid JSON: {error}") from None


def _number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(f"{text:.40} is not a number of JSON, or too large")
    return number


def _count(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < _DIGITS):
        raise ValueError(f"{name}: is {text[:_DIGITS]}; it must be a whole number, 0 or more")
    return int(text)


def _key(request: Request) -> str:
    return f"{request.path_params['namespace']}/{request.path_params['name']}"


class _Server(uvicorn.Server):
    """A server whose streams of events end at the signal that ends the server."""

    def __init__(self, config: uvicorn.Config, platform: Platform) -> None:
        super().__init__(config)
        self._platform = platform

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._platform.stop()
        super().handle_exit(sig, frame)


def main() -> None:
    """Run the service until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cluster", help="manifests of flavors, queues and cohorts: a file or folder")
    parser.add_argument("journal", help="journal file; created if it does not exist")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on (default: 8080)")
    parser.add_argument(
        "--name",
        action="append",
        default=["localhost", "127.0.0.1"],
        help="additional host name; repeatable",
    )
    parser.add_argument(
        "--on-change",
        choices=("error", "apply", "keep"),
        default="error",
        help="what to do if the objects of the journal and of the cluster differ (default: error)",
    )
    parser.add_argument(
        "--wait",
        default="0",
        help="how long to wait as a standby while another service has the journal open, such as 365d (default: 0)",
    )
    parser.add_argument(
        "--log", choices=("debug", "info", "warning"), default="warning", help="level of the logs (default: warning)"
    )
    given = parser.parse_args()
    # uvicorn raises the signal again after its end; the exit then closes the journal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    logging.basicConfig(level=given.log.upper(), format="%(levelname)s %(name)s %(message)s")
    try:
        with Journal(given.journal, wait=given.wait) as journal:
            platform = Platform(journal, kq.load(given.cluster), given.name, given.on_change)
            # SIGTERM ends the service when the requests that have begun have their answers, or after this time.
            config = uvicorn.Config(
                platform.app(),
                host="127.0.0.1",
                port=given.port,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=_SECONDS,
            )
            with suppress(KeyboardInterrupt):
                _Server(config, platform).run()
    except KueueError as error:
        sys.exit(re.sub(r'on_change="(\w+)"', r"--on-change \1", f"error: {error}"))


if __name__ == "__main__":
    main()
