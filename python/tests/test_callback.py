"""Plain Python functions on whole arrays."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pytest

import soleus as sl
from soleus import formula as f


def softly(x: np.ndarray) -> np.ndarray:
    """Something of the knee that is neither linear nor quadratic."""
    assert x.ndim == 2 and x.shape[1] == 2
    return np.cosh(2 * x[:, 0]) + 0.01 * x[:, 1] ** 2 * np.cos(x[:, 0])


def test_identity_a_plain_function_and_a_traced_one_have_the_same_optimum(models: pathlib.Path) -> None:
    @sl.goal
    def traced(m: f.ModelSymbols) -> f.Expr:
        q, u = m.q("knee_angle"), m.u("knee_angle")
        return f.cosh(2 * q) + 0.01 * u**2 * f.cos(q)

    plain = sl.goal(callback=["knee_angle/value", "knee_angle/speed"], name="plain")(softly)
    found = []
    for goal in (traced, plain):
        study = sl.study(models.parent / "examples" / "kick.toml", intervals=10, tolerance=1e-7)
        study.goals.add(goal, weight=1e-3)
        found.append(study.solve())
    a, b = found
    # Differences give derivatives to about 1e-9, and rounds end when nothing changes by more than 1e-4.
    assert b.solved and b.objective == pytest.approx(a.objective, rel=1e-5)
    label = "/jointset/knee/knee_angle/value"
    np.testing.assert_allclose(b.table[label], a.table[label], atol=2e-3)
    assert b.goals["plain"] == pytest.approx(a.goals["traced"], rel=1e-4)


def test_identity_a_plain_function_beside_the_goals_of_track() -> None:
    """Each round solves with one expansion, and not with all of those before it."""
    motion = sl.example("leg_swing").simulate(0.15, excitation=0.05, interval=0.01)
    angles = motion.states.select([c for c in motion.states.labels if c.endswith("/value")])

    @sl.goal
    def traced(m: f.ModelSymbols) -> f.Expr:
        q, u = m.q("knee_angle"), m.u("knee_angle")
        return f.cosh(2 * q) + 0.01 * u**2 * f.cos(q)

    plain = sl.goal(callback=["knee_angle/value", "knee_angle/speed"], name="plain")(softly)
    found = []
    for goal in (traced, plain):
        study = sl.example("leg_swing").track(angles, remove_muscles=True, reserves=200, mesh_interval=0.03, tolerance=1e-7)
        study.goals.add(goal, weight=0.5)
        found.append(study.solve())
    a, b = found
    assert b.solved and b.objective == pytest.approx(a.objective, rel=1e-5)
    assert b.goals["plain"] == pytest.approx(a.goals["traced"], rel=1e-4)
    label = "/jointset/knee/knee_angle/value"
    np.testing.assert_allclose(b.table[label], a.table[label], atol=2e-3)


def test_deriv_of_a_plain_function() -> None:
    goal = sl.goal(callback=["a", "b"])(softly)
    x = np.array([[0.3, -2.0], [-1.1, 0.5]])
    value, g, h = goal._derivatives(x)
    q, u = x.T
    np.testing.assert_allclose(value, np.cosh(2 * q) + 0.01 * u**2 * np.cos(q))
    np.testing.assert_allclose(g[:, 0], 2 * np.sinh(2 * q) - 0.01 * u**2 * np.sin(q), rtol=1e-8)
    np.testing.assert_allclose(g[:, 1], 0.02 * u * np.cos(q), rtol=1e-7)
    # Second differences: truncation about (1e-4)², rounding about ε/(1e-4)².
    np.testing.assert_allclose(h[:, 0, 0], 4 * np.cosh(2 * q) - 0.01 * u**2 * np.cos(q), rtol=1e-6)
    np.testing.assert_allclose(h[:, 0, 1], -0.02 * u * np.sin(q), rtol=1e-4, atol=1e-6)


def test_analytic_wrong_plain_functions_say_so(models: pathlib.Path) -> None:
    def solved(goal: object) -> None:
        study = sl.study(models.parent / "examples" / "kick.toml", intervals=5)
        study.goals.add(goal, weight=1.0)  # type: ignore[arg-type]
        study.solve()

    with pytest.raises(KeyError, match="knee_angle/value"):
        solved(sl.goal(callback=["knee_angel/value"])(softly))
    with pytest.raises(TypeError, match="one value for each"):
        solved(sl.goal(callback=["knee_angle/value"])(lambda x: x))
    goal = pickle.loads(pickle.dumps(sl.goal(callback=["knee_angle/value"])(softly)))
    assert goal.name == "softly" and goal.inputs == ("knee_angle/value",)


def test_identity_a_policy_that_does_nothing_is_a_constant_excitation(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    seen = []

    def policy(t: np.ndarray, q: np.ndarray, u: np.ndarray, z: np.ndarray) -> float:
        seen.append((t.shape, q.shape, u.shape, z.shape))
        return 0.1

    a = model.simulate(0.1, controls=policy, step=1e-3)
    b = model.simulate(0.1, excitation=0.1, method="rosenbrock", step=1e-3, interval=0.01)
    assert seen[0] == ((1,), (1, 3), (1, 3), (1, 16)) and len(seen) == 10
    label = "/jointset/knee/knee_angle/value"
    np.testing.assert_allclose(a.states[label], b.states[label], atol=1e-6)
    assert a.end_time == pytest.approx(0.1) and np.all(a.controls.to_numpy() == 0.1)


def test_analytic_the_last_interval_may_be_shorter(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    motion = model.simulate(0.105, controls=lambda t, q, u, z: 0.1, step=1e-3)
    assert motion.end_time == pytest.approx(0.105) and motion.steps == 105
    np.testing.assert_allclose(motion.states.time[-2:], [0.10, 0.105], atol=1e-12)
    assert model.simulate(0.005, controls=lambda t, q, u, z: 0.1).end_time == pytest.approx(0.005)
    for option in ({"excitation": 0.1}, {"accuracy": 1e-6}, {"outputs": ["x"]}, {"deadline": 1.0}):
        with pytest.raises(TypeError, match=next(iter(option))):
            model.simulate(0.1, controls=lambda t, q, u, z: 0.1, **option)
    with pytest.raises(ValueError, match="above zero"):
        model.simulate(0.0, controls=lambda t, q, u, z: 0.1)
