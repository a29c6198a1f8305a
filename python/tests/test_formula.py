"""Functions of Python traced into formulas."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import soleus as sl
from soleus import formula as f


def has_formulas(study: sl.Study) -> bool:
    return "forces" in study.data["setup"]


def test_analytic_text_of_traced_functions() -> None:
    @sl.goal
    def limp(m: Any) -> Any:
        r, l = m.contact_force("foot_r").y, m.contact_force("foot_l").y
        return (r - 0.8 * l) ** 2 / m.mass**2

    assert limp.formula == "(contact_force[foot_r].y - 0.8 * contact_force[foot_l].y) ^ 2 / mass ^ 2"
    m = f.ModelSymbols()
    x = m.q("knee")
    for made, text in [
        (-(x**2), "-q[knee] ^ 2"),
        ((-x) ** 2, "(-q[knee]) ^ 2"),
        (1 - (x - 2), "1 - (q[knee] - 2)"),
        (x / (m.mass * 2), "q[knee] / (mass * 2)"),
        (x * -1.5, "q[knee] * -1.5"),
        (2**x, "2 ^ q[knee]"),
        ((x**2) ** 3, "(q[knee] ^ 2) ^ 3"),
        (f.where((x > 0) & ~(x > 1), x, 0), "where(q[knee] > 0 and not q[knee] > 1, q[knee], 0)"),
        (f.sum_of(m.activation("*_r") ** 2), "sum(activation[*_r] ^ 2)"),
        (f.norm(m.position("wrist") - f.vector(0.4, 1.35, 0)), "norm(position[wrist] - [0.4, 1.35, 0])"),
        (f.linear(x, [0, 1], [2, 3.5]), "linear(q[knee], [0, 1], [2, 3.5])"),
        (abs(x) + f.sqrt(x), "abs(q[knee]) + sqrt(q[knee])"),
        (np.float64(2.0) * x, "2 * q[knee]"),
    ]:
        assert str(made) == text
        assert str(pickle.loads(pickle.dumps(made))) == text


def test_analytic_parts_used_twice_are_written_once() -> None:
    m = f.ModelSymbols()
    d = m.position("wrist") - f.vector(1, 2, 3)
    e = f.dot(d, d)
    assert str(e + e**2) == "part1 + part1 ^ 2; part1 = dot(part0, part0); part0 = position[wrist] - [1, 2, 3]"


def test_analytic_an_if_names_its_line_and_where() -> None:
    with pytest.raises(TypeError, match=r"test_formula.py, line \d+.*where\(condition, a, b\)"):

        @sl.goal
        def wrong(m: Any) -> Any:
            return m.time if m.time > 1 else 0

    with pytest.raises(TypeError, match="functions of soleus.formula"):
        import math

        math.sin(f.ModelSymbols().time)
    with pytest.raises(ValueError, match="cannot be used"):
        f.ModelSymbols().time + float("nan")
    with pytest.raises(TypeError, match="`k`"):
        sl.force(coordinate="knee")(lambda m, k: k)


def test_analytic_equality_is_a_condition() -> None:
    m = f.ModelSymbols()
    a = m.q("a")
    assert str(f.where(a == 0, 1, 2)) == "where(q[a] == 0, 1, 2)"
    assert str(f.where(a != m.u("a"), 1, 2)) == "where(q[a] != u[a], 1, 2)"
    assert str(f.where(0 == a, 1, 2)) == "where(q[a] == 0, 1, 2)"
    assert str(f.where(np.float64(0.5) == a, 1, 2)) == "where(0.5 == q[a], 1, 2)"
    assert str(f.where(True, a, 2)) == "q[a]"
    assert len({a, m.q("a")}) == 2
    for wrong in (lambda: 1 if a == 0 else 2, lambda: a in [m.q("b")], lambda: a == "a", lambda: a != None):  # noqa: E711
        with pytest.raises(TypeError, match=r"test_formula.py, line \d+: a traced value"):
            wrong()


def test_analytic_functions_of_numpy() -> None:
    a = f.ModelSymbols().q("a")
    for made, text in [
        (np.sin(a), "sin(q[a])"),
        (np.arctan2(a, 2.0), "atan2(q[a], 2)"),
        (np.maximum(a, 0), "max(q[a], 0)"),
        (np.float64(3.0) / a, "3 / q[a]"),
        (np.square(a) + np.hypot(1.0, a), "q[a] ^ 2 + hypot(1, q[a])"),
        (np.where(a > 0, a, 0.0), "where(q[a] > 0, q[a], 0)"),
        (np.clip(a, 0, 1), "clamp(q[a], 0, 1)"),
        (np.array(2.0) * a, "2 * q[a]"),
    ]:
        assert str(made) == text
    for wrong, advice in [
        (lambda: np.arcsinh(a), "numpy.arcsinh cannot be applied.*soleus.formula"),
        (lambda: np.add.reduce(a), "numpy.add.reduce cannot"),
        (lambda: np.mean(a), "numpy.mean cannot"),
        (lambda: np.ones(3) * a, r"with an array; use vector\(x, y, z\)"),
    ]:
        with pytest.raises(TypeError, match=r"test_formula.py, line \d+: .*" + advice):
            wrong()  # type: ignore[no-untyped-call]


def test_identity_a_traced_goal_is_the_built_in_one(models: pathlib.Path) -> None:
    """Effort as a formula: the same iterates, and the same text in a study file gives the same bytes."""
    file = models.parent / "examples" / "kick.toml"
    study = sl.study(file)
    if not has_formulas(study):
        pytest.skip("this version of Soleus has no formulas")

    @sl.goal
    def effort(m: Any) -> Any:
        return f.sum_of(m.excitation("*") ** 2)

    study.goals.remove("effort")
    study.goals.add(effort, weight=1.0)
    built_in, traced = sl.study(file).solve(), study.solve()
    assert traced.certificate.iterations == built_in.certificate.iterations
    assert traced.objective == pytest.approx(built_in.objective, rel=1e-9)
    text = file.read_text().replace('type = "control"\nname = "effort"', f'formula = "{effort.formula}"\nname = "effort"')
    # Goals come in another order, so that sums are rounded otherwise: the same goals in the same order are compared.
    study = sl.study(file)
    goals = study.data["setup"]["goals"]
    goals[0] = {"name": "effort", "weight": 1.0, "kind": {"formula": {"formula": effort.formula, "when": effort.when}}}
    np.testing.assert_array_equal(study.solve().table.to_numpy(), sl.study_text(text, folder=file.parent).solve().table.to_numpy())


def test_identity_a_spring_in_python_is_that_of_a_file() -> None:
    study = sl.study_text(KICK)
    if not has_formulas(study):
        pytest.skip("this version of Soleus has no formulas")

    @sl.force(coordinate="knee_angle", parameters={"k": (0.0, 50.0)})
    def exo(m: Any, k: Any) -> Any:
        return -k * (m.q + 0.3)

    study.add_force(exo)
    solution = study.solve(max_iterations=500)
    assert solution.solved and 0.0 <= solution.parameters["k"] <= 50.0
    # A spring that only hinders is left out: its stiffness goes to its bound, from which the solver stays as far as its tolerance (1e-6 of
    # the objective's unit; the product of stiffness and multiplier, 9e-8, is what the objective is off).
    plain = sl.study_text(KICK).solve()
    assert solution.objective <= plain.objective + 1e-6


def test_identity_forces_and_controllers_are_parts_of_a_model(tmp_path: pathlib.Path) -> None:
    """Added, compiled, written, read back, copied and pickled."""
    model = sl.example("leg_swing")

    @sl.force(coordinate="knee_angle", constants={"k": 30.0})
    def brace(m: Any, k: Any) -> Any:
        return -k * sl.softplus(m.q + 0.3, 50)

    points = [("/bodyset/thigh", (0.03, -0.2, 0.0)), ("/bodyset/shank", (0.04, -0.05, 0.0))]

    @sl.force(path=points, constants={"f0": 500.0, "tau": 0.05}, states={"a": 0.1}, control=(0, 1), name="plain")
    def plain(m: Any, f0: Any, tau: Any) -> Any:
        return f0 * m["a"] * m.length / 0.2, (m.control - m["a"]) / tau

    @sl.controller("plain", constants={"gain": 0.5})
    def reflex(m: Any, gain: Any) -> Any:
        return 0.1 + gain * f.max_of(m.lengthening_speed, 0)

    assert model.add(brace).path == "/forceset/brace"
    assert model.add(plain).class_name == "FormulaForce"
    assert model.add(reflex).path == "/controllerset/reflex"
    for part in (brace, plain, reflex):
        assert pickle.loads(pickle.dumps(part)).to_xml() == part.to_xml()
    model.save(tmp_path / "leg.osim")
    for other in (model, sl.read(tmp_path / "leg.osim"), pickle.loads(pickle.dumps(model)), model.copy()):
        system = other.compile()
        assert "/forceset/plain/a" in system.states and "/forceset/plain" in system.controls
    bare = sl.example("leg_swing").compile()
    q = {"knee_angle": 0.2}
    moment = system.evaluate(q=q, want="mass_matrix") @ (system.evaluate(q=q, z={"plain/a": 0.0}) - bare.evaluate(q=q))
    assert moment[1] == pytest.approx(-30.0 * np.log1p(np.exp(25.0)) / 50, rel=1e-9)
    # ż of the path force, and exact derivatives of it.
    at = system.states.index("/forceset/plain/a")
    assert system.evaluate(z={"plain/a": 0.1}, e={"plain": 0.6}, want="zdot")[at] == pytest.approx(10.0)
    jacobian = system.jacobian(z={"plain/a": 0.1}, e={"plain": 0.6}).dx
    jacobian = jacobian.toarray() if hasattr(jacobian, "toarray") else jacobian.to_numpy()
    assert jacobian[6 + at, 6 + at] == pytest.approx(20.0)
    motion = model.simulate(0.1, excitation=0.02)
    assert "/forceset/plain/a" in motion.states.labels


def test_analytic_forces_with_states_say_what_they_return() -> None:
    with pytest.raises(TypeError, match="the force and 1 rates"):
        sl.force(coordinate="knee_angle", states={"a": 0.0})(lambda m: m["a"])
    with pytest.raises(TypeError, match="`gain`"):
        sl.controller("soleus")(lambda m, gain: gain)
    model = sl.example("leg_swing")
    with pytest.raises(sl.InputError):
        model.add("<FormulaForce><formula></FormulaForce>")


def test_identity_a_goal_beside_those_of_track() -> None:
    motion = sl.example("leg_swing").simulate(0.15, excitation=0.05, interval=0.01)
    angles = motion.states.select([c for c in motion.states.labels if c.endswith("/value")])

    @sl.goal
    def quiet(m: Any) -> Any:
        return m.u("knee_angle") ** 2

    study = sl.example("leg_swing").track(angles, remove_muscles=True, reserves=200, mesh_interval=0.03)
    study.goals.add(quiet, weight=0.1)
    with_goal = study.solve()
    speed = with_goal.table["/jointset/knee/knee_angle/speed"]
    assert with_goal.solved and set(with_goal.goals) >= {"state_tracking", "quiet"}
    assert with_goal.goals["quiet"] == pytest.approx(0.1 * np.trapezoid(speed**2, with_goal.table.time), rel=0.05)


KICK = (pathlib.Path(__file__).resolve().parents[2] / "examples" / "kick.toml").read_text()
