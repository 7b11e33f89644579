"""`kueuepy convert`: convert manifests of any API version to v1beta2."""

import sys
from typing import Literal

from kueuepy.cli.options import Start
from kueuepy.cli.output import print_json, say, say_notes
from kueuepy.files import write_file
from kueuepy.manifest import Limits, dump
from kueuepy.manifest.text.sources import items


def convert(
    files: list[str],
    *,
    to: Literal["v1beta2"] = "v1beta2",
    output: str | None = None,
    reading: Start,
    json: bool = False,
) -> None:
    """Convert objects of v1alpha1, v1alpha2, v1beta1 or v1beta2 to equivalent YAML of v1beta2.

    Notes about skipped or corrected input go to standard error.

    Options:
        files (FILE): YAML or JSON file, directory of them, - (stdin), or cluster:CONTEXT.
        to: API version of the converted objects.
        output (FILE): Output file; by default, standard output.

    Examples:
        kueuepy convert examples/seeds/000/max.yaml
        kueuepy convert examples/seeds/004/research-pool.yaml --output research-pool.yaml
    """
    manifest = reading.manifest(files, reading.namespace)
    say_notes(map(str, manifest.notes))
    text = dump(manifest)
    if json:
        documents = [item.value for item in items(text, Limits(), strict=True)]
        print_json({"apiVersion": "v1", "kind": "List", "items": documents})
    elif output is None:
        sys.stdout.write(text)
    else:
        write_file(output, text)
        say(f"{output}: written in {to}", stderr=True)
