"""A platform that admits jobs: an HTTP service on a Scheduler with a journal, which survives being killed."""

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
from kueuepy.journal import Journal
from kueuepy.manifest import to_dict
from kueuepy.metrics import Watch
from kueuepy.visibility import pending_workloads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kueuepy.journal import OnChange

_STATUS = (
    (NotFoundError, 404),
    (DuplicateError, 409),
    (StateError, 409),
    (KueueError, 422),
    (ValueError, 400),
    (RecursionError, 400),
)
_LARGEST = 3 * 1024 * 1024  # bytes of a body, as Kubernetes' API server takes
_MOST = 500  # jobs of one post: all of them or none are taken, and meanwhile everybody else waits
_LONG = 20  # jobs from which on a post counts as a long one
_HEALTHY = 10.0  # seconds in which a service that is well answers


class Platform:
    """The service's routes, on one Scheduler."""

    def __init__(
        self,
        journal: Journal,
        cluster: kq.Cluster,
        hosts: Sequence[str] = ("localhost", "127.0.0.1"),
        on_change: OnChange = "error",
    ) -> None:
        """Comes back to what was acknowledged, or starts from the cluster; it is called by one of the names `hosts`.

        A journal that holds other objects than the cluster is an error, unless `on_change` is `apply` or `keep`.
        """
        self._journal = journal
        self._hosts = hosts
        scheduler = journal.scheduler(cluster, now=time.time(), on_change=on_change)
        self._watch = Watch(scheduler)
        self._desk = Desk(journal, scheduler)

    def app(self) -> Starlette:
        """The service."""
        workload = "/workloads/{namespace}/{name}"
        return Starlette(
            lifespan=self._lifespan,
            # A web page that somebody looks at must not submit jobs, by whatever name it finds this service.
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
        """A job, a Workload or a row: admitted now, or in line. 201 once it is durable."""
        body = await _json(request)
        count = len(body) if isinstance(body, list) else 1
        if count > _MOST:
            raise HTTPException(413, f"has {count} jobs; a post may have {_MOST} at most: send several")
        keys = await self._ask(lambda scheduler: scheduler.submit(body), long=count > _LONG)
        return JSONResponse({"workloads": keys, "remarks": keys.remarks}, 201)

    async def show(self, request: Request) -> Response:
        """A workload with its status."""
        return JSONResponse(await self._ask(lambda scheduler: to_dict(scheduler.workload(_key(request)))))

    async def finish(self, request: Request) -> Response:
        """The job is done."""
        await self._ask(lambda scheduler: scheduler.finish(_key(request)))
        return Response(status_code=204)

    async def delete(self, request: Request) -> Response:
        """The workload is gone."""
        await self._ask(lambda scheduler: scheduler.delete(_key(request)))
        return Response(status_code=204)

    async def explain(self, request: Request) -> Response:
        """Why the workload waits."""
        return PlainTextResponse(str(await self._ask(lambda scheduler: scheduler.explain(_key(request)))))

    async def pending(self, request: Request) -> Response:
        """Who waits in a queue, as Kueue's visibility API tells it."""
        place, page = request.path_params, request.query_params
        whose = {"cluster_queue": place["queue"]}
        if "namespace" in place:
            whose = {"local_queue": f"{place['namespace']}/{place['queue']}"}
        cut = {name: int(page.get(name, 0)) for name in ("limit", "offset")}
        found = await self._ask(lambda scheduler: pending_workloads(scheduler, **whose, **cut))
        return JSONResponse(found.manifest())

    async def change(self, request: Request) -> Response:
        """Fields of queues, cohorts and flavors, such as a quota, merged as `kubectl apply` does."""
        body = await _json(request)
        manifests = body if isinstance(body, list) else [body]
        kinds = {manifest.get("kind") if isinstance(manifest, dict) else None for manifest in manifests}
        if not kinds <= {"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "AdmissionCheck"}:
            raise HTTPException(422, "must be manifests of queues, cohorts, flavors or admission checks")
        await self._ask(lambda scheduler: scheduler.patch(*manifests), long=len(manifests) > _LONG)
        return Response(status_code=204)

    async def metrics(self, _: Request) -> Response:
        """Everything under the names that Kueue's dashboards know."""
        text = await self._ask(lambda _: self._watch.metrics_text())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def health(self, _: Request) -> Response:
        """Whether calls can be made durable."""
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
    """Refuses what a page of another origin sends: browsers name the origin of everything that may change something."""

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
    """The body, which must be JSON as it is standardised, and not too large.

    Raises:
        HTTPException: It is too large, or is said to be something else.
        ValueError: It is no JSON.
        RecursionError: It is too deep.
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
    raise ValueError(f"{text} is no number of JSON")


def _key(request: Request) -> str:
    return f"{request.path_params['namespace']}/{request.path_params['name']}"


def main() -> None:
    """Serves until it is stopped, in whatever way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cluster", help="manifests of flavors, queues and cohorts")
    parser.add_argument("journal", help="the file that remembers; a new one is made")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument(
        "--name", action="append", default=["localhost", "127.0.0.1"], help="one more name of this host"
    )
    parser.add_argument(
        "--on-change",
        choices=("error", "apply", "keep"),
        default="error",
        help="what to do if the journal holds other objects than the cluster (default: error)",
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
