"""Optimal control."""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import threading

from typing import Any

import numpy as np
import pytest

import soleus as sl


def test_identity_a_study_file_solved_and_resumed(models: pathlib.Path, tmp_path: pathlib.Path) -> None:
    examples = models.parent / "examples"
    study = sl.study(examples / "kick.toml")
    solution = study.solve(threads=2)
    assert solution.solved and solution.certificate.converged
    assert solution.certificate.constraint_violation < 1e-3
    assert len(solution.table) > 2 and solution.objective == pytest.approx(sum(solution.goals.values()), rel=1e-6)
    solution.save(tmp_path / "kick.sto")
    assert sl.table(tmp_path / "kick.sto")[solution.table.labels[0]].size == len(solution.table)
    # From the solution to itself: next to nothing is left to do.
    again = solution.resume(intervals=None).solve(threads=2)
    assert again.certificate.iterations <= solution.certificate.iterations
    assert again.objective == pytest.approx(solution.objective, rel=1e-4)
    assert pickle.loads(pickle.dumps(solution)).objective == solution.objective


def test_analytic_nothing_is_written_without_a_name(models: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = models.parent / "examples"
    sl.study(examples / "via_point.toml").solve()
    assert not list(tmp_path.iterdir())
    found = sl.study(examples / "kick.toml").solve(output=tmp_path / "out.sto")
    assert (tmp_path / "out.sto").is_file() and list(found.files) == [str(tmp_path / "out.sto")]


def test_identity_a_solve_that_was_stopped_goes_on(models: pathlib.Path) -> None:
    examples = models.parent / "examples"
    with pytest.warns(sl.NotSolvedWarning):
        first = sl.study(examples / "kick.toml").solve(max_iterations=3)
    assert not first.solved and first.certificate.iterations == 3
    rest = first.resume().solve()
    whole = sl.study(examples / "kick.toml").solve()
    assert rest.solved
    assert rest.objective == pytest.approx(whole.objective, rel=1e-3)
    assert rest.certificate.iterations <= whole.certificate.iterations


def test_analytic_ctrl_c_keeps_the_iterate(models: pathlib.Path) -> None:
    study = sl.study(models.parent / "examples" / "kick.toml", intervals=400, tolerance=1e-12)
    threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        study.solve(threads=1)
    except sl.Interrupted as e:
        assert e.partial is not None and len(e.partial.table) > 2
    else:
        pytest.skip("it was solved before Ctrl-C")


def test_analytic_a_wrong_study_names_the_line() -> None:
    with pytest.raises(sl.Error) as caught:
        sl.study_text("[model]\nfile = 3\n").solve()
    assert caught.value.diagnostics and caught.value.diagnostics[0].line > 0


def test_identity_tracking_in_memory(models: pathlib.Path) -> None:
    """A simulation is followed by what made it: states that are met."""
    model = sl.read(models / "leg_swing.osim")
    motion = model.simulate(0.15, excitation=0.05, interval=0.01)
    values = [c for c in motion.states.labels if c.endswith("/value")]
    states = motion.states.select(values)
    study = model.track(states, mesh_interval=0.02, remove_muscles=True, reserves=[200.0])
    solution = study.solve(max_iterations=200)
    assert solution.solved
    found = solution.table.resample(times=states.time[:: 5].copy())
    for label in values:
        np.testing.assert_allclose(found[label], states[label][::5], atol=0.05)


def test_identity_copies_of_a_study_are_independent(models: pathlib.Path) -> None:
    motion = sl.example("leg_swing").simulate(0.1, excitation=0.05, interval=0.01)
    angles = motion.states.select([c for c in motion.states.labels if c.endswith("/value")])

    @sl.goal
    def quiet(m: Any) -> Any:
        return m.u("knee_angle") ** 2

    tracked = sl.example("leg_swing").track(angles, remove_muscles=True, reserves=200, mesh_interval=0.05)
    for study in (tracked, sl.study(models.parent / "examples" / "kick.toml", intervals=5)):
        before = list(study.goals)
        other = study.with_options(tolerance=1e-3)
        other.goals.add(quiet, weight=0.1)
        assert list(study.goals) == before and list(other.goals) == [*before, "quiet"]
        solution = other.solve()
        resumed = solution.resume(tolerance=1e-4)
        resumed.goals.remove("quiet")
        other.goals.add(quiet, weight=0.2)
        assert list(solution.resume().goals) == [*before, "quiet"] and list(resumed.goals) == before


def test_identity_a_study_changed_in_memory(models: pathlib.Path) -> None:
    """Twice the weight of every goal is twice the objective, at the same motion; a model in memory is that of the file."""
    file = models.parent / "examples" / "kick.toml"
    plain = sl.study(file).solve(tolerance=1e-9)
    study = sl.study(file)
    for goal in study.goals.values():
        goal.weight *= 2
    study.set_model(sl.example("leg_swing"))
    heavy = study.solve(page=True, tolerance=1e-9)
    # What the barrier leaves at this tolerance, beside an objective of 0.004.
    assert heavy.objective == pytest.approx(2 * plain.objective, rel=1e-4)
    label = "/jointset/knee/knee_angle/value"
    np.testing.assert_allclose(heavy.table[label], plain.table[label], atol=1e-2)
    assert "<svg" in heavy.view().html or "<canvas" in heavy.view().html
    with pytest.raises(KeyError, match="effort"):
        study.goals["efort"]
    with pytest.raises(AttributeError, match="weight"):
        study.goals["effort"].wait = 3
    study.goals.remove("initial_activation")
    assert list(study.goals) == ["effort"] and len(sl.study(file).goals) == 2
    assert pickle.loads(pickle.dumps(study)).data == study.data


def test_analytic_messages_name_what_python_has(tmp_path: pathlib.Path, models: pathlib.Path) -> None:
    study = sl.study(models.parent / "examples" / "kick.toml", intervals=10)
    with pytest.warns(sl.NotSolvedWarning) as caught:
        solution = study.solve(max_iterations=3)
    for text in (solution.message, str(caught[0].message)):
        assert text is not None and "--" not in text and "(memory)" not in text and "kick_solution" not in text
        assert "the solution has the best iterate; continue with solution.resume().solve()" in text and "`max_iterations`" in text
    assert solution.resume().solve().solved
    with pytest.warns(sl.NotSolvedWarning, match="the best iterate is in .*kick.sto; continue with solution"):
        study.solve(max_iterations=3, output=tmp_path / "kick.sto")
    assert (tmp_path / "kick.sto").is_file()


def test_analytic_problems_by_keywords_have_no_file(tmp_path: pathlib.Path) -> None:
    @sl.force(coordinate="knee_angle", parameters={"k": (0, 100)})
    def spring(m: Any, k: Any) -> Any:
        return -k * m.q("knee_angle")

    study = sl.example("leg_swing").track(sl.Table([0, 1], {"knee_angle": [0.0, 0.1]}, degrees=False))
    with pytest.raises(TypeError, match="`k` of force `spring`.*soleus.study"):
        study.model.add(spring)
    with pytest.raises(TypeError, match="keywords"):
        study.save(tmp_path / "track.toml")
