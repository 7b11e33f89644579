"""`kueuepy rbac`: print the permissions that are needed to read a cluster."""

from typing import Annotated

import typer
import yaml

from kueuepy.cli.options import Json, examples
from kueuepy.cli.output import print_json
from kueuepy.platform.apiserver.resources import rbac as manifests

EXAMPLES = examples("kueuepy rbac", "kueuepy rbac --user alice@example.com | kubectl apply -f -")


def rbac(
    *,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name for the RBAC roles and their bindings.")
    ] = "kueuepy",
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="User to grant the permissions to.")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="NAME", help="Group to grant the permissions to.")
    ] = None,
    service_account: Annotated[
        str,
        typer.Option("--service-account", metavar="NAMESPACE/NAME", help="ServiceAccount to grant the permissions to."),
    ] = "default/kueuepy",
    kueue_namespace: Annotated[
        str, typer.Option("--kueue-namespace", metavar="NAME", help="Namespace of Kueue's controller manager.")
    ] = "kueue-system",
    json: Json = False,
) -> None:
    """Print a ClusterRole and its binding, which allow only the read requests that kueuepy sends.

    A second role allows reading the ConfigMap of Kueue's manager. No role allows writing objects or reading Secrets.
    """
    namespace, slash, account = service_account.partition("/")
    if not (namespace and slash and account):
        raise typer.BadParameter(f"{service_account!r}; it must be NAMESPACE/NAME", param_hint="'--service-account'")
    if user and group:
        raise typer.BadParameter("give either --user or --group")
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    if user or group:
        subject = {
            "kind": "User" if user else "Group",
            "name": user or group or "",
            "apiGroup": "rbac.authorization.k8s.io",
        }
    found = manifests(name, subject, kueue_namespace)
    if json:
        print_json({"apiVersion": "v1", "kind": "List", "items": found})
    else:
        typer.echo(yaml.safe_dump_all(found, sort_keys=False), nl=False)
