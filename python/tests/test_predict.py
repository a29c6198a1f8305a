"""Movements that nobody measured."""

from __future__ import annotations

import copy
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import soleus as sl


def test_identity_a_prediction_is_a_study(tmp_path: pathlib.Path) -> None:
    """It can be looked at, changed, copied and written, and reads back as it was."""
    model = sl.example("gait2d")
    study = sl.predict.walk(model, speed=1.2, intervals=8, effort={"excitations": 10.0, "trunk": 0.2})
    assert {"speed", "effort", "trunk"} <= set(study.goals)
    study.goals["trunk"].weight = 0.3

    @sl.goal
    def limp(m: Any) -> Any:
        r, l = m.contact_force("foot_r").y, m.contact_force("foot_l").y
        return (r - 0.8 * l) ** 2 / m.weight**2

    study.goals.add(limp, weight=1e-3)
    study.save(tmp_path / "walk.toml")
    assert (tmp_path / "walk.osim").is_file() and "limp" in (tmp_path / "walk.toml").read_text()
    again = sl.study(tmp_path / "walk.toml")
    assert list(again.goals) == list(study.goals) and again.goals["trunk"].weight == 0.3
    assert len(again.model.muscles) == 16 and len(study.model.muscles) == 16
    for other in (copy.deepcopy(study), pickle.loads(pickle.dumps(study))):
        assert other.to_toml() == study.to_toml()


def test_identity_the_model_of_a_study_is_live(models: pathlib.Path) -> None:
    study = sl.study(models.parent / "examples" / "kick.toml")
    plain = study.solve()

    @sl.force(coordinate="knee_angle", constants={"k": 5.0})
    def spring(m: Any, k: Any) -> Any:
        return -k * (m.q + 0.785)

    study.model.add(spring)
    helped = study.solve()
    assert helped.solved and helped.objective != plain.objective
    by_study = sl.study(models.parent / "examples" / "kick.toml")
    by_study.add_force(spring)
    assert by_study.solve().objective == pytest.approx(helped.objective, rel=1e-6)

    @sl.force(coordinate="knee_angle", parameters={"k": (0, 5)})
    def unknown(m: Any, k: Any) -> Any:
        return -k * m.q

    # A model alone has nothing that could optimise it; that of a study does.
    with pytest.raises(TypeError, match="study.add_force"):
        sl.example("leg_swing").add(unknown)
    study.model.add(unknown)
    assert list(study.parameters) == ["k"]
    with pytest.raises(TypeError, match="solve with page"):
        _no_page(helped)
    assert "<html" in sl.view(helped).html


def _no_page(solution: sl.Solution) -> None:
    alone = copy.copy(solution)
    alone._study = None
    alone.view()


def test_analytic_a_walk_on_few_intervals() -> None:
    gait = sl.predict.gait(sl.example("gait2d"), speed=1.3, intervals=10)
    assert gait.solved and gait.certificate.constraint_violation < 1e-5
    x = next(c for c in gait.motion.labels if c.endswith("trunk_x/value"))
    time, way = gait.motion.time, gait.motion[x]
    # A whole cycle at the speed that was asked for.
    assert (way[-1] - way[0]) / (time[-1] - time[0]) == pytest.approx(1.3, rel=1e-3)
    assert len(gait.excitations.labels) == 16 and 0 < np.max(gait.excitations["soleus_r" if "soleus_r" in gait.excitations.labels else gait.excitations.labels[0]]) <= 1
    assert "<html" in gait.view().html and "1.3 m/s" in repr(gait)
    assert pickle.loads(pickle.dumps(gait)).objective == gait.objective


def test_analytic_wrong_speeds_and_models_are_refused() -> None:
    with pytest.raises(sl.InputError, match="speed"):
        sl.predict.walk(sl.example("gait2d"), speed=60)
    with pytest.raises(sl.InputError):
        sl.predict.walk(sl.example("reach"))
