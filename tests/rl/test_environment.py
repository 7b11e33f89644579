"""The environment for learning agents."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import kueuepy as kq  # noqa: E402
from kueuepy.lab import rl  # noqa: E402

GPU = "nvidia.com/gpu"
PATHS = [f"ClusterQueue/{name}:quota[f/{GPU}].nominalQuota" for name in ("a", "b", "c")]


def cluster(nominal=(4, 4, 4), **fields):
    return kq.Cluster(
        kq.ResourceFlavor("f"),
        [kq.ClusterQueue.of(n, {"f": {GPU: q}}, **fields) for n, q in zip("abc", nominal, strict=True)],
    )


def jobs(seed, load=(1.6, 0.6, 0.3), hours=24):
    """Jobs at these parts of 4 GPUs a queue."""
    tables = [
        kq.Jobs.poisson(name, f"{12 * part}/h", kq.sim.Exponential("20m"), {GPU: 1}, days=hours / 24, seed=seed)
        for name, part in zip("abc", load, strict=True)
    ]
    return kq.Jobs.concat(tables).sort()


def made(**options):
    return rl.QuotaEnv(cluster(), jobs, PATHS, **{"interval": "30m", "episode": "6h", **options})


def test_the_environment_passes_gymnasiums_check():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("kueuepy/Quota-v0", cluster=cluster(), jobs=jobs, edit=PATHS)
        check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_without_edits_equals_a_simulation():
    env = made()
    played = rl.play(env, rl.DoNothing(), seed=3)
    alone = kq.simulate(cluster(), jobs(3), until="6h").kpis
    assert played.kpis == alone
    assert played.values == dict.fromkeys(PATHS, 4)
    # The reward is minus the mean number of waiting jobs: their integral over the episode.
    waits = kq.simulate(cluster(), jobs(3), until="6h").totals["waits"] / 1e9
    assert played.reward == pytest.approx(-waits / 1800 / 3)


def test_edits_apply_from_their_step_on():
    env = made(step=4)
    env.reset(seed=3)
    total = 0.0
    for number in range(12):
        action = np.array([1.0, -0.5, -0.5]) if number == 2 else np.zeros(3)
        _, reward, _, over, info = env.step(action)
        total += reward
    assert over
    assert list(env.values.values()) == [8, 2, 2]
    edits = [
        kq.sim.Event("1h", [kq.sim.Edit(path, value) for path, value in zip(PATHS, (8, 2, 2), strict=True)]),
    ]
    expected = kq.simulate(cluster(), jobs(3), until="6h", events=edits)
    assert dict(info["kpis"].rows()) == pytest.approx(dict(expected.kpis.rows()), rel=1e-12)
    assert total == pytest.approx(-expected.totals["waits"] / 1e9 / 1800 / 3)


def test_the_observation_matches_the_current_scheduler():
    env = made()
    env.reset(seed=5)
    for _ in range(2):
        observation, *_ = env.step(np.zeros(3))
    rows = observation[:-2].reshape(3, 9)
    scheduler = env._stage.run(0).scheduler()
    for place, name in enumerate("abc"):
        workloads = [scheduler.workload(key) for key in scheduler.keys()]  # noqa: SIM118
        mine = [workload.status for workload in workloads if workload.queue_name == name]
        waiting = [s for s in mine if not s.is_true("QuotaReserved") and not s.is_true("Finished")]
        running = [s for s in mine if s.is_true("QuotaReserved") and not s.is_true("Finished")]
        assert np.expm1(rows[place, 0]) == pytest.approx(len(waiting), abs=1e-4)
        assert rows[place, 3] == len(running) / 4
    assert (rows[:, 4] == 1).all()  # each queue is a tree of its own: its nominal quota is all of it
    assert ((rows[:, 3] >= 0) & (rows[:, 3] <= 1)).all()
    assert rows[:, 0].max() > 0


def test_a_job_that_ends_at_the_start_arrives_once():
    rows = [{"queue": "a", "submit": at, "runtime": run, "gpu": 1} for at, run in ((0, 0), (0, 7200), (5400, 0))]
    env = rl.QuotaEnv(cluster(), kq.Jobs.of(rows), PATHS, interval="30m", episode="3h")
    env.reset(seed=1)
    arrivals = [env.step(np.zeros(3))[0][:-2].reshape(3, 9)[0, 7] for _ in range(6)]
    assert np.expm1(arrivals) == pytest.approx([0, 0, 1, 0, 0, 0], abs=1e-5)


def test_the_same_seed_gives_the_same_episode():
    def rewards(seed):
        env = made()
        env.action_space.seed(1)
        env.reset(seed=seed)
        return [env.step(env.action_space.sample())[1] for _ in range(12)]

    assert rewards(1) == rewards(1) != rewards(2)


def test_each_episode_uses_a_window_of_a_log():
    log = jobs(0, hours=24 * 5)
    env = rl.QuotaEnv(cluster(), log, PATHS, interval="1h", episode="1d")
    first, _ = env.reset(options={"start": "2d"}, seed=1)
    for _ in range(24):
        *_, over, info = env.step(np.zeros(3))
    assert over
    window = log.window("2d", "3d")
    assert info["kpis"] == kq.simulate(cluster(), window, until="1d").kpis
    assert first.shape == (29,)


def test_a_step_needs_an_episode():
    env = made()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(3))
    env.reset(seed=1)
    for _ in range(12):
        *_, over, _ = env.step(np.zeros(3))
    assert over
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(3))


def test_a_custom_reward_function():
    env = made(reward=lambda before, after: after["arrivals"] - before["arrivals"])
    env.reset(seed=3)
    total = sum(env.step(np.zeros(3))[1] for _ in range(12))
    assert total == (jobs(3).exact()["submit"] <= jobs(3).exact()["submit"].min() + 6 * 3600 * 10**9).sum() - 1


def test_moving_quota_to_waiting_queues_beats_no_action():
    nothing = np.mean([rl.play(made(), rl.DoNothing(), seed).reward for seed in range(4)])
    proportional = np.mean([rl.play(made(), rl.Proportional(), seed).reward for seed in range(4)])
    assert proportional > 0.7 * nothing
    climbed = rl.play(made(), rl.HillClimber(1), seed=0)
    assert sum(climbed.values.values()) == 12


def test_named_days_differ(week):
    env = rl.QuotaEnv(*week, interval="6h", episode="1d")
    starts, rewards = [], []
    for day in range(4, 7):
        played = rl.play(env, rl.DoNothing(), start=f"{day}d")
        starts.append(env.start)
        rewards.append(played.reward)
    assert starts == [4 * 86400, 5 * 86400, 6 * 86400]
    assert len(set(rewards)) == 3


def test_a_start_after_the_log_and_an_unknown_option_are_refused(week):
    env = rl.QuotaEnv(*week, interval="6h", episode="1d")
    with pytest.raises(kq.errors.InvalidSpecError, match=r"start: '40d' is not within the log, which spans [67]"):
        rl.play(env, rl.DoNothing(), start="40d")
    with pytest.raises(kq.errors.InvalidSpecError, match=r"\['begin'\]; allowed are jobs and start"):
        env.reset(options={"begin": "3d"})


def test_an_environment_is_created_without_arguments():
    env = gymnasium.make("kueuepy/Quota-v0")
    assert env.observation_space.contains(env.reset(seed=3)[0])
    assert env.step(env.action_space.sample())[0].shape == env.observation_space.shape
    assert len(env.unwrapped.paths) == 3
    many = gymnasium.make_vec("kueuepy/Quota-v0", 2)
    assert (many.reset(seed=3)[0][0] == env.reset(seed=3)[0]).all()


def test_without_paths_all_nominal_quotas_are_edited(week):
    assert rl.QuotaEnv(*week).paths == rl.vector(1, *week).paths
    assert len(rl.QuotaEnv(*week).paths) == 3
    assert rl.QuotaEnv(*week, choose={"ClusterQueue/*:stopPolicy": ["None", "Hold"]}).numbers == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quotas": ["x"]}, '"quotas" is not an argument; did you mean "edit"'),
        ({"intervall": "1h"}, 'did you mean "interval"'),
        ({"seed": 3}, r"did you mean .reset\(seed=...\)"),
        ({"until": "1h"}, 'did you mean "episode"'),
    ],
)
def test_a_wrong_argument_is_named(week, options, message):
    for make in (rl.QuotaEnv, lambda *args, **more: rl.vector(2, *args, **more)):
        with pytest.raises(kq.errors.InvalidSpecError, match=message):
            make(*week, **options)
    with pytest.raises(kq.errors.InvalidSpecError, match="pass both cluster and jobs"):
        rl.QuotaEnv(week[0])


def test_gymnasium_makes_the_environment_without_an_import():
    script = (
        "import gymnasium\n"
        "env = gymnasium.make('kueuepy.lab.rl:kueuepy/Quota-v0', render_mode='ansi')\n"
        "print(env.reset(seed=0)[0].shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "(29,)\n"


def test_the_environment_is_rendered_and_names_its_observations():
    pytest.importorskip("matplotlib")
    env = rl.QuotaEnv(render_mode="rgb_array")
    observation, _ = env.reset(seed=0)
    assert len(env.observation_names) == len(observation)
    assert env.observation_names[:2] == ("robots.waiting", "robots.first_waiting")
    first = env.render()
    assert (first.shape, first.dtype) == ((360, 480, 3), np.uint8)
    for _ in range(20):
        env.step(env.action([1, -1, 0]))
    assert (env.render() != first).any()
    text = rl.QuotaEnv(render_mode="ansi")
    text.reset(seed=0)
    assert text.render().splitlines()[0] == "Step 0, 0 s of the episode: reward 0"
    assert text.render().splitlines()[2].split() == ["robots", "0", "0.0%", "20.0%"]
    with pytest.raises(kq.errors.InvalidSpecError, match="render_mode: is 'human'"):
        rl.QuotaEnv(render_mode="human")


def test_the_mask_tells_which_numbers_can_change():
    path = "ClusterQueue/robots:quota[h100/nvidia.com/gpu].nominalQuota"
    other = path.replace("robots", "vision")
    env = rl.QuotaEnv(edit=[path, other], bounds={path: (4, 6), other: (0, "8")}, step=2)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [[False, True], [True, False]]
    _, _, _, _, info = env.step(env.action([1, -1]))
    assert info["action_mask"].tolist() == [[True, False], [True, True]]
    envs = rl.QuotaVectorEnv(2, edit=[path, other], bounds={path: (4, 6), other: (0, "8")}, step=2)
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].tolist() == [[[False, True], [True, False]]] * 2
