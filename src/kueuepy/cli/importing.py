"""`kueuepy import`: import the state of a cluster, and save it for later commands."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import yaml

from kueuepy.cli.options import Positive, paths
from kueuepy.cli.output import UsageError, counting, expect_other_file, print_json, say, say_notes, table
from kueuepy.errors import InvalidSpecError, counted, shown
from kueuepy.manifest import Limits, is_live, items
from kueuepy.platform.apiserver.resources import rbac as manifests
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.importer.pods import rules_of
from kueuepy.profiles import RELEASES


def import_(
    files: list[str],
    *,
    rules: str | None = None,
    save: str | None = None,
    stopping: str = "30s",
    kueue_version: str | None = None,
    rows: Positive = 40,
    json: bool = False,
) -> bool:
    """Import the state of a running cluster, a recording, or the output of kubectl get.

    Reports which Workloads, jobs and running pods could be imported. Other commands accept the file written by --save,
    as does kueuepy.Scheduler.load.

    Exits with code 3 if an object could not be imported.

    Options:
        files (FILE): File with kubectl get output, a directory, - (stdin), a recording, or cluster:CONTEXT.
        rules (FILE): File of rules that map running pods to LocalQueues, in the format of Kueue's importer.
        save (FILE): Save the imported state to this file; by default, the state is not saved.
        stopping (TIME): Time from a job's eviction until its pods have terminated and its quota is released.

    Examples:
        kueuepy import examples/live/dump.yaml --rules examples/live/rules.yaml
        kueuepy import cluster:prod --save state
        kubectl get clusterqueues,localqueues,cohorts,resourceflavors,topologies,nodes,pods,workloads -A -o json
            | kueuepy import - --save state
    """
    expect_other_file(save, *files)
    given = () if rules is None else rules_of(_mapping(rules))
    with counting("bytes read") as show:
        found = import_cluster(paths(files), rules=given, version=kueue_version, stopping=stopping, progress=show)
    is_other = found.kueue_version not in ("", RELEASES[-1].name)
    if is_other and kueue_version is None and not any(map(is_live, files)):
        say(
            f"note: the cluster runs Kueue {found.kueue_version}; pass it as --kueue-version to emulate that release",
            stderr=True,
        )
    if save is not None:
        found.scheduler.save(save)
    problems = found.report.problems
    if json:
        objects = found.report.rows()
        print_json({"counts": found.report.counts, "objects": objects, "notes": found.notes})
    else:
        say_notes(found.notes)
        say(", ".join(f"{number:,} {what}" for what, number in found.report.counts.items()) or "nothing", style="bold")
        if problems:
            left = [(row.kind, row.key, row.reason) for row in problems[:rows]]
            table(f"{counted(len(problems), 'object')} not placed", ("kind", "name", "reason"), left)
        say("state not saved; use --save" if save is None else f"{save}: written")
    return bool(problems)


def _mapping(name: str) -> list[dict[str, Any]]:
    """Read the rules of a mapping file.

    Raises:
        InvalidSpecError: The file is not one list of rules.
    """
    documents = [item.value for item in items(Path(name), Limits(), strict=True)]
    try:
        (found,) = msgspec.convert(documents, tuple[list[dict[str, Any]]])
    except msgspec.ValidationError:
        raise InvalidSpecError(f"{name}: must be one list of rules") from None
    return found


def rbac(
    *,
    name: str = "kueuepy",
    user: str | None = None,
    group: str | None = None,
    service_account: str = "default/kueuepy",
    kueue_namespace: str = "kueue-system",
    json: bool = False,
) -> None:
    """Print a ClusterRole and its binding, which allow only the read requests that kueuepy sends.

    A second role allows reading the ConfigMap of Kueue's manager. No role allows writing objects or reading Secrets.

    Options:
        name (NAME): Name for the RBAC roles and their bindings.
        user (NAME): User to grant the permissions to.
        group (NAME): Group to grant the permissions to.
        service_account (NAMESPACE/NAME): ServiceAccount to grant the permissions to.
        kueue_namespace (NAME): Namespace of Kueue's controller manager.

    Examples:
        kueuepy import --rbac
        kueuepy import --rbac --user alice@example.com | kubectl apply -f -
    """
    namespace, slash, account = service_account.partition("/")
    if not (namespace and slash and account):
        raise UsageError(f"--service-account: is {shown(service_account)}; it must be NAMESPACE/NAME")
    if user and group:
        raise UsageError("import --rbac: give either --user or --group")
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    if user or group:
        kind = "User" if user else "Group"
        subject = {"kind": kind, "name": user or group or "", "apiGroup": "rbac.authorization.k8s.io"}
    found = manifests(name, subject, kueue_namespace)
    if json:
        print_json({"apiVersion": "v1", "kind": "List", "items": found})
    else:
        sys.stdout.write(yaml.safe_dump_all(found, sort_keys=False))
