"""The sentences of a report agree with the tables of the results."""

import re

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.look.colours import DARK, LIGHT, class_of
from kueuepy.look.numbers import duration, round_duration
from kueuepy.simulation.labels import LABELS, grouped
from kueuepy.simulation.pages import words
from kueuepy.simulation.pages.effects import Effects, different_decisions
from kueuepy.simulation.pictures.names import colours

from .conftest import GPU, cluster, queue


def jobs(n=900, seed=4):
    rng = np.random.Generator(np.random.PCG64(seed))
    return kq.Jobs(
        {
            "queue": [f"q{row}" for row in rng.integers(0, 2, n)],
            "submit": np.cumsum(rng.exponential(60.0, n)),
            "runtime": rng.exponential(200.0, n),
            GPU: rng.integers(1, 3, n),
        }
    )


@pytest.fixture(scope="module")
def found():
    def there(quota):
        return cluster(*(queue(f"q{n}", quota, cohort="all", reclaim_within_cohort="Any") for n in range(2)))

    return kq.compare({"less": there(3), "more": there(4)}, jobs())


def test_effects_equal_the_paired_differences_of_the_comparison(found):
    effects = Effects(found.before, found.after)
    effect = effects.of_all()
    (row,) = [row for row in found.differences().rows() if row["metric"] == "wait_mean"]
    assert (effect.jobs, effect.first, effect.second) == (row["jobs"], row["first"], row["second"])
    assert effect.difference == pytest.approx(row["difference"])
    assert (effect.low, effect.high) == pytest.approx((row["low"], row["high"]))
    of_queues, total = effects.of_queues(50)
    assert total == len(of_queues) == 2
    assert sum(one.jobs for one in of_queues) == effect.jobs
    assert sum(one.jobs * one.difference for one in of_queues) == pytest.approx(effect.jobs * effect.difference)
    assert len(effects.of_queues(1)[0]) == 1


def test_jobs_that_wait_longer_are_those_of_the_comparison(found):
    swapped = found.between("more", "less")
    rows = Effects(swapped.before, swapped.after).rows(20, longer=True)
    wanted = [change.after.waited - change.before.waited for change in swapped.most_delayed(20)]
    waits = [result.jobs["waited"] for result in (swapped.before, swapped.after)]
    assert [float(waits[1][row] - waits[0][row]) for row in rows] == pytest.approx(wanted)


def test_the_headline_names_the_better_policy_with_its_interval(found):
    effects = Effects(found.before, found.after)
    text = words.of_pair(found.names, (found.before, found.after), effects.of_queues(9)[0], effects.of_all())
    assert text.startswith("“more” shortens the mean wait by ")
    assert "95% confidence interval" in text
    same = Effects(found.before, found.before)
    pair = (found.before, found.before)
    assert "does not change the mean wait" in words.of_pair(("a", "b"), pair, [], same.of_all())
    assert words.of_policies(found.results).startswith("Of 2 policies, “more” has the shortest mean wait")


def test_cards_round_times_as_the_headline_does(found, tmp_path):
    path, slower = tmp_path / "report.html", found.between("more", "less")
    kq.report(slower, path)
    wait = slower.after.kpis.wait_p95
    assert duration(wait) != round_duration(wait)  # the value has a second unit to leave out
    card = re.search(r'aria-label="95th percentile of the wait">.*?<b>(.*?)</b>', path.read_text("utf-8"))
    assert card[1] == round_duration(wait)


def test_few_jobs_have_no_interval():
    pair = [kq.simulate(cluster(queue("q0", n), queue("q1", n)), jobs(50)) for n in (2, 3)]
    effects = Effects(*pair)
    text = words.of_pair(("a", "b"), tuple(pair), [], effects.of_all())
    assert "50 jobs are too few for a confidence interval" in text


def test_decisions_that_differ_are_counted(found):
    assert different_decisions(found.before, found.before, 20) == (0, 0.0)
    number, until = different_decisions(found.before, found.after, 20)
    assert number > 20
    assert until <= max(found.before.seconds, found.after.seconds)


def test_the_largest_problem_names_the_queue_that_waits_most():
    rows = [{"queue": "q0", "submit": n, "runtime": 100, "gpu": 1} for n in range(5)]
    rows.append({"queue": "q1", "submit": 0, "runtime": 100, "gpu": 1})
    problem = words.problem(kq.simulate(cluster(queue("q0", 1), queue("q1", 1)), rows))
    assert problem.text.startswith("q0 has 83.3% of the jobs, and 100% of all waiting")
    assert f"ClusterQueue/q0:quota[f/{GPU}].nominalQuota" in problem.step
    alone = kq.simulate(cluster(queue("q0", 9)), rows[:5])
    assert words.problem(alone).text == "No job waited."


def test_every_metric_has_a_label_and_a_group(found):
    names = [name for name, _ in found.before.kpis.rows()]
    assert sorted(name for group in grouped(names).values() for name in group) == sorted(names)
    assert "Other" not in grouped(names)
    assert len({label.text for label in LABELS.values()}) == len(LABELS)


def test_a_queue_has_the_same_colour_in_svg_matplotlib_and_every_policy(found):
    mpl = pytest.importorskip("matplotlib")
    pytest.importorskip("matplotlib.style")
    mpl.use("Agg")
    places = colours(found.before)
    assert places == colours(found.after)
    for name in ("usage", "waits"):
        for result in found.results.values():
            svg = result.picture(name).svg
            legend = dict(re.findall(r'class="(kq-\d)[^>]*/><text x="\d+" y="\d+">([^<]+)</text>', svg))
            assert {queue: kind for kind, queue in legend.items() if queue in places} == {
                queue: class_of(place) for queue, place in places.items()
            }
    for style, palette in (("default", LIGHT), ("dark_background", DARK)):
        with mpl.style.context(style):
            handles, names = found.before.plot.waits().get_legend_handles_labels()
        shown = dict(zip(names, handles, strict=True))
        assert [shown[queue].get_color() for queue in places] == [palette[place] for place in places.values()]
