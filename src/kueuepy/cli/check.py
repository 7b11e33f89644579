"""`kueuepy check`: validate objects and report surprising settings; `kueuepy convert`: convert them to v1beta2."""

import sys
from collections import Counter
from typing import Literal

from kueuepy.cli.formats import Format, formatted, row_of
from kueuepy.cli.options import Start
from kueuepy.cli.output import SEVERITY_STYLES, WRONG_INPUT, UsageError, fail, print_json, problem_data, say, say_notes
from kueuepy.errors import InvalidSpecError, counted, verb
from kueuepy.files import write_file
from kueuepy.lint import SEVERITIES, Findings, lint
from kueuepy.manifest import Limits, Manifest, ManifestError, dump, items


def check(
    files: list[str],
    *,
    skip: tuple[str, ...] = (),
    fail_on: Literal["error", "warning", "note", "never"] = "warning",
    format_: Format = "text",
    reading: Start,
    json: bool = False,
) -> int:
    """Validate objects as an API server does, and report valid settings with surprising effects.

    Exits with code 1 if an object is invalid or there is nothing to check, with code 3 if all objects are valid but a
    finding has the severity of --fail-on or a higher one, and with code 0 otherwise.

    Options:
        files (FILE): YAML or JSON file, directory of them, - (stdin), or cluster:CONTEXT.
        skip (RULE): ID of a lint rule to skip, e.g. L6; repeatable.
        fail_on: Exit with code 3 if any finding has this severity or a higher one.
        format_: Output format; github prints annotations, sarif and junit are files for code scanning and CI systems.

    Examples:
        kueuepy check examples/seeds/001/team-ab.yaml
        kueuepy check examples/seeds/003/notebooks.yaml --fail-on error --skip L6
        kueuepy check examples/seeds/001/team-ab.yaml --format sarif
        kubectl get clusterqueues,localqueues,cohorts,resourceflavors,topologies,nodes -A -o yaml
            | kueuepy check --json -
    """
    if json and format_ not in ("text", "json"):
        raise UsageError(f"check: --json cannot be combined with --format {format_}")
    try:
        manifest = reading.manifest(files, reading.namespace)
        findings = lint(manifest, skip=skip)
    except ManifestError as error:
        _report_invalid(error, "json" if json else format_)
        return WRONG_INPUT
    # Otherwise a misspelled directory would be valid.
    if not _count(manifest):
        for note in () if json else manifest.notes:
            say(f"{note}", style="dim")
        raise InvalidSpecError(
            f"{', '.join(files)}: contains no object that can be checked; it must have queues, cohorts, "
            "flavors, Workloads, jobs that Kueue manages, or other objects that affect admission"
        )
    if json or format_ == "json":
        notes = [str(note) for note in manifest.notes]
        found = {"valid": True, "objects": _count(manifest), "findings": list(map(row_of, findings)), "notes": notes}
        print_json(found)
    elif format_ != "text":
        say(formatted(map(row_of, findings), format_))
    else:
        _report(manifest, findings)
    return fail_on != "never" and bool(findings.at_least(fail_on))


def _report_invalid(error: ManifestError, format_: Format) -> None:
    rows = list(map(row_of, error.problems))
    if format_ == "text":
        fail(error)
        say(f"{counted(len(rows), 'problem')} to fix; then check again, for rules that need valid fields", stderr=True)
    elif format_ == "json":
        places = [{name: getattr(row, name) for name in ("object", "file", "line", "column")} for row in rows]
        problems = [problem_data(one) | place for one, place in zip(error.problems, places, strict=True)]
        print_json({"valid": False, "problems": problems})
    else:
        say(formatted(rows, format_))


def _report(manifest: Manifest, findings: Findings) -> None:
    for note in manifest.notes:
        say(f"{note}", style="dim")
    for finding in findings:
        before, severity, after = str(finding).partition(f"{finding.severity} {finding.rule}:")
        say((before, "dim"), (severity, SEVERITY_STYLES[finding.severity]), after)
    counts = Counter(finding.severity for finding in findings)
    found = ", ".join(counted(counts[severity], severity) for severity in SEVERITIES if counts[severity])
    versions = f" of {', '.join(sorted(manifest.versions))}" if manifest.versions else ""
    count = _count(manifest)
    valid = f"{counted(count, 'object')}{versions} {verb(count, 'are')} valid"
    say(f"{valid}; {found or 'no findings'}", style="bold")


def _count(manifest: Manifest) -> int:
    """Return the number of objects that were read; a Configuration that --kueue-version implies is not one."""
    is_configured = ("Configuration", "") in manifest.origins
    return sum(1 for _ in manifest.objects()) + len(manifest.jobs) + len(manifest.others) + is_configured


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
