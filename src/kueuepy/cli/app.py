"""The commands put together, and errors turned into messages and exit codes."""

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
    play,
    report,
    run,
    simulate,
    sweep,
    upgrade,
    verify,
    whatif,
)
from kueuepy.cli.command import PLAIN_COMMANDS
from kueuepy.cli.command import main as plain
from kueuepy.cli.output import WRONG_COMMAND_LINE, WRONG_INPUT, fail
from kueuepy.errors import KueueError
from kueuepy.version import describe

app = typer.Typer(
    name="kueuepy",
    help="""Kueue's admission decisions, exactly, without a cluster.

Exit codes: 0 done, and the answer is good; 1 the input is wrong; 2 the command line is wrong; 3 the answer is no.
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


app.command("check", short_help="Are these objects valid, and do they surprise?", epilog=check.EXAMPLES)(check.check)
app.command("convert", short_help="Write any version as v1beta2.", epilog=convert.EXAMPLES)(convert.convert)
app.command("run", short_help="What becomes of these jobs, and why?", epilog=run.EXAMPLES)(run.run)
app.command("explain", short_help="Why does a workload wait?", epilog=explain.EXAMPLES)(explain.explain)
app.command("whatif", short_help="Would a job be admitted? What would a change do?", epilog=whatif.EXAMPLES)(
    whatif.whatif
)
app.command("import", short_help="What does a live cluster's dump come to?", epilog=importing.EXAMPLES)(
    importing.import_
)
app.command("verify", short_help="Compare decisions with a recorded cluster.", epilog=verify.EXAMPLES)(verify.verify)
app.command("upgrade", short_help="What would another release of Kueue decide?", epilog=upgrade.EXAMPLES)(
    upgrade.upgrade
)
app.command("compare", short_help="How do jobs fare under two policies?", epilog=compare.EXAMPLES)(compare.compare)
app.command("simulate", short_help="What becomes of many jobs in virtual time?", epilog=simulate.EXAMPLES)(
    simulate.simulate
)
app.command("sweep", short_help="Which policy is best for these jobs?", epilog=sweep.SWEEP_EXAMPLES)(sweep.sweep)
app.command("plan", short_help="What is the least quota that keeps a promise?", epilog=sweep.PLAN_EXAMPLES)(sweep.plan)
app.command("delays", short_help="How much longer do groups wait because of others?", epilog=explore.DELAYS_EXAMPLES)(
    explore.delays
)
app.command("eta", short_help="When does a waiting workload get quota?", epilog=explore.ETA_EXAMPLES)(explore.eta)
app.command("risk", short_help="How likely is it that a workload is evicted?", epilog=explore.RISK_EXAMPLES)(
    explore.risk
)
app.command("cluster-of", short_help="Write a first configuration for a log.", epilog=explore.CLUSTER_OF_EXAMPLES)(
    explore.cluster_of
)
app.command("play", short_help="What would other quotas do? Sliders in a browser.", epilog=play.EXAMPLES)(play.play)
app.command("report", short_help="Results as one HTML file.", epilog=report.EXAMPLES)(report.report)
app.add_typer(jobs.app, name="jobs", short_help="What is in a log of jobs?", epilog=jobs.EXAMPLES)


def _delegate(name: str, summary: str) -> None:
    """Adds a command of `kueuepy.cli.command`, which reads its own options."""

    def command(context: typer.Context) -> None:
        raise typer.Exit(plain([name, *context.args]))

    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, help=summary, add_help_option=False, context_settings=settings)(command)


for _name, _summary in zip(
    PLAIN_COMMANDS,
    ("What happens at each step of recorded scenarios?", "How fast is a load profile decided?"),
    strict=True,
):
    _delegate(_name, _summary)


def main(arguments: list[str]) -> int:
    """Runs a command and returns its exit code."""
    json = "--json" in arguments
    try:
        result = app(arguments, prog_name="kueuepy", standalone_mode=not json)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else WRONG_INPUT
    except KueueError as error:
        fail(error, json=json)
        return WRONG_INPUT
    except Exception as error:
        told = getattr(error, "format_message", None)  # of a wrong command line, whoever's class that is
        if not json or told is None:
            raise
        fail(error, json=True, message=told())
        return WRONG_COMMAND_LINE
    return result if isinstance(result, int) else 0
