"""Quantiles of Student's t distribution, and intervals of few numbers."""

import math

import numpy as np
import pytest

from kueuepy.lab.exploration.statistics import estimate
from kueuepy.simulation.intervals import student


@pytest.mark.parametrize("degrees", [*range(1, 31), 31, 50, 200, 10_000])
def test_the_quantile_is_that_of_the_distribution(degrees):
    stats = pytest.importorskip("scipy.stats")
    assert student(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=2e-5)


def test_one_number_has_a_mean_and_no_interval():
    found = estimate(np.array([3.0, np.nan]))
    assert (found.mean, found.n) == (3, 1)
    assert math.isnan(found.low)
    assert estimate(np.array([np.nan])).n == 0
