"""Calls as they are written down for users: one line each."""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import soleus as sl
from test_tools import plate, seen


def test_identity_a_scaled_subject_is_used_as_its_model() -> None:
    subject = plate().scale(seen(0.5, size=1.2), mass=12.0, manual={"plate": (1.2, 1.2, 1.2)})
    markers = seen(0.5, size=1.2)
    a, b = subject.inverse_kinematics(markers), subject.model.inverse_kinematics(markers)
    assert a.motion == b.motion
    assert subject["/markerset/B"].location == subject.model["/markerset/B"].location
    assert subject.mass == pytest.approx(12.0) and subject.compile().coordinates == subject.model.compile().coordinates
    with pytest.raises(AttributeError):
        subject.no_such_thing
    assert "/markerset/B" in subject and "nobody" not in subject and {"muscles", "inverse_dynamics", "factors"} <= set(dir(subject))
    again = pickle.loads(pickle.dumps(subject))
    assert again.mass == subject.mass and again.factors == subject.factors


def test_analytic_a_static_trial_determines_the_sizes() -> None:
    factors = plate().scale(seen(0.5, size=1.2)).factors
    # The prior, 3 % for a segment, keeps the fit a little below the markers.
    assert all(1.1 < f <= 1.21 for f in factors["plate"])


def test_analytic_quality_says_how_good_a_result_is() -> None:
    model, markers = plate(), seen(0.5)
    # One marker is 5 cm off throughout: the largest error is above the limit, and names it.
    moved = sl.Table(markers.time, {c: markers[c] + (0.05 if c == "C" else 0.0) * np.array([0, 0, 1.0]) for c in markers.labels}, metadata=markers.metadata)
    good, bad = model.inverse_kinematics(markers).quality, model.inverse_kinematics(moved).quality
    assert good.ok and not bad.ok
    rms, largest = bad
    assert largest.value == pytest.approx(0.05, abs=1e-6) and largest.where.startswith("C at") and largest.limit == 0.04
    # One of three markers: 5 cm / √3.
    assert rms.value == pytest.approx(0.05 / np.sqrt(3), abs=1e-6)
    assert bad.table()[1]["ok"] is False and "ABOVE" in repr(bad)


def test_analytic_quality_counts_actuators_and_not_measured_forces() -> None:
    t = [0.0, 0.1]
    forces = sl.Table(t, {"soleus": [9.0, 9.0], "knee_reserve": [2.0, 1.0], "calcn_r_load": [800.0, 700.0]})
    activations = sl.Table(t, {"soleus": [0.1, 0.2], "knee_reserve": [0.2, 0.1]})
    tables = {"StaticOptimization_force": forces, "StaticOptimization_activation": activations}
    found = sl.StaticOptimizationResult({"tables": tables}, {})
    found._muscles = ("soleus",)
    reserve, activation = found.quality
    assert reserve.value == 2.0 and reserve.where.startswith("knee_reserve") and activation.where.startswith("soleus")


def test_analytic_a_predicted_walk_says_what_it_is() -> None:
    walk = sl.Walk({"speed": 1.3, "duration": 1.1, "objective": 0.065, "seconds": 20.0, "page": "<html></html>", "picture": "<svg></svg>"}, {})
    assert (walk.speed, walk.duration, walk.objective) == (1.3, 1.1, 0.065) and walk.view().html == walk.page.html == "<html></html>"
    assert "1.3 m/s" in repr(walk) and "<svg>" in walk._repr_html_()
    with pytest.raises(ValueError, match="no walk was found: stopped"):
        sl.Walk({"speed": 1.3, "page": None}, {"verdict": "error: stopped"}).page


def test_identity_gym_is_found_in_the_package() -> None:
    pytest.importorskip("gymnasium")
    assert sl.gym.make_vec("Reach-v0", num_envs=2).num_envs == 2
    with pytest.raises(AttributeError):
        sl.gim  # noqa: B018


def test_identity_mesh_is_the_number_of_intervals(models: pathlib.Path) -> None:
    study = sl.study(models.parent / "examples" / "kick.toml")
    coarse = study.solve(mesh=10)
    assert len(coarse.resume(mesh=20).solve().table) > len(coarse.table)
    assert coarse.quality[0].value == coarse.certificate.constraint_violation


def test_identity_a_force_with_a_parameter_is_added_to_the_model_of_a_study(models: pathlib.Path) -> None:
    """study.model.add(force) is study.add_force(force)."""

    @sl.force(coordinate="knee_angle", parameters={"k": (0, 50)})
    def brace(m: sl.formula.ModelSymbols, k: sl.formula.Expr) -> sl.formula.Expr:
        return -k * (m.q - 0.1)

    file = models.parent / "examples" / "kick.toml"
    a, b = sl.study(file), sl.study(file)
    added = a.model.add(brace)
    assert added.path == "/forceset/brace" and "brace" in a.model.to_bytes().decode()
    b.add_force(brace)
    assert list(a.parameters) == list(b.parameters) == ["k"]
    found, other = a.solve(mesh=10), b.solve(mesh=10)
    assert found.parameters["k"] == pytest.approx(other.parameters["k"], rel=1e-6)
    assert found.objective == pytest.approx(other.objective, rel=1e-6)


def test_identity_markers_are_told_from_coordinates() -> None:
    markers = seen(0.3)
    study = plate().track(markers, reserves=100, mesh_interval=0.05)
    assert study._request["states"] is None and study._request["markers"] is markers
    assert plate().track("walk.TRC")._request["markers"] == "walk.TRC"
    assert plate().track("walk.mot")._request["states"] == "walk.mot"


def test_analytic_what_may_be_adjusted() -> None:
    from soleus._model import _adjusted

    assert _adjusted(None) == {}
    only = _adjusted(["kinematics", "mass centers"])
    assert only == {"mass_sd": 0.0, "load_offset_sd": 0.0, "load_gain_sd": 0.0, "marker_offset_sd": 0.0}
    with pytest.raises(ValueError, match="choose from: kinematics, masses"):
        plate().make_consistent(seen(0.3), adjust=["gravity"])


CALLS = 0


def counted(i: int) -> int:
    global CALLS
    CALLS += 1
    if i == 2 and os.environ.get("SOLEUS_TEST_FAILS"):
        raise ValueError("not now")
    return i * i


def test_identity_kept_results_are_not_computed_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    global CALLS
    CALLS = 0
    monkeypatch.setenv("SOLEUS_TEST_FAILS", "1")
    first = sl.map(counted, range(4), on="threads", keep=tmp_path / "kept")
    assert [i for i, _ in first.failures] == [2] and CALLS == 4
    monkeypatch.delenv("SOLEUS_TEST_FAILS")
    second = sl.map(counted, range(5), on="threads", keep=tmp_path / "kept")
    assert second.values == [0, 1, 4, 9, 16] and CALLS == 6, "what failed and what is new"
    assert sl.map(counted, range(5), on="processes", workers=1, keep=tmp_path / "kept").values == second.values


def test_identity_other_code_and_other_values_are_computed_anew(tmp_path: pathlib.Path) -> None:
    def made(factor: int) -> object:
        return lambda i: factor * i

    first = sl.map(made(2), [3], keep=tmp_path)  # type: ignore[arg-type]
    second = sl.map(made(5), [3], keep=tmp_path)  # type: ignore[arg-type]
    third = sl.map(lambda i: 7 * i, [3], keep=tmp_path)
    assert (first.values, second.values, third.values) == ([6], [15], [21])


def slow(i: int) -> int:
    time.sleep(0.02 if i < 4 else 0.5)
    return i


def test_analytic_ctrl_c_stops_a_map_and_keeps_what_is_done() -> None:
    threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(sl.Interrupted) as caught:
        sl.map(slow, range(100), on="threads", workers=2)
    assert time.monotonic() - begin < 10.0, "fifty would take twelve seconds more"
    partial = caught.value.partial
    assert partial.values[:4] == [0, 1, 2, 3]
    assert partial.failures[-1][1].kind == "Stopped"


def test_identity_pickle_and_deepcopy(models: pathlib.Path) -> None:
    """Models, systems, studies, solutions and traced functions: what comes back is equal, and independent."""
    import copy

    @sl.goal
    def effort(m: sl.Symbols) -> sl.Expr:
        return sl.formula.sum_of(m.excitation("*") ** 2)

    @sl.force(coordinate="knee_angle", constants={"k": 3.0})
    def spring(m: sl.Symbols, k: sl.Expr) -> sl.Expr:
        return -k * m.q

    study = sl.study(models.parent / "examples" / "kick.toml", intervals=6)
    solution = study.solve()
    model = sl.example("leg_swing")
    for again in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy):
        other = again(model)
        assert other.to_bytes() == model.to_bytes()
        other["soleus"].max_isometric_force = 1.0
        assert model["soleus"].max_isometric_force == 4000.0
        np.testing.assert_array_equal(again(model.compile()).evaluate(), model.compile().evaluate())
        one = again(study)
        one.goals["effort"].weight = 7
        assert study.goals["effort"].weight != 7 and one.solve().certificate.iterations > 0
        found = again(solution)
        assert found.table == solution.table and found.certificate == solution.certificate
        assert found.resume(mesh=8).solve().solved
        assert again(effort).formula == effort.formula and again(spring).to_xml() == spring.to_xml()
        assert str(again(sl.where(sl.Symbols().time > 1, 2, 3))) == "where(time > 1, 2, 3)"
