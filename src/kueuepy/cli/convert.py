"""`kueuepy convert`: convert manifests of any API version to v1beta2."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kueuepy.cli.options import Json, KueueVersion, Lenient, Namespace, Objects, examples, read
from kueuepy.cli.output import print_json, say, say_notes
from kueuepy.files import write_file
from kueuepy.manifest import Limits, dump
from kueuepy.manifest.text.sources import items

EXAMPLES = examples(
    "kueuepy convert examples/seeds/000/max.yaml",
    "kueuepy convert examples/seeds/004/research-pool.yaml --output research-pool.yaml",
)


def convert(
    files: Objects,
    *,
    to: Annotated[Literal["v1beta2"], typer.Option("--to", help="API version of the converted objects.")] = "v1beta2",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file; by default, standard output.")
    ] = None,
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Convert objects of v1alpha1, v1alpha2, v1beta1 or v1beta2 to equivalent YAML of v1beta2.

    Notes about skipped or corrected input go to standard error.
    """
    manifest = read(files, lenient=lenient, version=kueue_version, namespace=namespace)
    say_notes(map(str, manifest.notes))
    text = dump(manifest)
    if json:
        documents = [item.value for item in items(text, Limits(), strict=True)]
        print_json({"apiVersion": "v1", "kind": "List", "items": documents})
    elif output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text)
        say(f"{output}: written in {to}", stderr=True)
