"""The typer application: all commands, and the conversion of errors to messages and exit codes."""

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
from kueuepy.errors import KueueError
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


app.command("check", short_help="Validate objects and report surprising settings.", epilog=check.EXAMPLES)(check.check)
app.command("convert", short_help="Convert objects of any API version to v1beta2.", epilog=convert.EXAMPLES)(
    convert.convert
)
app.command("run", short_help="Admit jobs until nothing changes, and show decisions and reasons.", epilog=run.EXAMPLES)(
    run.run
)
app.command("explain", short_help="Explain why a workload is pending or admitted.", epilog=explain.EXAMPLES)(
    explain.explain
)
app.command(
    "whatif", short_help="Test whether a job would be admitted, or what a change would do.", epilog=whatif.EXAMPLES
)(whatif.whatif)
app.command("import", short_help="Import the state of a running cluster or a dump.", epilog=importing.EXAMPLES)(
    importing.import_
)
app.command("record", short_help="Record the history of a cluster.", epilog=record.EXAMPLES)(record.record)
app.command("rbac", short_help="Print the permissions that are needed to read a cluster.", epilog=rbac.EXAMPLES)(
    rbac.rbac
)
app.command(
    "verify", short_help="Compare the decisions of a recorded cluster with those of kueuepy.", epilog=verify.EXAMPLES
)(verify.verify)
app.command(
    "shadow", short_help="Compare the decisions of a running cluster with those of kueuepy.", epilog=shadow.EXAMPLES
)(shadow.shadow)
app.command("mcp", short_help="Answer the questions of AI agents about a cluster.", epilog=mcp.EXAMPLES)(mcp.mcp)
app.command("upgrade", short_help="Compare the decisions of two releases of Kueue.", epilog=upgrade.EXAMPLES)(
    upgrade.upgrade
)
app.command("compare", short_help="Compare the results of jobs under two policies.", epilog=compare.EXAMPLES)(
    compare.compare
)
app.command("simulate", short_help="Simulate jobs on a cluster configuration.", epilog=simulate.EXAMPLES)(
    simulate.simulate
)
app.command(
    "sweep", short_help="Simulate jobs under many policies, and find the best policy.", epilog=sweep.SWEEP_EXAMPLES
)(sweep.sweep)
app.command("plan", short_help="Find the smallest quota that meets a target.", epilog=sweep.PLAN_EXAMPLES)(sweep.plan)
app.command("delays", short_help="Measure how much groups of jobs delay each other.", epilog=explore.DELAYS_EXAMPLES)(
    explore.delays
)
app.command("eta", short_help="Estimate when a pending workload gets quota.", epilog=explore.ETA_EXAMPLES)(explore.eta)
app.command(
    "serve-metrics", short_help="Serve estimated waiting times as Prometheus metrics.", epilog=metrics.EXAMPLES
)(metrics.serve_metrics)
app.command("risk", short_help="Estimate the probability that a workload is evicted.", epilog=explore.RISK_EXAMPLES)(
    explore.risk
)
app.command(
    "cluster-of", short_help="Write a starting configuration for a log of jobs.", epilog=explore.CLUSTER_OF_EXAMPLES
)(explore.cluster_of)
app.command("play", short_help="Explore quotas with sliders in a browser.", epilog=play.EXAMPLES)(play.play)
app.command("page", short_help="Write an HTML page that shows the state of a cluster.", epilog=page.PAGE_EXAMPLES)(
    page.page
)
app.command("serve", short_help="Serve an HTML page that shows the state of a cluster.", epilog=page.SERVE_EXAMPLES)(
    page.serve
)
app.command("report", short_help="Write an HTML report of simulation results.", epilog=report.EXAMPLES)(report.report)
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
