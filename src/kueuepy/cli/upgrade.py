"""`kueuepy upgrade`: compare how two releases of Kueue decide, and how they read the files."""

from typing import Any

import msgspec

from kueuepy.cli.describe import jobs_of, rows_table
from kueuepy.cli.options import paths
from kueuepy.cli.output import ANSWER_IS_NO, OK, announce, counting, print_json, say
from kueuepy.cli.shared import Positive
from kueuepy.cluster import Cluster
from kueuepy.cluster.early import OLDEST, is_early
from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.errors.problems import ManifestError
from kueuepy.errors.words import counted
from kueuepy.lab.upgrade import Upgrade, compare_versions
from kueuepy.manifest import Manifest, load
from kueuepy.objects import Configuration
from kueuepy.profiles import DEFAULTS, release_of


def upgrade(
    files: list[str],
    *,
    jobs: tuple[str, ...],
    from_: str,
    to: str,
    rows: Positive = 40,
    exit_code: bool = False,
    lenient: bool = False,
    json: bool = False,
) -> int:
    """Run the same jobs under two releases of Kueue, and show which decisions differ and why.

    The command also lists the fields that the second release rejects or reads differently, and the feature gates that
    were added or removed, or whose default changed. Jobs run as in kueuepy compare. For releases before v0.15, kueuepy
    uses the rules of v0.15, except for rules that are known to have changed.

    Options:
        jobs (FILE): YAML, JSON or CSV file of jobs to run under both releases; repeatable.
        from_ (VERSION): First Kueue release to compare, e.g. the installed one (v0.1 to v0.20-devel).
        to (VERSION): Second Kueue release to compare, e.g. the next one (v0.1 to v0.20-devel).

    Examples:
        kueuepy upgrade examples/seeds/002/two-teams.yaml --jobs examples/seeds/002/jobs.csv --from v0.17 --to v0.19
    """
    manifest = load(paths(files), strict=not lenient, version=_profile(from_))
    announce(not_modelled(Cluster.from_manifest(manifest, names=False)))
    read = reading_changes(manifest, files, from_, to, lenient=lenient)
    with jobs_of(jobs) as items, counting("jobs done") as show:
        told = None if show is None else lambda progress: show(progress.done, progress.total)
        found = compare_versions(Cluster.from_manifest(manifest, names=False), items, from_, to, progress=told)
    if json:
        print_json(_plain(found, read))
    else:
        _tell(found, read, rows)
    return ANSWER_IS_NO if exit_code and (found.changes or read) else OK


def reading_changes(manifest: Manifest, files: list[str], before: str, after: str, *, lenient: bool) -> list[str]:
    """Return a line for each field of the files that another release rejects or reads differently."""
    own = manifest.configuration or Configuration(version=release_of(_profile(before)).name)
    then_by = release_of(_profile(after))
    known = DEFAULTS[then_by]
    changed = [
        f"Configuration: featureGates.{name}: {then_by} has no such gate, and rejects it"
        for name in own.feature_gates
        if name not in known
    ]
    try:
        then = load(paths(files), strict=not lenient, version=then_by.name).configuration
    except ManifestError as error:
        others = (f"{where}: {what}" for where, what in error.problems if "featureGates" not in what.path)
        return [*changed, *others]
    for name in Configuration.__struct_fields__:
        old, new = getattr(own, name), getattr(then or Configuration(), name)
        if name != "version" and old != new:
            changed.append(f"Configuration: {name}: is read as {_short(new)}, not {_short(old)}")
    return changed


def _profile(version: str) -> str:
    """Return the release whose profile is used for a version."""
    return OLDEST if is_early(version) else version


def _short(value: Any) -> str:
    return "absent" if value is None else msgspec.json.encode(value, enc_hook=_number).decode()


def _number(value: Any) -> float | str:
    """Return a duration in seconds as a number, and any other value as text."""
    return float(value) if isinstance(value, float) else str(value)


def _tell(found: Upgrade, read: list[str], rows: int) -> None:
    shown = []
    for change in found.changes:
        when, job = f"{change.decision.seconds:g} s", change.decision.workload
        shown.append((when, job, str(change.decision).partition(job)[2].strip(), ", ".join(change.causes)))
    rows_table(f"Decisions that differ in {found.after}", ("time", "workload", "decision", "reason"), shown, rows)
    rules = [(rule.name, rule.what) for rule in found.early] + [(rule.name, rule.what) for rule in found.rules]
    rows_table("Changed rules", ("rule", "change"), rules, rows)
    gates = [tuple(str(gate).split(": ", 1)) for gate in found.gates]
    rows_table("Feature gates", ("gate", f"{found.before} → {found.after}"), gates, rows)
    for line in read:
        say(line)
    count = counted(len(found.changes), "decision")
    say(f"{count} would differ" if found.changes else "all decisions would be the same", style="bold")


def _plain(found: Upgrade, read: list[str]) -> dict[str, Any]:
    return {
        "from": found.before,
        "to": found.after,
        "decisions": [{"decision": change.decision, "causes": change.causes} for change in found.changes],
        "early": found.early,
        "rules": found.rules,
        "gates": found.gates,
        "reading": read,
    }
