"""Gymnasium vector environments on batches: many copies of a model driven by muscles or motors (``pip install soleus[gym]``).

>>> envs = soleus.gym.make_vec("Walk2D-v0", num_envs=256)
>>> observation, info = envs.reset(seed=1)
>>> observation, reward, terminated, truncated, info = envs.step(envs.action_space.sample())

A custom environment is a class with ``reward`` and ``is_over``, a few lines; see :class:`MuscleEnv`.
"""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._model import Model, example
from ._system import Batch

Array = NDArray[np.float64]


class MuscleEnv(VectorEnv[Any, Any, Any]):
    """Copies of a model in one batch. Actions are controls, from 0 to 1 for muscles and −1 to 1 for motors.

    ``backend="lanes"`` is ten or more times as fast for models without wrapping.

    Override :meth:`observe`, :meth:`reward`, :meth:`is_over` and :meth:`begin`; each works on all copies at once. A finished episode restarts with
    the next step, as in Gymnasium's vector environments by default."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        model: Model,
        num_envs: int = 1,
        *,
        dt: float = 0.01,
        substeps: int = 4,
        max_time: float = 10.0,
        threads: int | None = None,
        observed: int | None = None,
        backend: Literal["engine", "lanes"] = "engine",
    ) -> None:
        self.model = model
        self.system = model.compile()
        self.batch: Batch = self.system.batch(num_envs, threads=threads, backend=backend)
        self.num_envs = num_envs
        self.dt, self.substeps, self.max_time = dt, substeps, max_time
        muscles = set(self.system.muscles)
        low = np.array([0.0 if path in muscles else -1.0 for path in self.system.controls])
        self._low = low
        self.single_action_space = gymnasium.spaces.Box(low.astype(np.float32), np.ones_like(low, dtype=np.float32))
        size = observed if observed is not None else self.observe().shape[1]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._over = np.zeros(num_envs, dtype=np.bool_)

    # What an environment of your own says.

    def begin(self, which: NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Sets the initial state of an episode for the given copies; they are already in the default state."""

    def observe(self) -> Array:
        """The observation: coordinates, speeds, muscle states."""
        return np.hstack([self.batch.q, self.batch.u, self.batch.z])

    def reward(self, action: Array) -> Array:
        """The reward of a step."""
        return np.zeros(self.num_envs)

    def is_over(self) -> NDArray[np.bool_]:
        """Copies whose episode has failed."""
        return np.zeros(self.num_envs, dtype=np.bool_)

    # What Gymnasium asks for.

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts all episodes."""
        if seed is not None or not hasattr(self, "_rng"):
            self._rng = np.random.default_rng(seed if not isinstance(seed, list) else [s or 0 for s in seed])
        self._begin(np.ones(self.num_envs, dtype=np.bool_))
        return self.observe(), {}

    def _begin(self, which: NDArray[np.bool_]) -> None:
        self.batch.reset(which)
        self.batch.e[which] = 0.0
        self.begin(which, self._rng)
        self._over[which] = False

    def step(self, actions: Any) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps all copies; those whose episode was over start a new one."""
        fresh = self._over.copy()
        action = np.clip(np.asarray(actions, dtype=np.float64), self._low, 1.0)
        if fresh.any():
            self._begin(fresh)
            # They stay where they begin while the others step.
            kept = [a[fresh].copy() for a in (self.batch.q, self.batch.u, self.batch.z, self.batch.time)]
        self.batch.e[:] = action
        self.batch.step(self.dt, self.substeps)
        if fresh.any():
            for array, rows in zip((self.batch.q, self.batch.u, self.batch.z, self.batch.time), kept):
                array[fresh] = rows
            self.batch.failed[fresh] = False
        reward = np.where(fresh, 0.0, self.reward(action))
        terminated = (self.is_over() | self.batch.failed) & ~fresh
        truncated = (self.batch.time >= self.max_time - 1e-9) & ~terminated & ~fresh
        self._over = terminated | truncated
        return self.observe(), reward, terminated, truncated, {}

    def close_extras(self, **_: Any) -> None:
        """Closes the environments."""


class Walk2D(MuscleEnv):
    """A planar walker: trunk and two legs, 9 coordinates, 16 muscles, ground contact. It should move forward at ``speed`` m/s without falling, with
    little muscle effort."""

    def __init__(self, num_envs: int = 1, *, model: Model | None = None, speed: float = 1.2, **more: Any) -> None:
        self.speed = speed
        model = model or example("gait2d")
        names = [path.rsplit("/", 1)[-1] for path in model.compile().coordinates]
        self._x, self._y, self._tilt = (names.index(n) for n in ("trunk_x", "trunk_y", "trunk_angle"))
        super().__init__(model, num_envs, **more)

    def begin(self, which: NDArray[np.bool_], rng: np.random.Generator) -> None:
        n = int(which.sum())
        # Nearly upright, nearly at speed, each a little different.
        self.batch.q[which] += 0.02 * rng.standard_normal((n, self.batch.q.shape[1]))
        self.batch.q[which, self._x] = 0.0
        self.batch.u[which, self._x] = self.speed * rng.uniform(0.8, 1.2, n)

    def observe(self) -> Array:
        # Where along the ground it is does not matter.
        return np.hstack([np.delete(self.batch.q, self._x, axis=1), self.batch.u, self.batch.z])

    def reward(self, action: Array) -> Array:
        off = self.batch.u[:, self._x] - self.speed
        worth: Array = 1.0 - off**2 - 0.1 * np.mean(action**2, axis=1)
        return worth

    def is_over(self) -> NDArray[np.bool_]:
        low = self.batch.q[:, self._y] < 0.7
        return low | (np.abs(self.batch.q[:, self._tilt]) > 0.8)


class Reach(MuscleEnv):
    """An arm driven by two motors in a vertical plane. Its wrist should reach a target and stay there."""

    def __init__(self, num_envs: int = 1, *, model: Model | None = None, **more: Any) -> None:
        self.goal = np.zeros((num_envs, 2))
        more.setdefault("max_time", 2.0)
        super().__init__(model or example("reach"), num_envs, **more)

    def _wrist(self) -> Array:
        places: Array = self.system.evaluate(self.batch.q, want="markers")
        return places[:, 0, :2]

    def begin(self, which: NDArray[np.bool_], rng: np.random.Generator) -> None:
        # A place that some pose within the ranges of the joints reaches.
        n = int(which.sum())
        pose = np.column_stack([rng.uniform(-0.5, 1.5, n), rng.uniform(0.2, 2.0, n)])
        self.goal[which] = np.asarray(self.system.evaluate(pose, want="markers"))[:, 0, :2]

    def observe(self) -> Array:
        return np.hstack([self.batch.q, self.batch.u, self._wrist(), self.goal])

    def reward(self, action: Array) -> Array:
        distance = np.linalg.norm(self._wrist() - self.goal, axis=1)
        worth: Array = -distance - 0.01 * np.mean(action**2, axis=1)
        return worth


_ENVIRONMENTS: dict[str, type[MuscleEnv]] = {"Walk2D-v0": Walk2D, "Reach-v0": Reach}


def make_vec(name: str, num_envs: int = 1, **more: Any) -> MuscleEnv:
    """An environment by name: ``Walk2D-v0`` or ``Reach-v0``."""
    if name not in _ENVIRONMENTS:
        raise KeyError(f"no environment is called `{name}`; available: {', '.join(_ENVIRONMENTS)}")
    made: Any = _ENVIRONMENTS[name]
    envs: MuscleEnv = made(num_envs, **more)
    return envs


def register() -> None:
    """Registers the environments for ``gymnasium.make_vec("soleus/Walk2D-v0", num_envs=…)``."""
    made: Any
    for name, made in _ENVIRONMENTS.items():
        if f"soleus/{name}" not in gymnasium.registry:
            gymnasium.register(f"soleus/{name}", vector_entry_point=made)
