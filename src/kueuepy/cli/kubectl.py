"""`kubectl kueuepy`: the commands of kueuepy with the flags of kubectl, on the cluster that kubectl would use."""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kueuepy.cli import COMMANDS, Program, execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.cli.signature import Option

# `wide` is accepted as in kubectl, and changes nothing.
_FORMATS = ("json", "yaml", "wide")
_FLAGS = {"--context": "context", "--kubeconfig": "kubeconfig", "-o": "output", "--output": "output"}
_TABLES = (".csv", ".csv.gz")
_CLUSTER = re.compile(r" cluster:(\w+)")
_OPTIONS = """
Options of kubectl:
  --context NAME          Context of the kubeconfig whose cluster the command reads.
  --kubeconfig FILE       Path of the kubeconfig file.
  -n, --namespace NAME    Namespace of the workload; by default, the namespace of the context.
  -A, --all-namespaces    Find the workload in any namespace.
  -o, --output FORMAT     Format of the answer: json or yaml; by default, text. A file name is the file to write.

Without a file of objects, a saved state or a recording as FILE or SOURCE, commands read the cluster of the context.
"""


class _Plugin(Program):
    """The plugin, with the flags of kubectl on its command line."""

    name = "kubectl kueuepy"
    about = _OPTIONS
    sources = ("files", "sources", "cluster")
    flags = (*_FLAGS, "--all-namespaces")

    def __init__(self, flags: dict[str, str]) -> None:
        """Create the plugin with the values of kubectl's flags."""
        self._flags = flags

    def in_help(self, text: str) -> str:
        """Return the help of a command with the flags of kubectl, and examples for the plugin."""
        before, title, examples = text.partition("Examples:\n")
        examples = _CLUSTER.sub(r" --context \1", examples.replace("  kueuepy ", f"  {self.name} "))
        return f"{before}{_OPTIONS.lstrip()}\n{title}{examples.replace('| kueuepy ', f'| {self.name} ')}"

    def complete(self, options: Sequence[Option], values: dict[str, Any]) -> None:
        """Add the cluster and the namespace of the context, unless the command line names another source."""
        source = next((one for one in options if one.is_argument and one.name in self.sources), None)
        if source is None:
            return
        given = values.get(source.name, ())
        # A table has jobs but no cluster; any other file takes the place of the cluster.
        if not all(name.endswith(_TABLES) for name in ([given] if isinstance(given, str) else given)):
            return
        cluster = f"cluster:{self._flags.get('context', '')}"
        values[source.name] = [*given, cluster] if source.repeats else cluster
        if "all" in self._flags or not any(one.name == "namespace" for one in options):
            return
        values["namespace"] = values.get("namespace") or _namespace(self._flags.get("context"))
        if "/" not in values.get("workload", "/"):
            values["workload"] = f"{values['namespace']}/{values['workload']}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    flags, words = _split(list(sys.argv[1:] if argv is None else argv))
    if "kubeconfig" in flags:
        os.environ["KUBECONFIG"] = flags["kubeconfig"]
    if _reads_a_cluster(words):
        words.append(f"cluster:{flags.get('context', '')}")
    plugin, output = _Plugin(flags), flags.get("output")
    if output == "yaml":
        return _as_yaml([*words, "--json"], plugin)
    return execute([*words, "--json"] if output == "json" else words, plugin)


def _reads_a_cluster(words: list[str]) -> bool:
    """Return whether a command has another function for a cluster, and its command line names no file instead."""
    if not words or words[0] not in COMMANDS or "cluster:" not in COMMANDS[words[0]].others:
        return False
    given = [word for before, word in pairwise(words) if not (word.startswith("-") or before.startswith("-"))]
    return not given and not any(map(os.path.exists, words[1:]))


def _split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the flags of kubectl, and the other words."""
    flags: dict[str, str] = {}
    rest: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if word.startswith("-o") and len(name) > len("-o"):
            name, equals, value = "-o", "=", word[2:]
        flag = _FLAGS.get(name)
        if word in ("-A", "--all-namespaces"):
            flags["all"] = ""
        elif flag is None:
            rest.append(word)
        else:
            value = value if equals else next(left, "")
            # kubectl's -o is a format, and -o of a command is a file: the value tells them apart.
            if flag == "output" and value not in _FORMATS:
                rest += [name, value]
            else:
                flags[flag] = value
    return flags, rest


def _namespace(context: str | None) -> str:
    """Return the namespace of a kubeconfig context, by default of the current one.

    Raises:
        ApiError: The kubeconfig cannot be read.
    """
    from kueuepy.errors import ApiError  # noqa: PLC0415 - an interrupt while they are imported is handled by `execute`
    from kueuepy.errors.libraries import imported  # noqa: PLC0415
    from kueuepy.platform.apiserver.connection import kubeconfig_path  # noqa: PLC0415

    config = imported("kubernetes.config", "kubectl kueuepy")
    try:
        contexts, current = config.list_kube_config_contexts(kubeconfig_path())
    except (config.ConfigException, OSError) as error:
        raise ApiError(f"kubeconfig: cannot be read: {error}") from None
    name = context or (current or {}).get("name")
    found = next((one.get("context") or {} for one in contexts if one.get("name") == name), {})
    return str(found.get("namespace") or "default")


def _as_yaml(words: list[str], plugin: _Plugin) -> int:
    """Run a command and print its JSON output as YAML."""
    import json  # noqa: PLC0415 - few commands need them
    from contextlib import redirect_stdout  # noqa: PLC0415
    from io import StringIO  # noqa: PLC0415

    import yaml  # noqa: PLC0415

    out = StringIO()
    with redirect_stdout(out):
        code = execute(words, plugin)
    if text := out.getvalue():
        # Help and texts before an error are not JSON.
        is_json = text.startswith(("{", "["))
        sys.stdout.write(yaml.safe_dump(json.loads(text), sort_keys=False, allow_unicode=True) if is_json else text)
    return code
