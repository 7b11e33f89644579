"""The sentences of a report agree with the tables of the results."""

import re

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.look.colours import DARK, LIGHT, class_of
from kueuepy.look.numbers import duration, durations
from kueuepy.simulation.catalogue import GROUPS, grouped
from kueuepy.simulation.confidence import Effect, Effects, different_decisions
from kueuepy.simulation.pages import words
from kueuepy.simulation.pictures.catalogue import colours
from kueuepy.simulation.report import _change

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


@pytest.mark.parametrize("order", [("less", "more"), ("more", "less")])
def test_cards_and_the_largest_problem_are_of_the_recommended_policy(found, tmp_path, order):
    path = tmp_path / "report.html"
    kq.report(found.between(*order), path)
    text = path.read_text("utf-8")
    card = re.search(r'aria-label="95th percentile of the wait">.*?<b>(.*?)</b><span[^>]*>(.*?)<', text)
    best, other = (duration(found[name].kpis.wait_p95) for name in ("more", "less"))
    assert card.groups() == (best, f"{other} under “less”")  # rounded as in the tables
    assert "Largest problem under “more”" in text
    assert ("Keep “more”" if order[0] == "more" else "Use “more” instead of “less”") in text


def test_an_uncertain_policy_is_not_recommended():
    runs = {
        name: kq.simulate(cluster(queue("q0", n), queue("q1", n)), jobs(50)) for name, n in (("two", 2), ("three", 3))
    }
    assert runs["three"].kpis.wait_mean < runs["two"].kpis.wait_mean
    name, sentence = words.recommended(runs)
    assert name == "two"
    assert "with so few jobs, the shorter mean wait of “three” may be chance. kueuepy sweep" in sentence


def test_only_differences_with_a_clear_interval_are_bold(found, tmp_path):
    path = tmp_path / "report.html"
    kq.report(found, path)
    cells = re.findall(r'data-label="[^"]*difference from less"[^>]*><span>(.*?)</span></td>', path.read_text("utf-8"))
    verdicts = [cell for cell in cells if "(better)" in cell or "(worse)" in cell]
    assert {"no interval" in cell for cell in verdicts} == {True, False}
    assert all(("<strong>" in cell) != ("no interval" in cell) for cell in verdicts)


def test_the_report_says_what_was_simulated(found, tmp_path):
    path = tmp_path / "report.html"
    kq.report(found.before, path)
    length = duration(found.before.seconds)
    text = f"Simulation of 900 jobs in 2 ClusterQueues over {length} of virtual time under the policy “less”."
    assert f"{text} Nominal quota: 6 GPUs of f/{GPU}." in path.read_text("utf-8")
    assert "no interval: needs at least 2,000 jobs" in path.read_text("utf-8")


def test_few_jobs_have_no_interval():
    pair = [kq.simulate(cluster(queue("q0", n), queue("q1", n)), jobs(50)) for n in (2, 3)]
    effects = Effects(*pair)
    text = words.of_pair(("a", "b"), tuple(pair), [], effects.of_all())
    assert "50 jobs are too few for a confidence interval." in text


def test_costs_have_the_policy_as_their_subject():
    """The sentence names the policy that costs or saves work, whatever is certain about the waits."""
    rows = [
        {"queue": f"q{n % 2}", "submit": 7 * n, "runtime": 200 + n % 90, "gpu": 1 + n % 2, "priority": n % 3}
        for n in range(40)
    ]
    first, second = (
        kq.simulate(cluster(*(queue(f"q{n}", 2, within_cluster_queue=policy) for n in range(2))), rows)
        for policy in ("Never", "LowerPriority")
    )
    assert second.kpis.evictions > 0
    text = words.of_pair(("a", "b"), (first, second), [], Effects(first, second).of_all())
    assert "40 jobs are too few for a confidence interval. “b” costs " in text


def test_counts_of_evictions_have_no_decimals(found, tmp_path):
    path = tmp_path / "report.html"
    kq.report(found.after, path)
    assert found.after.kpis.evictions
    part = path.read_text("utf-8").split("ClusterQueue of the victim")[1].split("</table>")[0]
    numbers = re.findall(r">([\d,.]+)</", part)
    assert numbers
    assert not [number for number in numbers if "." in number]


def test_a_table_of_evictions_is_sorted_by_numbers_and_lists_loops(tmp_path):
    policies = {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerPriority"}
    queues = [queue(name, 10, cohort="loop", **policies) for name in ("a", "b")]
    rows = [{"queue": name, "gpu": gpus, "submit": at, "runtime": 100} for at, (name, gpus) in enumerate(_LOOP)]
    rows[2]["priority"] = 10
    result = kq.simulate(cluster(*queues, fair_sharing=kq.FairSharingConfig()), rows)
    kq.report(result, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert f"Preemption loop: {result.loops[0].workloads[0]}" in text
    assert all(re.fullmatch(r"-?[\d.]+(e[+-]\d+)?|inf", value) for value in re.findall(r'data-v="([^"]*)"', text))


_LOOP = (("a", 6), ("b", 13), ("a", 8))


def test_differences_without_a_direction_are_certain_or_unclear():
    cells = [_change("goodput", 0.5, 0.75, between) for between in ((0.05, 0.45), (-0.05, 0.55))]
    assert [(cell.text, cell.certain) for cell in cells] == [("+25.0 points", True), ("+25.0 points (unclear)", False)]


def test_a_difference_that_rounds_to_0_has_the_verdict_of_its_interval():
    values = [(0.5, 0.5), (0.5, 0.50001), (0.5, 0.5), (0.5, 0.50001)]
    limits = [None, None, (-0.1, 0.1), (-0.1, 0.1)]
    cells = [_change("goodput", *pair, between).text for pair, between in zip(values, limits, strict=True)]
    assert cells == ["no change", "about 0", "no change (unclear)", "about 0 (unclear)"]
    effect = Effect("", 900, 60.0, 60.0, -5.0, 5.0, (0, 0))
    results = (kq.simulate(cluster(queue("q0", 1)), [{"queue": "q0", "runtime": 1, "gpu": 1}]),) * 2
    assert "do not differ clearly" in words.of_pair(("a", "b"), results, (), effect)
    assert "does not change" in words.of_pair(("a", "b"), results, (), effect._replace(low=0.0, high=0.0))


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
    assert f"ClusterQueue/q0:quota[f/{GPU}].nominalQuota" in problem.command
    alone = kq.simulate(cluster(queue("q0", 9)), rows[:5])
    assert words.problem(alone).text == "No job waits."


def test_every_metric_has_a_label_and_a_group(found):
    names = [name for name, _ in found.before.kpis.rows()]
    assert sorted(name for group in grouped(names).values() for name in group) == sorted(names)
    assert "Other" not in grouped(names)
    texts = [figure.text for figures in GROUPS.values() for figure in figures.values()]
    assert len(set(texts)) == len(texts)


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
    for style, palette in (("kueuepy.look.light", LIGHT), ("kueuepy.look.dark", DARK), ("dark_background", DARK)):
        with mpl.style.context(style):
            handles, names = found.before.plot.waits().get_legend_handles_labels()
        shown = dict(zip(names, handles, strict=True))
        assert [shown[queue].get_color() for queue in places] == [palette[place] for place in places.values()]


def rows_of(html, title):
    """The first cells of the first table whose header begins with a title."""
    table = next(part for part in html.split("<table")[1:] if f">{title}<" in part.split("</thead>")[0])
    return re.findall(r'<th scope="row"[^>]*>.*?</span>(?:</span>)?([^<]+)<', table.split("</table>")[0])


def test_every_chart_and_table_of_a_result_lists_the_queues_in_one_order(tmp_path):
    """`big` waits least and is last by name, but its jobs request most."""
    rng = np.random.Generator(np.random.PCG64(1))
    names = ["a-waits", "m-middle", "z-big"]
    runtimes = rng.exponential([1200.0, 600.0, 3000.0] * 100).tolist()
    rows = [
        {"queue": names[n % 3], "submit": 60.0 * n, "runtime": runtime, "gpu": 1} for n, runtime in enumerate(runtimes)
    ]
    shared = {"cohort": "all", "reclaim_within_cohort": "Any"}
    objects = cluster(queue(names[0], 3, **shared), queue(names[1], 2, **shared), queue(names[2], 22, **shared))
    fewer = cluster(queue(names[0], 4, **shared), queue(names[1], 2, **shared), queue(names[2], 22, **shared))
    found = kq.compare({"one": objects, "two": fewer}, rows)
    order = ["z-big", "a-waits", "m-middle"]
    assert list(colours(found.before)) == order
    kq.report(found.before, tmp_path / "one.html")
    kq.report(found, tmp_path / "two.html")
    html = (tmp_path / "one.html").read_text("utf-8")
    assert rows_of(html, "ClusterQueue") == order
    assert rows_of((tmp_path / "two.html").read_text("utf-8"), "ClusterQueue") == order
    assert list(found.queues) == order
    assert list(dict.fromkeys(row[0] for row in found.rows())) == order
    svg = found.before.picture("usage").svg
    assert [name for name in re.findall(r"<text[^>]*>([^<]+)</text>", svg) if name in names] == order
    matrix = found.before.picture("preemptions").svg
    labels = re.findall(r"<text[^>]*end.>(?:<title>[^<]*</title>)?([^<]+)<", matrix)
    victims = [name for name in labels if name in names]
    assert victims
    assert victims == [name for name in order if name in victims]
    page = found.before.page().data
    looks = sorted((node.look, node.name) for node in page.nodes if node.kind == "ClusterQueue")
    assert [name for _, name in looks] == order


def test_pictures_plots_pages_and_reports_name_the_policy(found, tmp_path):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    result = found.results["more"]
    assert result.policy == "more"
    assert "Policy: more" in result.picture("usage").svg
    assert "Policy: more" in result.picture("usage").narrow
    assert result.plot.waits().get_title(loc="left").splitlines()[-1] == "Policy: more"
    assert result.page().data.policy == "more"
    kq.report(result, tmp_path / "report.html")
    assert "under the policy “more”" in (tmp_path / "report.html").read_text("utf-8")
    alone = kq.simulate(cluster(queue("q0", 1), queue("q1", 1)), jobs(20))
    assert alone.policy == ""
    assert "Policy" not in alone.picture("usage").svg
    assert "Policy" not in alone.plot.waits().get_title(loc="left")
    mpl.pyplot.close("all")


def test_the_two_zeros_of_a_chart_have_different_labels(found):
    """The labels of the time axis have the unit, so that its 0 is not the 0 of the other axis."""
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", found.before.picture("usage").svg)
    assert texts.count("0") == 1
    assert texts.count("0 h") == 1
    ax = found.before.plot.usage()
    ax.figure.canvas.draw()
    assert ax.get_xticklabels()[0].get_text() == "0 h"
    assert ax.get_yticklabels()[0].get_text() == "0"
    mpl.pyplot.close("all")


def test_displays_begin_with_the_result_in_words(found):
    """A reader of a notebook or of `print` learns what is better, how sure it is, and what to do next."""
    for text in (str(found), found._repr_html_()):
        assert "95% confidence interval" in re.sub(r"\s+", " ", text)
        assert re.search(r"(Keep|Use) “(less|more)”", text)
        assert text.index("Largest problem") < text.index("Next step") < text.index("wait_mean")
    single = str(found.before)
    assert single.index("Largest problem") < single.index("Next step") < single.index("wait_mean")
    assert max(len(line) for line in str(found).splitlines() if not line.startswith("kueuepy.")) <= 80


def test_the_picture_of_a_comparison_has_values_differences_intervals_and_the_better_policy(found):
    (name, low, high) = next(
        (row["metric"], row["low"], row["high"]) for row in found.differences().rows() if row["metric"] == "wait_mean"
    )
    picture = found.picture()
    kpis = list(found.kpis.values())
    values = [duration(getattr(one, name)) for one in kpis]
    for svg in (picture.svg, picture.narrow):
        texts = re.findall(r"<text[^>]*>([^<]*)", svg)
        row = texts.index("Mean wait")
        assert texts[row + 1].startswith(f"{values[0]} → {values[1]}: -")
        assert texts[row + 1].endswith(" (better)")
        assert texts[row + 2] == f"95% confidence interval {durations(low, high)}"
        assert " ".join(texts[:3]).startswith("Use “more” instead of “less”")
    with pytest.raises(kq.errors.InvalidSpecError, match="the picture has none"):
        found.picture(pieces=3)
    with pytest.raises(kq.errors.InvalidSpecError, match="needs two policies"):
        kq.Comparison({"one": found.before}).plot()
