"""Reads scenario files: JSON lines, plain or gzip, or standard input."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.times import parse_duration
from kueuepy.objects import (
    AdmissionFairSharing,
    Configuration,
    FairSharingConfig,
    RequeuingStrategy,
    WaitForPodsReady,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class ScenarioError(InvalidSpecError):
    """A scenario file cannot be read, or a scenario is not of the form that `replay` takes."""


def _open(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return io.BytesIO(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (OSError, EOFError) as error:
        raise ScenarioError(f"{path}: is no complete gzip file: {error}") from None


def read_scenarios(path: str) -> Iterator[dict[str, Any]]:
    """The scenarios of a file, one JSON object a line; `-` is standard input.

    Raises:
        ScenarioError: The file cannot be read, or a line is no scenario; the message names file and line.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])
    with _open(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                scenario = decoder.decode(line)
            except msgspec.DecodeError as error:
                raise ScenarioError(f"{path}:{number}: {error}; a scenario is one JSON object a line") from None
            for field in ("name", "objects", "steps"):
                if field not in scenario:
                    raise ScenarioError(f"{path}:{number}: a scenario needs the field {field!r}")
            yield scenario


def _duration(value: Any, field: str) -> int:
    parsed = parse_duration(value) if isinstance(value, str) else None
    if parsed is None:
        raise ScenarioError(f"config.{field}: {value!r} is no duration such as '30s' or '5m0s'")
    return parsed


def configuration(config: dict[str, Any]) -> Configuration:
    """The Configuration that a scenario's `config` stands for: only what it names is on."""
    fields: dict[str, Any] = {"feature_gates": dict(config.get("featureGates") or {})}
    if (sharing := config.get("fairSharing")) is not None:
        strategies = sharing.get("preemptionStrategies")
        fields["fair_sharing"] = FairSharingConfig(tuple(strategies)) if strategies else FairSharingConfig()
    if (usage := config.get("admissionFairSharing")) is not None:
        fields["admission_fair_sharing"] = AdmissionFairSharing(
            usage_half_life_time=_duration(usage.get("usageHalfLifeTime", "0s"), "usageHalfLifeTime"),
            usage_sampling_interval=_duration(usage.get("usageSamplingInterval", "5m"), "usageSamplingInterval"),
            resource_weights={name: float(weight) for name, weight in (usage.get("resourceWeights") or {}).items()},
        )
    if (wait := config.get("waitForPodsReady")) is not None:
        strategy = wait.get("requeuingStrategy") or {}
        recovery = wait.get("recoveryTimeout")
        fields["wait_for_pods_ready"] = WaitForPodsReady(
            timeout=_duration(wait.get("timeout", "5m"), "timeout"),
            recovery_timeout=None if recovery is None else _duration(recovery, "recoveryTimeout"),
            block_admission=bool(wait.get("blockAdmission", False)),
            requeuing_strategy=RequeuingStrategy(
                timestamp=strategy.get("timestamp", "Eviction"),
                backoff_base_seconds=strategy.get("backoffBaseSeconds", 60),
                backoff_max_seconds=strategy.get("backoffMaxSeconds", 3600),
                backoff_limit_count=strategy.get("backoffLimitCount"),
            ),
        )
    return Configuration(**fields)
