"""Manifests of jobs: typical examples, and a minimal Job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).parents[1] / "examples" / "jobs"
CLUSTER = EXAMPLES / "cluster.yaml"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml") if path != CLUSTER)


def example(name: str) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
    """The manifest of an example, and the manifests of what it refers to."""
    *related, manifest = yaml.safe_load_all((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return manifest, tuple(related)


def minimal_job(
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    pod_annotations: dict[str, str] | None = None,
    pod: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A Job of one container; other keyword arguments are fields of its spec."""
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **(pod or {})}}
    if pod_annotations:
        template["metadata"] = {"annotations": pod_annotations}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "team-a",
            "labels": {"kueue.x-k8s.io/queue-name": "training"} | (labels or {}),
            "annotations": annotations or {},
        },
        "spec": {"template": template, **spec},
    }
