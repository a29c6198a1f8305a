"""Batches."""

from __future__ import annotations

import pathlib

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
