"""A connection to an API server that sends GET requests only."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from kueuepy.errors import ApiError, imported

PAGE = 500
"""The maximum number of objects that one request returns."""
GONE = 410
FORBIDDEN = 403
NOT_FOUND = 404
_OK = 200
# A response that ends early is requested again at most three times, after 0.2, 0.4 and 0.8 seconds.
_ATTEMPTS = 4
# Timeouts, in seconds, for connecting and for reading. The read timeout limits pauses within a response.
_CONNECT, _READ = 10.0, 60.0
# The name of the source that stands for the cluster in which the process runs.
_INSIDE = "in"


def kubeconfig_path() -> str:
    """Return the kubeconfig of kubectl; the client itself reads `$KUBECONFIG` only when it is imported."""
    return os.environ.get("KUBECONFIG") or "~/.kube/config"


class ListedPage(NamedTuple):
    """A page of a list response.

    Attributes:
        version: The resourceVersion of the whole list.
        objects: The objects, without `managedFields`.
    """

    version: str
    objects: list[dict[str, Any]]


class _ListMeta(msgspec.Struct, rename={"token": "continue", "version": "resourceVersion"}):
    token: str = ""
    version: str = ""


class _RawList(msgspec.Struct, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[dict[str, msgspec.Raw]] | None = None


# Items stay undecoded JSON until their page is yielded: a list of all pods would not fit into memory as dicts.
_LIST = msgspec.json.Decoder(_RawList)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_OBJECTS = msgspec.json.Decoder(list[dict[str, Any]])


class Connection:
    """A connection to the API server of a kubeconfig context, or of the cluster in which the process runs.

    The official Kubernetes client provides the configuration, the authentication and the TLS settings. Requests use the
    client's connection pool and only the method GET.

    Attributes:
        name: The display name of the source, such as `cluster:prod`.
        page: The maximum number of objects per request.
    """

    page: int = PAGE

    def __init__(self, name: str, configuration: Any) -> None:
        """Create a connection from a `Configuration` of the Kubernetes client, without sending a request.

        Args:
            name: The name of the source, such as `cluster:prod`.
            configuration: The configuration.
        """
        urllib3 = imported("urllib3", name)
        client = imported("kubernetes.client", name)
        configuration.retries = urllib3.Retry(
            total=5,
            connect=2,
            # A redirect could send the credentials to another server.
            redirect=0,
            backoff_factor=0.2,
            allowed_methods=frozenset(("GET",)),
            status_forcelist=(429, 502, 503, 504),
            # `_refusal` reports the message of the last answer instead.
            raise_on_status=False,
        )
        self.name = name
        self._configuration = configuration
        self._pool = client.ApiClient(configuration).rest_client.pool_manager
        self._timeout = urllib3.Timeout(connect=_CONNECT, read=_READ)
        self._faults = (urllib3.exceptions.HTTPError, OSError)

    @classmethod
    def open(cls, context: str = "", kubeconfig: str | None = None) -> "Connection":
        """Open the connection of a source.

        Args:
            context: The name of a kubeconfig context; an empty string for the current context; `in` for the cluster in
                which the process runs.
            kubeconfig: The kubeconfig file; by default, the file that kubectl uses: `$KUBECONFIG` or `~/.kube/config`.

        Raises:
            ApiError: The kubeconfig, its context or the in-cluster configuration cannot be loaded.
            UnsupportedError: The Kubernetes client is not installed.
        """
        name = f"cluster:{context}"
        config = imported("kubernetes.config", name)
        found = imported("kubernetes.client", name).Configuration()
        try:
            if context == _INSIDE:
                config.load_incluster_config(client_configuration=found)
            else:
                file = kubeconfig or kubeconfig_path()
                context = context or str((config.list_kube_config_contexts(file)[1] or {}).get("name", ""))
                name = f"cluster:{context}"
                # `persist_config=False`: refreshed tokens are not written into the kubeconfig.
                config.load_kube_config(
                    config_file=file, context=context or None, client_configuration=found, persist_config=False
                )
        except (config.ConfigException, OSError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ApiError(f"{name}: cannot be used: {reason}; `kubectl config get-contexts` lists contexts") from None
        return cls(name, found)

    def get(self, path: str, **parameters: str | int) -> bytes:
        """Return the body of a response.

        Args:
            path: The URL path.
            parameters: The query parameters; empty parameters are omitted.

        Raises:
            ApiError: The server refuses the request, or cannot be reached.
        """
        attempt = 0
        while True:
            try:
                with self._answer(path, parameters, self._timeout) as answer:
                    data: bytes = answer.read(decode_content=True)
                    return data
            except _TornError:  # noqa: PERF203 - of one request
                attempt += 1
                if attempt == _ATTEMPTS:
                    raise
                time.sleep(0.1 * 2**attempt)

    def watch(self, path: str, seconds: int, **parameters: str | int) -> Iterator[bytes]:
        """Yield the lines of a watch until the server ends the watch.

        Args:
            path: The URL path.
            seconds: The time after which the server should end the watch.
            parameters: Further query parameters.

        Raises:
            ApiError: The server refuses the request, or the connection breaks.
        """
        options = {"watch": 1, "allowWatchBookmarks": "true", "timeoutSeconds": seconds, **parameters}
        timeout = self._timeout.__class__(connect=_CONNECT, read=seconds + _READ)
        with self._answer(path, options, timeout) as answer:
            rest = b""
            for part in answer.stream(None, decode_content=True):
                # A part of a chunked response can end within a line.
                *lines, rest = (rest + part).split(b"\n")
                yield from filter(None, lines)
            if rest.strip():
                raise _TornError(f"{self.name}: GET {path}: the answer ends within a line")

    def pages(self, path: str, selector: str = "") -> Iterator[ListedPage]:
        """Yield all objects of a list in pages, all from the same resource version.

        If the resource version expires between two pages, the list is requested again from the first page. No page is
        yielded before the last page has been received; until then, the pages are stored as compact JSON.

        Args:
            path: The URL path of the list.
            selector: The field selector of the objects; an empty string for all objects.

        Raises:
            ApiError: The server refuses the request, or cannot be reached.
        """
        kept: list[bytes] = []
        token = version = ""
        restarts = 0
        while True:
            try:
                found = self._page(path, selector, token)
            except ApiError as error:
                # The token of a long list expires with its version (410).
                if error.status != GONE or not token or restarts == _ATTEMPTS:
                    raise
                restarts += 1
                kept, token = [], ""
                continue
            version, token = found.metadata.version, found.metadata.token
            kept.append(_compact(found))
            if not token:
                break
        for position, part in enumerate(kept):
            kept[position] = b""
            yield ListedPage(version, _OBJECTS.decode(part))

    def _page(self, path: str, selector: str, token: str) -> _RawList:
        data = self.get(path, limit=self.page, **{"continue": token}, fieldSelector=selector)
        try:
            return _LIST.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(f"{self.name}: GET {path}: is not a list of objects: {error}") from None

    @contextmanager
    def _answer(self, path: str, parameters: dict[str, Any], timeout: Any) -> Iterator[Any]:
        query = urlencode({name: value for name, value in parameters.items() if value != ""})
        url = f"{self._configuration.host}{path}" + (f"?{query}" if query else "")
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "kueuepy"}
        try:
            for one in self._configuration.auth_settings().values():  # refreshes expired tokens
                if one["in"] == "header" and one["value"]:
                    headers[one["key"]] = one["value"]
            answer = self._pool.request("GET", url, headers=headers, preload_content=False, timeout=timeout)
        except self._faults as error:
            reason = getattr(error, "reason", None) or error
            raise ApiError(f"{self.name}: cannot be reached: {reason}") from None
        try:
            if answer.status != _OK:
                raise self._refusal(path, answer)
            yield answer
        except self._faults as error:
            raise _TornError(f"{self.name}: GET {path}: the connection broke: {error}") from None
        finally:
            answer.close()

    def _refusal(self, path: str, answer: Any) -> ApiError:
        """Return the error for a response whose HTTP status is not 200."""
        body = answer.read(65536, decode_content=True)
        try:
            message = str(msgspec.json.decode(body, type=dict[str, Any]).get("message") or answer.reason)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            message = body.decode(errors="replace").strip()[:200] or answer.reason
        return ApiError.of(f"{self.name}: GET {path}: {answer.status} {answer.reason}: {message}", answer.status)


class _TornError(ApiError):
    """A response ended before it was complete."""


def _compact(found: _RawList) -> bytes:
    """Return the objects of a page as JSON without `managedFields`; items of a list may omit apiVersion and kind."""
    # The API server writes apiVersion and kind once for a list.
    typed = {"apiVersion": found.api_version, "kind": found.kind.removesuffix("List")}
    kept = []
    for one in found.items or ():
        metadata = _FIELDS.decode(one["metadata"]) if "metadata" in one else {}
        metadata.pop("managedFields", None)
        kept.append({**typed, **one, "metadata": metadata})
    return msgspec.json.encode(kept)
