"""`kubectl kueuepy`: the commands of kueuepy with the flags of kubectl, on the cluster that kubectl would use."""

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import yaml

from kueuepy.cli import main as kueuepy
from kueuepy.cli.streams import guarded
from kueuepy.errors import ApiError, KueueError
from kueuepy.errors.libraries import imported
from kueuepy.manifest.text.sources import CLUSTER, is_live
from kueuepy.platform.apiserver.connection import kubeconfig_path

_ON_CLUSTER = frozenset(
    "check convert delays eta explain import mcp plan record risk run simulate sweep whatif".split()  # noqa: SIM905
)
"""Commands that read a cluster; the others do not get a source."""
_IN_NAMESPACE = frozenset(("check", "convert", "explain", "run", "whatif"))
_OF_WORKLOAD = frozenset(("eta", "explain", "risk"))
"""Commands whose first argument is the name of a workload."""
_FORMATS = ("json", "yaml", "wide")
_SHORT = ("-n", "-o")
_FLAGS = {"--context": "context", "--kubeconfig": "kubeconfig", "--namespace": "namespace", "-n": "namespace"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    given, rest = _split(arguments)
    if given.get("kubeconfig"):
        os.environ["KUBECONFIG"] = given["kubeconfig"]
    command = next((one for one in rest if not one.startswith("-")), "")
    try:
        if command in _ON_CLUSTER and not {"-h", "--help"} & set(rest):
            rest = _on_cluster(command, rest, given)
    except KueueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if given.get("output") == "json":
        return kueuepy([*rest, "--json"])
    return _as_yaml(rest) if given.get("output") == "yaml" else kueuepy(rest)


def _on_cluster(command: str, rest: list[str], given: dict[str, str]) -> list[str]:
    """Return the arguments with the cluster as the last one, and with the namespace of the context."""
    namespace = given.get("namespace") or _namespace(given)
    position = rest.index(command)
    names = [place for place, one in enumerate(rest) if place > position and not one.startswith("-")]
    found = list(rest)
    if command in _OF_WORKLOAD and names and "all" not in given and "/" not in found[names[0]]:
        found[names[0]] = f"{namespace}/{found[names[0]]}"
    if command in _IN_NAMESPACE and "all" not in given:
        found += ["--namespace", namespace]
    return found if any(map(is_live, found)) else [*found, f"{CLUSTER}{given.get('context', '')}"]


def _split(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the flags of kubectl, and the other arguments."""
    given: dict[str, str] = {}
    rest: list[str] = []
    left = iter(arguments)
    for one in left:
        name, equals, value = one.partition("=")
        if one[:2] in _SHORT and len(one) > len("-n") and one[2] != "=":
            name, equals, value = one[:2], "=", one[2:]
        if name in _FLAGS:
            given[_FLAGS[name]] = value if equals else next(left, "")
        elif one in ("-A", "--all-namespaces"):
            given["all"] = "true"
        elif name in ("-o", "--output"):
            _format(name, value if equals else next(left, ""), given, rest)
        else:
            rest.append(one)
    return given, rest


def _format(name: str, value: str, given: dict[str, str], rest: list[str]) -> None:
    """Store an output format of kubectl; a file name belongs to the command."""
    if value in _FORMATS:
        given["output"] = value
    else:
        rest += [name, value]


def _namespace(given: dict[str, str]) -> str:
    """Return the namespace of the kubeconfig context.

    Raises:
        ApiError: The kubeconfig cannot be read.
    """
    config = imported("kubernetes.config", "kubectl kueuepy", '"kueuepy[live]"')
    try:
        contexts, current = config.list_kube_config_contexts(kubeconfig_path())
    except (config.ConfigException, OSError) as error:
        raise ApiError(f"kubeconfig: cannot be read: {error}") from None
    wanted = given.get("context") or (current or {}).get("name")
    return next(_namespaces(contexts, wanted), "default")


def _namespaces(contexts: list[dict[str, Any]], name: Any) -> Iterator[str]:
    for one in contexts:
        if one.get("name") == name and (one.get("context") or {}).get("namespace"):
            yield str(one["context"]["namespace"])


def _as_yaml(arguments: list[str]) -> int:
    """Run a command and print its JSON output as YAML."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = kueuepy([*arguments, "--json"])
    if out.getvalue():
        sys.stdout.write(yaml.safe_dump(json.loads(out.getvalue()), sort_keys=False, allow_unicode=True))
    return code
