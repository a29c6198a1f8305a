"""Batches."""

from __future__ import annotations

import _thread
import pathlib
import threading
import time
from typing import Any

import numpy as np
import pytest

import soleus as sl


def test_order_steps_of_a_batch_converge_to_a_simulation(models: pathlib.Path) -> None:
    """Rosenbrock's method is of first order: half the step, half the error, once steps are short beside the fibers' own time."""
    model = sl.read(models / "leg_swing.osim")
    system = model.compile()
    batch = system.batch(3, method="rkm", accuracy=1e-9)
    batch.e[:] = 0.2
    batch.step(0.05)
    exact = batch.q[0].copy()
    errors = []
    for steps in (320, 640, 1280):
        other = system.batch(2)
        other.e[:] = 0.2
        assert other.step(0.05, steps) == 0
        errors.append(np.abs(other.q[0] - exact).max())
        np.testing.assert_array_equal(other.q[0], other.q[1])
    assert 1.7 < errors[0] / errors[1] < 2.3 and 1.7 < errors[1] / errors[2] < 2.3


def test_analytic_arrays_are_live(models: pathlib.Path) -> None:
    batch = sl.read(models / "leg_swing.osim").compile().batch(4)
    q = batch.q
    before = q.copy()
    batch.e[2] = 0.9
    batch.step(0.01)
    assert q is batch.q and not np.array_equal(q, before)
    assert not np.array_equal(q[2], q[1]) and np.array_equal(q[0], q[1])
    np.testing.assert_array_equal(batch.time, 0.01)
    batch.reset(np.array([True, False, True, True]))
    np.testing.assert_array_equal(q[0], before[0])
    assert batch.time.tolist() == [0.0, 0.01, 0.0, 0.0] and not np.array_equal(q[1], before[1])


@pytest.mark.parametrize("backend", ["engine", "lanes"])
def test_analytic_assigning_to_an_array_writes_into_it(backend: Any) -> None:
    batch = sl.example("gait2d").compile().batch(3, backend=backend)
    views = {name: getattr(batch, name) for name in ("q", "u", "z", "e", "time", "failed")}
    rng = np.random.default_rng(7)
    for name, view in views.items():
        values = rng.random(view.shape) > 0.5 if name == "failed" else rng.random(view.shape)
        setattr(batch, name, values)
        assert np.shares_memory(getattr(batch, name), view)
        np.testing.assert_array_equal(view, values)
    batch.e = 0.25
    batch.e += 0.25
    assert np.all(views["e"] == 0.5)
    with pytest.raises(ValueError):
        batch.q = np.zeros((4, 9))
    batch.reset()
    batch.e = np.array([[0.0], [0.5], [1.0]])
    batch.step(0.01)
    assert not np.array_equal(batch.z[0], batch.z[1]) and not np.array_equal(batch.z[1], batch.z[2])


def test_identity_numbers_that_vary_are_those_of_a_changed_model(models: pathlib.Path) -> None:
    path = models / "leg_swing.osim"
    batch = sl.read(path).compile().batch(4)
    force = batch.vary("/forceset/soleus/max_isometric_force")
    mass = batch.vary("/bodyset/shank/mass")
    assert force.tolist() == [4000.0] * 4
    force[1] = force[3] = 2500.0
    mass[2] = mass[3] = 5.0
    batch.e[:] = 0.5
    batch.step(0.01, 2)
    for i in range(4):
        model = sl.read(path)
        model["/forceset/soleus"].max_isometric_force = force[i]
        model["/bodyset/shank"].mass = mass[i]
        alone = model.compile().batch(1)
        # Both start from the equilibrium of the model as it was.
        alone.q[:], alone.u[:], alone.z[:] = (getattr(sl.read(path).compile().batch(1), k) for k in "quz")
        alone.e[:] = 0.5
        alone.step(0.01, 2)
        np.testing.assert_array_equal(alone.q[0], batch.q[i])
        np.testing.assert_array_equal(alone.z[0], batch.z[i])
    with pytest.raises(sl.InputError, match="max_isometric_force"):
        batch.vary("/forceset/soleus/max_isometric_forse")
    with pytest.raises(sl.InputError, match="soleus"):
        batch.vary("/forceset/soleuss/max_isometric_force")
    force[0] = -1.0
    with pytest.raises(sl.InputError, match="copy 0"):
        batch.step(0.01)


def test_identity_any_number_of_threads(models: pathlib.Path) -> None:
    found = []
    for threads in (1, 2, 3):
        batch = sl.read(models / "gait2d.osim").compile().batch(7, threads=threads)
        batch.e[:] = np.linspace(0.1, 0.7, 7)[:, None]
        for _ in range(5):
            batch.step(0.002)
        found.append(np.hstack([batch.q, batch.u, batch.z]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_analytic_a_copy_that_cannot_go_on_costs_itself_alone(models: pathlib.Path) -> None:
    batch = sl.read(models / "leg_swing.osim").compile().batch(3)
    batch.e[:] = 0.1
    batch.q[1] = np.nan
    assert batch.step(0.005) == 1
    assert batch.failed.tolist() == [False, True, False]
    assert np.isfinite(batch.q[[0, 2]]).all() and batch.time.tolist() == [0.005, 0.0, 0.005]
    batch.reset(batch.failed)
    assert batch.step(0.005) == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_analytic_a_long_step_can_be_interrupted(models: pathlib.Path, threads: int) -> None:
    """Ctrl-C during one call: copies that were reached are at its end, the others where they were."""
    system = sl.read(models / "leg_swing.osim").compile()
    batch = system.batch(100_000, threads=threads)
    before = batch.q.copy()
    # As Ctrl-C does, from another thread; the whole call would take minutes.
    press = threading.Timer(0.5, _thread.interrupt_main)
    began = time.monotonic()
    press.start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(0.1, 200)
    assert time.monotonic() - began < 20.0
    reached = batch.time == 0.1
    assert reached.any() and not reached.all()
    np.testing.assert_array_equal(batch.time[~reached], 0.0)
    np.testing.assert_array_equal(batch.q[~reached], before[~reached])
    assert not np.array_equal(batch.q[reached][0], before[0]) and not batch.failed.any()


def test_analytic_a_model_without_states_of_forces() -> None:
    """Arrays without columns: an arm that two moments drive."""
    batch = sl.example("reach").compile().batch(5)
    assert batch.z.shape == (5, 0)
    batch.e[:, 0] = 0.1
    assert batch.step(0.01) == 0 and (batch.u[:, 0] != 0).all()
    assert sl.Table([0.0, 1.0], {}).to_numpy().shape == (2, 0)


def test_identity_neighbours_do_not_matter(reference: pathlib.Path) -> None:
    """A copy with constraints steps to the same bits alone as after others that stand elsewhere."""
    system = sl.read(reference / "models/gait10dof18musc.osim").compile()
    rng = np.random.default_rng(5)
    batch = system.batch(6, threads=1)
    batch.q[:] += 0.1 * rng.standard_normal(batch.q.shape)
    batch.u[:] += rng.standard_normal(batch.u.shape)
    batch.e[:] = rng.uniform(0, 1, batch.e.shape)
    start = {k: getattr(batch, k).copy() for k in "quze"}
    for _ in range(3):
        batch.step(0.001)
    for i in (0, 3, 5):
        alone = system.batch(1)
        for k, rows in start.items():
            getattr(alone, k)[:] = rows[i]
        for _ in range(3):
            alone.step(0.001)
        np.testing.assert_array_equal(alone.q[0], batch.q[i])
        np.testing.assert_array_equal(alone.z[0], batch.z[i])


def test_analytic_two_threads_do_not_wait_for_each_other_forever() -> None:
    """A batch that is being stepped refuses a second thread; it does not hang."""
    import threading

    batch = sl.example("gait2d").compile().batch(200, threads=1)
    batch.e[:] = 0.1
    refused = []

    def steps() -> None:
        for _ in range(20):
            try:
                batch.step(0.001)
            except RuntimeError as e:
                refused.append(str(e))

    threads = [threading.Thread(target=steps) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=120)
        assert not t.is_alive()
    assert all("stepping" in r or "borrow" in r for r in refused)


@pytest.mark.parametrize(("method", "dt", "steps"), [("rosenbrock", 2e-3, 2), ("semi-explicit-euler", 2e-5, 2)])
def test_deriv_gradient_of_a_step(models: pathlib.Path, method: str, dt: float, steps: int) -> None:
    """Beside central differences of the step itself; with parameters that differ from copy to copy."""
    batch = sl.read(models / "leg_swing.osim").compile().batch(3, method=method, threads=1)
    batch.vary("/forceset/soleus/max_isometric_force")[:] *= [0.5, 1.0, 1.5]
    rng = np.random.default_rng(0)
    batch.q[:] += 0.1 * rng.standard_normal(batch.q.shape)
    batch.u[:] += rng.standard_normal(batch.u.shape)
    batch.e[:] = rng.uniform(0.05, 0.5, batch.e.shape)
    start = [a.copy() for a in (batch.q, batch.u, batch.z, batch.e)]
    w = [rng.standard_normal(a.shape) for a in start[:3]]
    along = [rng.standard_normal(a.shape) for a in start]
    g = batch.gradient(dt, steps, q=w[0], u=w[1], z=w[2])
    for array, values in zip((batch.q, batch.u, batch.z, batch.e), start):
        np.testing.assert_array_equal(array, values)

    def after(h: float) -> np.ndarray:
        for array, values, d in zip((batch.q, batch.u, batch.z, batch.e), start, along):
            array[:] = values + h * d
        batch.time[:] = 0
        assert batch.step(dt, steps) == 0
        return sum((a * b).sum(axis=1) for a, b in zip((batch.q, batch.u, batch.z), w))

    h = 1e-6
    expected = (8 * (after(h) - after(-h)) - (after(2 * h) - after(-2 * h))) / (12 * h)
    terms = np.hstack([a * d for a, d in zip((g.q, g.u, g.z, g.e), along)])
    assert np.all(np.abs(terms.sum(axis=1) - expected) < 1e-5 * np.abs(terms).sum(axis=1))
    # The whole Jacobian is the gradients of all states.
    for array, values in zip((batch.q, batch.u, batch.z, batch.e), start):
        array[:] = values
    by_x, by_e = batch.step_jacobian(dt, steps)
    weights = np.hstack(w)
    np.testing.assert_allclose(np.einsum("ni,nij->nj", weights, by_x), np.hstack([g.q, g.u, g.z]), rtol=1e-7, atol=1e-9 * np.abs(by_x).max())
    np.testing.assert_allclose(np.einsum("ni,nij->nj", weights, by_e), g.e, rtol=1e-7, atol=1e-9 * np.abs(by_e).max())


def test_analytic_a_step_without_gradient_says_why() -> None:
    batch = sl.example("leg_swing").compile().batch(1, method="rkm")
    with pytest.raises(sl.InputError, match="rosenbrock"):
        batch.gradient(0.01)
    with pytest.raises(ValueError, match="shape"):
        sl.example("leg_swing").compile().batch(2).gradient(0.01, q=np.zeros(5))


def test_analytic_lanes_and_gradients_can_be_interrupted() -> None:
    system = sl.example("gait2d").compile()
    lanes = system.batch(20_000, backend="lanes")
    press = threading.Timer(0.5, _thread.interrupt_main)
    press.start()
    with pytest.raises(KeyboardInterrupt):
        lanes.step(50.0, 50_000)
    press.join()
    # Copies are at the end of the step or where they were, or could not go on.
    assert set(np.round(lanes.time[~lanes.failed], 6)) <= {0.0, 50.0} and 0.0 in lanes.time
    engine = system.batch(20_000)
    press = threading.Timer(0.5, _thread.interrupt_main)
    press.start()
    with pytest.raises(KeyboardInterrupt):
        engine.gradient(0.05, 50, q=np.ones(9))
    press.join()
