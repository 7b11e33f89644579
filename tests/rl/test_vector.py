"""A vector of environments equals single environments, step by step."""

import multiprocessing
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import kueuepy as kq  # noqa: E402
from kueuepy.lab import rl  # noqa: E402
from kueuepy.lab.rl import QuotaEnv, QuotaVectorEnv  # noqa: E402

GPU = "nvidia.com/gpu"
NAMES = ("a", "b", "c")
PATHS = [f"ClusterQueue/{name}:quota[f/{GPU}].nominalQuota" for name in NAMES]
CHOICES = {
    "ClusterQueue/a:stopPolicy": ["None", "Hold", "HoldAndDrain"],
    "ClusterQueue/*:preemption.withinClusterQueue": ["LowerPriority", "Never"],
}


def cluster(cohort="all", reclaim="Any"):
    preemption = kq.Preemption(reclaim_within_cohort=reclaim, within_cluster_queue="LowerPriority")
    return kq.Cluster(
        kq.ResourceFlavor("f"),
        [kq.ClusterQueue.of(n, {"f": {GPU: 4}}, cohort_name=cohort, preemption=preemption) for n in NAMES],
    )


def jobs(seed):
    """Six hours of jobs with two priorities, at a load of about 1."""
    tables = [
        kq.Jobs.poisson(name, f"{per_hour}/h", kq.sim.Exponential("20m"), {GPU: 1}, days=0.25, seed=seed)
        for name, per_hour in zip(NAMES, (18, 9, 4), strict=True)
    ]
    table = kq.Jobs.concat(tables).sort()
    return table.assign(priority=np.arange(len(table)) % 2 * 100)


def same(one, other):
    """Return whether two infos are equal."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        equal = one.dtype == other.dtype and one.shape == other.shape
        return equal and all(map(same, one.tolist(), other.tolist())) if one.ndim else one == other
    if isinstance(one, list):
        return all(map(same, one, other))
    return one == other


@st.composite
def games(draw):
    form = draw(st.sampled_from(["numbers", "choices", "both"]))
    options = {
        "interval": draw(st.sampled_from(["1h", "90m"])),
        "episode": draw(st.sampled_from(["5h", "3h"])),
        "step": draw(st.sampled_from([1, 2.5])),
        "conserve": draw(st.booleans()),
        "model": kq.sim.RunModel("checkpoint", every="5m", cost="10s"),
    }
    if form != "numbers":
        options["choose"] = CHOICES
    if draw(st.booleans()):
        options["reward"] = lambda before, after: after["waited"] - before["waited"] + after["lost"]
    where = cluster(draw(st.sampled_from(["all", None])), draw(st.sampled_from(["Any", "Never"])))
    return (where, jobs, PATHS if form != "choices" else ()), options


@given(
    game=games(),
    n=st.integers(1, 3),
    threads=st.integers(1, 3),
    mode=st.sampled_from([AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=20, deadline=None)
def test_a_vector_equals_single_environments_step_by_step(game, n, threads, mode, seed):
    arguments, options = game
    one_by_one = SyncVectorEnv([lambda: QuotaEnv(*arguments, **options)] * n, autoreset_mode=mode)
    at_once = QuotaVectorEnv(n, *arguments, threads=threads, autoreset_mode=mode, **options)
    assert at_once.action_space == one_by_one.action_space
    assert at_once.observation_space == one_by_one.observation_space
    at_once.action_space.seed(seed)
    first, infos = one_by_one.reset(seed=seed)
    other, told = at_once.reset(seed=seed)
    assert np.array_equal(first, other)
    assert same(infos, told)
    for _ in range(8):
        action = at_once.action_space.sample()
        *expected, infos = one_by_one.step(action)
        *found, told = at_once.step(action)
        for ours, theirs in zip(found, expected, strict=True):
            assert np.array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype
        assert same(infos, told)
        assert found[0] in at_once.observation_space


def test_gymnasium_creates_vectors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(
            "kueuepy/Quota-v0",
            num_envs=3,
            cluster=cluster(),
            jobs=jobs,
            edit=PATHS,
            interval="1h",
            episode="6h",
            threads=2,
        )
    assert isinstance(envs, QuotaVectorEnv)
    assert envs.num_envs == 3
    assert envs.spec.id == "kueuepy/Quota-v0"
    observations, infos = envs.reset(seed=1)
    assert observations.shape == (3, 29)
    assert observations.dtype == np.float32
    assert infos["values"][PATHS[0]].tolist() == [4, 4, 4]
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped.reset(seed=1)
    for _ in range(6):
        *_, truncated, infos = wrapped.step(np.zeros((3, 3)))
    assert truncated.all()
    assert infos["episode"]["l"].tolist() == [6, 6, 6]
    envs.close()


def steps_on(envs, expected):
    observations, *_ = envs.step(np.zeros((3, 3)))
    assert np.array_equal(observations, expected)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_uses_its_own_threads():
    """Like in data loaders: threads of the core do not exist in a forked child."""
    envs, same = (rl.vector(3, cluster(), jobs, PATHS, interval="1h", episode="6h", threads=2) for _ in range(2))
    for one in (envs, same):
        one.reset(seed=1)
        one.step(np.ones((3, 3)))
    expected, *_ = same.step(np.zeros((3, 3)))
    child = multiprocessing.get_context("fork").Process(target=steps_on, args=(envs, expected))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    steps_on(envs, expected)


def test_some_environments_reset_while_others_continue():
    envs = rl.vector(3, cluster(), jobs, PATHS, interval="1h", episode="2h", autoreset_mode="Disabled")
    envs.reset(seed=1)
    for _ in range(2):
        *_, over, infos = envs.step(np.ones((3, 3)))
    assert over.all()
    assert [k.jobs for k in infos["kpis"]] == [kq.simulate(cluster(), jobs(s), until="2h").kpis.jobs for s in (1, 2, 3)]
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        envs.step(np.ones((3, 3)))
    before, _ = envs.reset(seed=5)
    after, _, _, _, _ = envs.step(np.zeros((3, 3)))
    mixed, _ = envs.reset(seed=5, options={"reset_mask": np.array([True, False, True])})
    assert np.array_equal(mixed[[0, 2]], before[[0, 2]])
    assert np.array_equal(mixed[1], after[1])
    _, _, _, over, infos = envs.step(np.zeros((3, 3)))
    assert over.tolist() == [False, True, False]
    assert infos["_kpis"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda envs: envs.step(np.zeros((2, 3))), gymnasium.error.ResetNeeded),
        (lambda envs: envs.reset(seed=[1, 2, 3]), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset(options={"reset_mask": [1, 0]}), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset(options={"reset_mask": np.array([False, False])}), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step(np.zeros((2, 4))), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step(np.zeros((3, 2))), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step(np.full((2, 3), np.nan)), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step([[0, 0, 0], [2, 0, -2]]), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step("up"), kq.errors.InvalidSpecError),
        (lambda envs: envs.reset() and envs.step(None), kq.errors.InvalidSpecError),
    ],
)
def test_an_invalid_action_changes_nothing(call, error):
    envs = rl.vector(2, cluster(), jobs, PATHS, interval="1h", episode="6h")
    with pytest.raises(error):
        call(envs)
    envs.reset(seed=3)
    alone = QuotaEnv(cluster(), jobs, PATHS, interval="1h", episode="6h")
    alone.reset(seed=4)
    observations, *_ = envs.step(np.zeros((2, 3)))
    assert np.array_equal(observations[1], alone.step(np.zeros(3))[0])


@pytest.mark.parametrize(("number", "options"), [(0, {}), (2, {"threads": 0}), (1, {"autoreset_mode": "Later"})])
def test_invalid_vectors_are_rejected(number, options):
    with pytest.raises(ValueError, match=r"each must be 1 or more|is not a valid AutoresetMode"):
        rl.vector(number, cluster(), jobs, PATHS, **options)
