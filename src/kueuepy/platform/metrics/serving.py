"""Metrics for Prometheus over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors import InvalidSpecError
from kueuepy.look.serving import Answer, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PORTS = 65536
_KIND = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the Prometheus text format."""


class MetricsServer(Server):
    """A server that answers `GET /metrics` with the text that a function returns."""

    def __init__(self, address: str, text: Callable[[], str]) -> None:
        """Start to listen.

        Args:
            address: `HOST:PORT`, or a port of the loopback interface; port 0 selects a free port.
            text: A function that returns the metrics in the Prometheus text format. The function is called in other
                threads.

        Raises:
            InvalidSpecError: The address is not valid, or cannot be used.
        """
        host, _, port = address.rpartition(":")
        if not port.isdecimal() or int(port) >= _PORTS:
            raise InvalidSpecError(f"{address!r}; it must be HOST:PORT, or a port of the loopback interface")
        try:
            super().__init__(_MetricsSite(text), int(port), host.strip("[]") or "127.0.0.1")
        except OSError as error:
            raise InvalidSpecError(f"{address}: cannot be used: {error.strerror or error}") from None

    @property
    def url(self) -> str:
        """The address of the metrics."""
        return f"{super().url}metrics"


class _MetricsSite:
    """The one path of a server of metrics."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text

    def get(self, path: str, query: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - metrics have no parameters
        return Answer(_KIND, self._text().encode()) if path == "metrics" else None

    def post(self, path: str, body: bytes) -> Answer | None:  # noqa: ARG002 - clients only read metrics
        return None
