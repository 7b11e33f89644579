"""The typer application: all commands, and the conversion of errors to messages and exit codes."""

from collections.abc import Callable
from typing import Annotated

import typer

from kueuepy.cli import (
    check,
    compare,
    convert,
    explain,
    explore,
    importing,
    jobs,
    mcp,
    metrics,
    page,
    play,
    rbac,
    record,
    report,
    run,
    shadow,
    simulate,
    sweep,
    upgrade,
    verify,
    whatif,
)
from kueuepy.cli.command import PLAIN_COMMANDS
from kueuepy.cli.command import main as plain
from kueuepy.cli.output import WRONG_COMMAND_LINE, WRONG_INPUT, exit_code, fail, start_command
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.errors.former import FORMER
from kueuepy.profiles.version import describe

app = typer.Typer(
    name="kueuepy",
    help="""Make the same admission decisions as Kueue, without a cluster.

\b
Exit codes:
  0  The command succeeded.
  1  The input is invalid or missing.
  2  The command line is invalid.
  3  The answer is negative, e.g. kueuepy check reports findings, a job would
     not be admitted, or a target is missed.
  4  The input has a feature gate or field that kueuepy does not model and
     that could change the answer.
""",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        typer.echo(describe())
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


_COMMANDS: tuple[tuple[Callable[..., None], str, str], ...] = (
    (check.check, "Validate objects and report surprising settings.", check.EXAMPLES),
    (convert.convert, "Convert objects of any API version to v1beta2.", convert.EXAMPLES),
    (run.run, "Admit jobs until nothing changes, and show decisions and reasons.", run.EXAMPLES),
    (explain.explain, "Explain why a workload is pending or admitted.", explain.EXAMPLES),
    (whatif.whatif, "Test whether a job would be admitted, or what a change would do.", whatif.EXAMPLES),
    (importing.import_, "Import the state of a running cluster or a dump.", importing.EXAMPLES),
    (record.record, "Record the history of a cluster.", record.EXAMPLES),
    (rbac.rbac, "Print the permissions that are needed to read a cluster.", rbac.EXAMPLES),
    (verify.verify, "Compare the decisions of a recorded cluster with those of kueuepy.", verify.EXAMPLES),
    (shadow.shadow, "Compare the decisions of a running cluster with those of kueuepy.", shadow.EXAMPLES),
    (mcp.mcp, "Answer the questions of AI agents about a cluster.", mcp.EXAMPLES),
    (upgrade.upgrade, "Compare the decisions of two releases of Kueue.", upgrade.EXAMPLES),
    (compare.compare, "Compare the results of jobs under two policies.", compare.EXAMPLES),
    (simulate.simulate, "Simulate jobs on a cluster configuration.", simulate.EXAMPLES),
    (sweep.sweep, "Simulate jobs under many policies, and find the best policy.", sweep.SWEEP_EXAMPLES),
    (sweep.plan, "Find the smallest quota that meets a target.", sweep.PLAN_EXAMPLES),
    (explore.guarantee, "Determine whether a cluster guarantees something.", explore.GUARANTEE_EXAMPLES),
    (explore.eta, "Estimate when a pending workload gets quota.", explore.ETA_EXAMPLES),
    (metrics.serve_metrics, "Serve estimated waiting times as Prometheus metrics.", metrics.EXAMPLES),
    (explore.risk, "Estimate the probability that a workload is evicted.", explore.RISK_EXAMPLES),
    (explore.cluster_of, "Write a starting configuration for a log of jobs.", explore.CLUSTER_OF_EXAMPLES),
    (play.play, "Explore quotas with sliders in a browser.", play.EXAMPLES),
    (page.page, "Write an HTML page that shows the state of a cluster.", page.PAGE_EXAMPLES),
    (page.serve, "Serve an HTML page that shows the state of a cluster.", page.SERVE_EXAMPLES),
    (report.report, "Write an HTML report of simulation results.", report.EXAMPLES),
)
"""The function, summary and examples of each command, which has the name of its function."""
for _function, _summary, _examples in _COMMANDS:
    _name = _function.__name__.rstrip("_").replace("_", "-")
    app.command(_name, short_help=_summary, epilog=_examples)(_function)
app.add_typer(jobs.app, name="jobs", short_help="Describe or convert a log of jobs.", epilog=jobs.EXAMPLES)


def _delegate(name: str, summary: str) -> None:
    """Add a command of `kueuepy.cli.command`, which parses its own options."""

    def command(context: typer.Context) -> None:
        raise typer.Exit(plain([name, *context.args]))

    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, help=summary, add_help_option=False, context_settings=settings)(command)


for _name, _summary in zip(
    PLAIN_COMMANDS,
    ("Replay recorded scenarios.", "Simulate a load profile of Kueue's performance test."),
    strict=True,
):
    _delegate(_name, _summary)


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    json = "--json" in arguments
    start_command(json=json)
    return exit_code(_run(arguments, json=json))


def _run(arguments: list[str], *, json: bool) -> int:
    if arguments and arguments[0] in FORMER["command"]:
        command = arguments[0]
        answer = f"kueuepy {command} no longer exists: {FORMER['command'][command]}"
        fail(InvalidSpecError(answer), json=json)
        return WRONG_COMMAND_LINE
    try:
        result = app(arguments, prog_name="kueuepy", standalone_mode=not json)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else WRONG_INPUT
    except KueueError as error:
        fail(error, json=json)
        return WRONG_INPUT
    except Exception as error:
        message = getattr(error, "format_message", None)  # usage errors of click, or of the copy of click in typer
        if not json or message is None:
            raise
        fail(error, json=True, message=message())
        return WRONG_COMMAND_LINE
    return result if isinstance(result, int) else 0
