"""Fixtures: clusters and jobs for simulations."""

import warnings

import pytest

import kueuepy as kq

GPU = "nvidia.com/gpu"


@pytest.fixture(autouse=True)
def _warnings_of_runs_are_read_from_the_result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def queue(name, nominal, *, limit=None, cohort=None, strategy="BestEffortFIFO", **preemption):
    quota = nominal if limit is None else kq.Quota(nominal, borrowing_limit=limit)
    return kq.ClusterQueue.of(
        name,
        {"f": {GPU: quota}},
        cohort_name=cohort,
        queueing_strategy=strategy,
        preemption=kq.Preemption(**preemption),
    )


def cluster(*objects, **fields):
    return kq.Cluster(kq.ResourceFlavor("f"), objects, configuration=kq.Configuration(**fields))


@pytest.fixture
def one():
    """One queue of 2 GPUs in which urgent jobs evict others."""
    return cluster(queue("q", 2, within_cluster_queue="LowerPriority"))
