"""Gymnasium's vector environments."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import soleus.gym  # noqa: E402


def test_identity_the_same_seed_gives_the_same_episodes() -> None:
    found = []
    for threads in (1, 2):
        envs = soleus.gym.make_vec("Walk2D-v0", num_envs=6, threads=threads)
        observation, _ = envs.reset(seed=7)
        rng = np.random.default_rng(0)
        rows = [observation]
        for _ in range(60):
            action = rng.uniform(0, 1, (6, 16))
            observation, reward, terminated, truncated, _ = envs.step(action)
            assert observation.shape == envs.observation_space.shape and reward.shape == (6,)
            assert np.isfinite(observation).all() and np.isfinite(reward).all()
            rows.append(observation)
        found.append(np.array(rows))
    np.testing.assert_array_equal(found[0], found[1])


def test_analytic_who_falls_begins_anew() -> None:
    envs = soleus.gym.make_vec("Walk2D-v0", num_envs=3)
    envs.reset(seed=1)
    over_before = np.zeros(3, dtype=bool)
    ended = 0
    for _ in range(150):
        _, reward, terminated, truncated, _ = envs.step(np.zeros((3, 16)))
        assert (reward[over_before] == 0).all(), "the step in which an episode begins is worth nothing"
        assert (envs.batch.time[over_before] == 0).all()
        over_before = terminated | truncated
        ended += int(terminated.sum())
    assert ended >= 3, "without muscles everybody falls within a second"


def test_analytic_reaching_with_a_controller() -> None:
    """A spring from the wrist to the goal brings it near."""
    envs = soleus.gym.make_vec("Reach-v0", num_envs=16, max_time=3.0)
    assert isinstance(envs, soleus.gym.Reach)
    envs.reset(seed=3)
    first = -envs.reward(np.zeros((16, 2)))
    for _ in range(250):
        q, u = envs.batch.q, envs.batch.u
        h = 1e-6
        wrist = envs.system.evaluate(q, want="markers")[:, 0, :2]
        columns = []
        for j in range(2):
            moved = q.copy()
            moved[:, j] += h
            columns.append((envs.system.evaluate(moved, want="markers")[:, 0, :2] - wrist) / h)
        jacobian = np.stack(columns, axis=2)
        pull = np.einsum("nij,ni->nj", jacobian, 200 * (envs.goal - wrist)) - 4 * u
        weight = envs.system.evaluate(q, udot=np.zeros_like(q), want="inverse_dynamics")
        strength = np.array([envs.model["/forceset/shoulder_moment"].optimal_force, envs.model["/forceset/elbow_moment"].optimal_force])
        _, reward, *_ = envs.step((pull + weight) / strength)
    # Those whose motors are strong enough come to rest within a few centimetres.
    assert np.median(-reward) < 0.1 * np.median(first)


def test_identity_gymnasium_finds_them() -> None:
    import gymnasium

    soleus.gym.register()
    envs = gymnasium.make_vec("soleus/Reach-v0", num_envs=2)
    observation, _ = envs.reset(seed=1)
    assert observation.shape == (2, 8)
    envs.close()


def test_analytic_unknown_names() -> None:
    with pytest.raises(KeyError, match="Walk2D-v0"):
        soleus.gym.make_vec("Walk-v0")
