"""A linear policy learns to move a wrist to any target: evolution strategies on a batch of arms (Salimans et al. 2017), with NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import soleus.gym

ARMS, STEPS, ROUNDS = 64, 60, 30


def episodes(envs: soleus.gym.MuscleEnv, policies: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Reward of each arm's policy."""
    observation, _ = envs.reset(seed=seed)
    worth = np.zeros(ARMS)
    for _ in range(STEPS):
        seen = np.hstack([observation, np.ones((ARMS, 1))])
        observation, reward, *_ = envs.step(np.tanh(np.einsum("nij,nj->ni", policies, seen)))
        worth += reward / STEPS
    return worth


def main() -> None:
    envs = soleus.gym.make_vec("Reach-v0", num_envs=ARMS, dt=0.02, substeps=2)
    rng = np.random.default_rng(1)
    policy = np.zeros((2, 9))
    first = last = 0.0
    for i in range(ROUNDS):
        noise = rng.standard_normal((ARMS // 2, 2, 9))
        noise = np.concatenate([noise, -noise])
        worth = episodes(envs, policy + 0.1 * noise, seed=1)
        policy += 0.2 * np.mean((worth - worth.mean())[:, None, None] / (worth.std() + 1e-9) * noise, axis=0)
        last = float(worth.mean())
        first = last if i == 0 else first
    print(f"mean reward per step: {first:.3f} before, {last:.3f} after {ROUNDS} rounds of {ARMS} arms")


if __name__ == "__main__":
    main()
