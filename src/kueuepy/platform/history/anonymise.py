"""Replacement of names with keyed hashes, so that a recording can be shared outside the organisation."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kueuepy.errors import InvalidSpecError, NotFoundError

_HOSTNAME = "kubernetes.io/hostname"
_NAMESPACE = "kubernetes.io/metadata.name"
# Kueue's rules read these two labels of Workloads.
_KEPT_LABELS = ("kueue.x-k8s.io/job-uid", "kueue.x-k8s.io/max-exec-time-seconds")
# The verification finds the preemptor of a workload by the UID in this part of a message.
_PREEMPTOR = re.compile(r"\(UID: [0-9a-fA-F-]*, JobUID: [0-9a-fA-F-]*\)")
# As long as the digest of SHA-256: a shorter key would weaken the hash.
_BYTES = 32
# 48 bits: among a million names, a collision has a probability of less than 0.2 %.
_LETTERS = 12
# The kind of name that each field contains.
_REFERENCES = {
    **dict.fromkeys(("clusterQueue", "cohort", "cohortName", "parent", "parentName"), "queue"),
    "queueName": "local",
    **dict.fromkeys((_HOSTNAME, "nodeName"), "node"),
}
# The beginning of the annotations that identify pods which Kueue placed in a topology.
_TOPOLOGY = "kueue.x-k8s.io/podset-"
# Selectors contain label values, whose replacements must be equal to those of the labels of namespaces.
_SELECTORS = {"namespaceSelector", "managedJobsNamespaceSelector"}
_MANAGER_FILE = "controller_manager_config.yaml"


class Anonymiser:
    """The replacement of the names of namespaces, queues, users, workloads, jobs and nodes.

    The same name has the same hash in all recordings with the same key. Condition messages, labels and annotations are
    removed, except those that Kueue's rules read. Names of flavors, resources, topologies, admission checks and
    priority classes are not replaced.

    Attributes:
        mark: A hash that identifies the key without revealing it.
    """

    def __init__(self, key: bytes) -> None:
        """Create a replacement of names that computes the hashes with a key."""
        self._key = key
        self.mark = self._hash("key", "mark")

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> "Anonymiser":
        """Read the key from a file. If the file does not exist, create it with a random key and mode 0600.

        Raises:
            NotFoundError: The file cannot be read or created.
            InvalidSpecError: The file is too short for a key.
        """
        try:
            try:
                # O_EXCL: of two processes that start at the same time, one creates the key and the other reads it.
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                key = Path(path).read_bytes()
            else:
                key = secrets.token_hex(_BYTES).encode() + b"\n"
                try:
                    with os.fdopen(descriptor, "wb") as file:
                        file.write(key)
                except OSError:
                    Path(path).unlink()
                    raise
        except OSError as error:
            raise NotFoundError(f"{path}: cannot be read: {error.strerror}") from None
        if len(key.strip()) < _BYTES:
            raise InvalidSpecError(f"{path}: has {len(key.strip())} bytes; a key must have at least {_BYTES}")
        return cls(key.strip())

    def name(self, name: str, kind: str) -> str:
        """Return the replacement for a name; the replacement is a valid Kubernetes name.

        Args:
            name: The name; an empty string stays empty.
            kind: The kind of name, such as `queue`; the same name has different hashes for different kinds.
        """
        return f"{kind}-{self._hash(kind, name)}" if name else ""

    def object(self, obj: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return an object with replaced names.

        Args:
            obj: The object, reduced to the parts that influence decisions.
            kind: The kind of the object.
        """
        found = self._walk({name: value for name, value in obj.items() if name != "metadata"})
        metadata = self._metadata(obj["metadata"], kind)
        if kind == "ConfigMap":
            return {**obj, "metadata": metadata, "data": self._data(obj.get("data") or {})}
        return {**found, "metadata": metadata}

    def _hash(self, kind: str, name: str) -> str:
        # A keyed hash: without the key, a guessed name cannot be compared with its hash.
        return hmac.new(self._key, f"{kind}\0{name}".encode(), hashlib.sha256).hexdigest()[:_LETTERS]

    def _metadata(self, metadata: dict[str, Any], kind: str) -> dict[str, Any]:
        found = {name: value for name, value in metadata.items() if name not in ("labels", "annotations")}
        kinds = {"ClusterQueue": "queue", "Cohort": "queue", "LocalQueue": "local", "Namespace": "namespace"}
        kinds |= {"Node": "node", "Workload": "workload", "LimitRange": "limits", "Pod": "pod"}
        if kind in kinds:
            found["name"] = self.name(metadata["name"], kinds[kind])
        if "namespace" in found and kind != "ConfigMap":
            found["namespace"] = self.name(found["namespace"], "namespace")
        if "ownerReferences" in found:
            owners = found["ownerReferences"]
            found["ownerReferences"] = [{**one, "name": self.name(one.get("name", ""), "job")} for one in owners]
        if labels := self._labels(metadata.get("labels") or {}, kind):
            found["labels"] = labels
        annotations = metadata.get("annotations") or {}
        if kept := {name: value for name, value in annotations.items() if name.startswith(_TOPOLOGY)}:
            found["annotations"] = kept
        return found

    def _labels(self, labels: dict[str, str], kind: str) -> dict[str, str]:
        if kind == "Namespace":
            return {name: self._label(name, value) for name, value in labels.items()}
        if kind == "Node":
            return {name: self._node(value) if name == _HOSTNAME else value for name, value in labels.items()}
        return {name: value for name, value in labels.items() if name in _KEPT_LABELS}

    def _label(self, name: str, value: str) -> str:
        """Return the replacement for the value of a namespace label, as used in the selectors of queues."""
        return self.name(value, "namespace" if name == _NAMESPACE else "label")

    def _data(self, data: dict[str, str]) -> dict[str, str]:
        """Return the manager's ConfigMap with only the Configuration, in which names of namespaces are replaced."""
        import yaml  # noqa: PLC0415 - only this method needs it

        documents = [self._walk(one) for one in yaml.safe_load_all(data.get(_MANAGER_FILE) or "")]
        return {_MANAGER_FILE: yaml.safe_dump_all(documents)}

    def _walk(self, value: Any, field: str = "") -> Any:
        """Return the value of a field, with all references in it replaced."""
        if isinstance(value, list):
            return [self._walk(one, field) for one in value]
        if isinstance(value, dict):
            if field in _SELECTORS:
                return self._selector(value)
            if field == "topologyAssignment":
                return self._assignment(value)
            found = {name: self._walk(one, name) for name, one in value.items()}
            if field == "unhealthyNodes":
                found["name"] = self._node(value.get("name", ""))
            elif field == "podSets":
                (found.get("template") or {}).get("metadata", {}).pop("labels", None)
            elif value.get("key") == _HOSTNAME and value.get("values"):  # an expression of a node affinity
                found["values"] = list(map(self._node, value["values"]))
            return found
        if isinstance(value, str):
            if field in _REFERENCES:
                return self.name(value, _REFERENCES[field])
            if field == "message":
                uids = _PREEMPTOR.search(value)
                return " ".join(filter(None, ["preemption" if "preempt" in value else "", uids[0] if uids else ""]))
        return value

    def _node(self, name: str) -> str:
        return self.name(name, "node")

    def _selector(self, selector: dict[str, Any]) -> dict[str, Any]:
        labels = {name: self._label(name, value) for name, value in (selector.get("matchLabels") or {}).items()}
        rules = [
            {**rule, "values": [self._label(rule["key"], value) for value in rule["values"]]}
            if rule.get("values")
            else rule
            for rule in selector.get("matchExpressions") or ()
        ]
        return {name: value for name, value in (("matchLabels", labels), ("matchExpressions", rules)) if value}

    def _assignment(self, assignment: dict[str, Any]) -> dict[str, Any]:
        """Return a topology assignment with replaced nodes, of v1beta1 (`domains`) or v1beta2 (`slices`)."""
        levels = assignment.get("levels") or []

        def at_hosts(values: Iterable[Any], change: Callable[[Any], Any]) -> list[Any]:
            return [change(one) if level == _HOSTNAME else one for one, level in zip(values, levels, strict=False)]

        changes = {
            "domains": lambda one: {**one, "values": at_hosts(one["values"], self._node)},
            "slices": lambda one: {**one, "valuesPerLevel": at_hosts(one.get("valuesPerLevel") or (), self._values)},
        }
        replaced = {name: list(map(changes[name], assignment[name])) for name in changes if name in assignment}
        return {**assignment, **replaced}

    def _values(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of one level in the compressed form of v1beta2."""
        if "universal" in values:
            return {**values, "universal": self._node(values["universal"])}
        individual = values.get("individual") or {}
        prefix, suffix = individual.get("prefix", ""), individual.get("suffix", "")
        roots = [self._node(f"{prefix}{root}{suffix}") for root in individual.get("roots") or ()]
        return {**values, "individual": {"roots": roots}}
