"""An HTTP service that admits jobs with a Scheduler and a journal, and survives being killed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from desk import Desk
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

import kueuepy as kq
from kueuepy.errors import DuplicateError, KueueError, NotFoundError, StateError
from kueuepy.manifest import to_dict
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import pending_workloads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kueuepy.platform.journal import OnChange

_STATUS = (
    (NotFoundError, 404),
    (DuplicateError, 409),
    (StateError, 409),
    (KueueError, 422),
    (ValueError, 400),
    (RecursionError, 400),
)
_LARGEST = 3 * 1024 * 1024  # largest body in bytes, as in Kubernetes' API server
_MOST = 500  # jobs per request; a request is atomic, and all other requests wait for it
_LONG = 20  # a request with more jobs is long
_HEALTHY = 10.0  # seconds within which a healthy service responds


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
        scheduler = journal.scheduler(cluster, now=time.time(), on_change=on_change)
        self._watch = Watch(scheduler)
        self._desk = Desk(journal, scheduler)

    def app(self) -> Starlette:
        """Return the ASGI application."""
        workload = "/workloads/{namespace}/{name}"
        return Starlette(
            lifespan=self._lifespan,
            # Web pages of other origins must not submit jobs, by whatever host name they reach this service.
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=self._hosts), Middleware(_OwnOrigin)],
            exception_handlers=dict.fromkeys((KueueError, ValueError, RecursionError, HTTPException), self._error),
            routes=[
                Route("/jobs", self.submit, methods=["POST"]),
                Route(workload, self.show),
                Route(workload, self.delete, methods=["DELETE"]),
                Route(f"{workload}/finish", self.finish, methods=["POST"]),
                Route(f"{workload}/explain", self.explain),
                Route("/clusterqueues/{queue}/pendingworkloads", self.pending),
                Route("/namespaces/{namespace}/localqueues/{queue}/pendingworkloads", self.pending),
                Route("/objects", self.change, methods=["PATCH"]),
                Route("/metrics", self.metrics),
                Route("/healthz", self.health),
            ],
        )

    async def submit(self, request: Request) -> Response:
        """Submit jobs, Workloads or rows; respond 201 once they are durable."""
        body = await _json(request)
        count = len(body) if isinstance(body, list) else 1
        if count > _MOST:
            raise HTTPException(413, f"has {count} jobs; a post may have {_MOST} at most: send several")
        keys = await self._ask(lambda scheduler: scheduler.submit(body), long=count > _LONG)
        return JSONResponse({"workloads": keys, "remarks": keys.remarks}, 201)

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
        cut = {name: int(page.get(name, 0)) for name in ("limit", "offset")}
        found = await self._ask(lambda scheduler: pending_workloads(scheduler, **whose, **cut))
        return JSONResponse(found.manifest())

    async def change(self, request: Request) -> Response:
        """Change fields of queues, cohorts, flavors or checks, merged as by `kubectl apply`."""
        body = await _json(request)
        manifests = body if isinstance(body, list) else [body]
        kinds = {manifest.get("kind") if isinstance(manifest, dict) else None for manifest in manifests}
        if not kinds <= {"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "AdmissionCheck"}:
            raise HTTPException(422, "must be manifests of queues, cohorts, flavors or admission checks")
        await self._ask(lambda scheduler: scheduler.patch(*manifests), long=len(manifests) > _LONG)
        return Response(status_code=204)

    async def metrics(self, _: Request) -> Response:
        """Return Kueue's metrics, with the names that Kueue's dashboards use."""
        text = await self._ask(lambda _: self._watch.metrics_text())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def health(self, _: Request) -> Response:
        """Respond 200 if calls can be made durable, and 503 otherwise."""
        failure = self._journal.failure
        try:
            await asyncio.wait_for(self._ask(lambda _: None), _HEALTHY)
        except asyncio.TimeoutError:
            failure = failure or f"no answer in {_HEALTHY:g} s"
        return PlainTextResponse(failure or "ok", 503 if failure else 200)

    async def _ask(self, act: Callable[[kq.Scheduler], Any], *, long: bool = False) -> Any:
        return await asyncio.wrap_future(self._desk.ask(act, long=long))

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        with self._desk.open():
            yield

    async def _error(self, _: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return JSONResponse({"error": error.detail}, error.status_code)
        status = next(status for kind, status in _STATUS if isinstance(error, kind))
        if isinstance(error, StateError) and self._journal.failure:
            status = 503
        return JSONResponse({"error": str(error)}, status)


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


async def _json(request: Request) -> Any:
    """Return the body of a request, parsed as standard JSON.

    Raises:
        HTTPException: The body is too large, or its content type is not JSON.
        ValueError: The body is not valid JSON.
        RecursionError: The body is nested too deeply.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f'content-type: is "{kind}"; it must be "application/json"')
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise HTTPException(413, f"is larger than {_LARGEST} bytes")
    return json.loads(body, parse_constant=_no_number)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _key(request: Request) -> str:
    return f"{request.path_params['namespace']}/{request.path_params['name']}"


def main() -> None:
    """Run the service until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cluster", help="manifests of flavors, queues and cohorts: a file or folder")
    parser.add_argument("journal", help="journal file; created if it does not exist")
    parser.add_argument("--port", type=int, default=8080)
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
    given = parser.parse_args()
    with Journal(given.journal) as journal:
        try:
            platform = Platform(journal, kq.load(given.cluster), given.name, given.on_change)
        except KueueError as error:
            sys.exit(f"error: {error}")
        uvicorn.run(platform.app(), host="127.0.0.1", port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
