"""Loads above the quota are one warning, located in the line of the caller."""

import warnings

import kueuepy as kq


def test_all_overloaded_cohorts_are_one_warning_in_the_line_of_the_caller():
    queues = [kq.ClusterQueue.of(f"q{n}", {"f": {"cpu": 1}}, cohort_name=f"c{n}") for n in range(10)]
    rows = [
        {"queue": f"q{n}", "submit": 100 * k, "runtime": 300 + 10 * n, "cpu": 1} for n in range(10) for k in range(60)
    ]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queues), rows)

    (text,) = [one for one in found if "nominal quota" in str(one.message)]
    assert str(text.message).startswith("c9: jobs request 3.97 times its nominal quota of cpu (and 9 other overloads)")
    assert "; above 1.00, waiting times grow" in str(text.message)
    assert "may depend more on" in str(text.message)
    assert text.filename == __file__
