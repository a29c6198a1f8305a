"""Plain Python functions on whole arrays, for prototypes: goals of optimal control, and controllers of simulations.

They are slower than traced functions, and cannot be written into files. Python is called once for many points in time, not once for each.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import NotSolvedWarning
from .formula import Goal

if TYPE_CHECKING:
    from ._model import Model
    from ._results import Motion
    from ._study import Solution, Study
    from ._table import Table

Array = NDArray[np.float64]

# Steps of differences, as parts of the size of an input (at least 1e-2): errors of truncation and of rounding are about equal for first derivatives by two points
# (ε^⅓) and for second derivatives (ε^¼).
_FIRST, _SECOND = 6e-6, 1.2e-4
# Solving again changes an input by less than this part of its size: the expansion is that of the solution.
_SETTLED = 1e-4
_ROUNDS = 30


class CallbackGoal:
    """A goal given by a plain function: ``function(x)`` takes one row per point in time and one column per input, and returns one value per row. The goal
    is the integral of the value. Inputs are columns of the solution: states and controls."""

    def __init__(self, name: str, function: Callable[[Array], Any], inputs: Sequence[str]) -> None:
        self.name = name
        self.function = function
        self.inputs = tuple(inputs)

    def __call__(self, x: Array) -> Array:
        found = np.asarray(self.function(x), dtype=np.float64)
        if found.shape != (len(x),):
            raise TypeError(f"goal `{self.name}` must return one value for each of {len(x)} rows, not an array of shape {found.shape}")
        return found

    def columns(self, table: Table) -> list[str]:
        """The labels of its inputs in a solution."""
        return [_column(self.name, wanted, table.labels) for wanted in self.inputs]

    def expanded(self, table: Table) -> Goal:
        """The second-order expansion about a motion, f₀ + g·(x − x₀) + ½ (x − x₀)·H (x − x₀), with coefficients that change over time."""
        labels = self.columns(table)
        rows = np.concatenate([[True], np.diff(table.time) > 0])
        time, x = table.time[rows], np.column_stack([table[c][rows] for c in labels])
        value, g, h = self._derivatives(x)
        # In powers of x itself: c + b·x + ½ x·H x.
        hx = np.einsum("ijk,ik->ij", h, x)
        c = value - np.einsum("ij,ij->i", g, x) + 0.5 * np.einsum("ij,ij->i", hx, x)
        b = g - hx
        times = "[" + ", ".join(map(repr, time.tolist())) + "]"

        def over_time(values: Array) -> str:
            if len(values) == 1 or np.all(values == values[0]):
                return repr(float(values[0]))
            return f"linear(time, {times}, [{', '.join(map(repr, values.tolist()))}])"

        words = [_word(label) for label in labels]
        terms = [over_time(c)]
        for j, word in enumerate(words):
            terms.append(f"{over_time(b[:, j])} * {word}")
            for k in range(j + 1):
                factor = 0.5 if j == k else 1.0
                if np.any(h[:, j, k] != 0):
                    terms.append(f"{over_time(factor * h[:, j, k])} * {word} * {words[k]}")
        return Goal(self.name, " + ".join(terms))

    def _derivatives(self, x: Array) -> tuple[Array, Array, Array]:
        """Value, gradient and Hessian in every row by central differences, in one call."""
        n, m = x.shape
        size = np.maximum(np.abs(x).max(axis=0), 1e-2)
        moves = [np.zeros(m)]
        for j in range(m):
            for step in (_FIRST, _SECOND):
                moves += [s * step * size[j] * np.eye(m)[j] for s in (1, -1)]
            for k in range(j):
                moves += [_SECOND * (s * size[j] * np.eye(m)[j] + r * size[k] * np.eye(m)[k]) for s in (1, -1) for r in (1, -1)]
        f = self((x[None] + np.array(moves)[:, None]).reshape(-1, m)).reshape(len(moves), n)
        g, h, at = np.zeros((n, m)), np.zeros((n, m, m)), 1
        for j in range(m):
            a, b = _FIRST * size[j], _SECOND * size[j]
            g[:, j] = (f[at] - f[at + 1]) / (2 * a)
            h[:, j, j] = (f[at + 2] - 2 * f[0] + f[at + 3]) / b**2
            at += 4
            for k in range(j):
                h[:, j, k] = h[:, k, j] = (f[at] - f[at + 1] - f[at + 2] + f[at + 3]) / (4 * b * _SECOND * size[k])
                at += 4
        return f[0], g, h

    def __repr__(self) -> str:
        return f"goal {self.name}: a Python function of {', '.join(self.inputs)}"


def _column(goal: str, wanted: str, labels: Sequence[str]) -> str:
    found = [c for c in labels if c == wanted or c.endswith("/" + wanted.lstrip("/"))]
    if len(found) != 1:
        import difflib

        near = difflib.get_close_matches(wanted, labels, 3, 0.3)
        what = "several columns" if found else "no column"
        raise KeyError(f"goal `{goal}`: the solution has {what} `{wanted}`; the nearest are {', '.join(found or near)}")
    return found[0]


def _word(label: str) -> str:
    """The name of a column of a solution in formulas."""
    owner, _, last = label.rpartition("/")
    if last in ("value", "speed"):
        return f"{'q' if last == 'value' else 'u'}[{owner.rpartition('/')[2]}]"
    if last == "activation":
        return f"activation[{owner}]"
    if label.startswith("/forceset/") and label.count("/") == 2:
        return f"excitation[{label}]"
    raise KeyError(f"`{label}` cannot be an input of a plain function; choose coordinates, speeds, activations and controls")


def solve(study: Study, goals: Sequence[tuple[CallbackGoal, float]], options: dict[str, Any]) -> Solution:
    """Solves a study with goals that are plain functions: repeatedly, with the functions expanded about the last solution, until it no longer changes. Its
    optimality conditions are those of the functions themselves, to the accuracy of the finite differences."""
    guess = options.pop("guess", study._request.get("guess"))
    table: Any = study.solve(**options).table if guess is None else guess
    if not hasattr(table, "labels"):
        from ._table import table as read

        table = read(table)
    change, solution = np.inf, None
    for _ in range(_ROUNDS):
        now = study.with_options()
        for goal, weight in goals:
            now.goals.add(goal.expanded(table), weight=weight)
        solution = now.solve(**options, guess=table)
        before = table
        table = solution.table
        change = max(_change(before, table, c) for goal, _ in goals for c in goal.columns(table))
        if change < _SETTLED:
            break
    assert solution is not None
    if change >= _SETTLED:
        solution.message = f"goals that are Python functions did not converge: inputs still change by {change:.1e} of their size after {_ROUNDS} rounds"
        warnings.warn(solution.message, NotSolvedWarning, stacklevel=3)
    return solution


def _change(before: Table, after: Table, label: str) -> float:
    x = np.interp(after.time, before.time, before[label])
    return float(np.abs(after[label] - x).max() / max(np.abs(after[label]).max(), 1e-2))


def simulate(model: Model, policy: Callable[..., Any], duration: float, initial: Any, method: str, step: float, interval: float | None) -> Motion:
    """A simulation whose controls a function gives: ``policy(t, q, u, z)`` takes arrays with one row per copy, here one, and returns the controls until the
    next call, ``interval`` later."""
    from ._results import Motion
    from ._table import Table

    system = model.compile()
    batch = system.batch(1, method="rosenbrock" if method == "rkm" else method)
    every = interval or 0.01
    if initial is not None:
        from ._table import table as read

        first = initial if hasattr(initial, "labels") else read(initial)
        for array, labels in ((batch.q, [f"{c}/value" for c in system.coordinates]), (batch.u, [f"{c}/speed" for c in system.coordinates]), (batch.z, system.states)):
            for j, label in enumerate(labels):
                if label in first.labels:
                    array[0, j] = first[label][0]
    if not (duration > 0 and every > 0 and step > 0):
        raise ValueError(f"duration ({duration} s), interval ({every} s) and step ({step} s) must be above zero")
    # The last interval is shorter if the duration is no multiple of it; rounding makes no interval of its own.
    count = max(1, math.ceil(duration / every - 1e-9))
    times, states, controls = [0.0], [np.hstack([batch.q[0], batch.u[0], batch.z[0]])], []
    message = None
    steps = 0
    for i in range(count):
        length = every if i + 1 < count else duration - i * every
        substeps = max(1, round(length / step))
        batch.e[:] = policy(batch.time.copy(), batch.q, batch.u, batch.z)
        controls.append(batch.e[0].copy())
        if batch.step(length, substeps):
            message = f"the simulation could not continue after {times[-1]:.4g} s"
            break
        steps += substeps
        times.append(float(batch.time[0]))
        states.append(np.hstack([batch.q[0], batch.u[0], batch.z[0]]))
    labels = [f"{c}/value" for c in system.coordinates] + [f"{c}/speed" for c in system.coordinates] + system.states
    x = np.array(states)
    held = np.array(controls + controls[-1:])[: len(times)]
    values = {
        "states": Table(times, {c: x[:, j] for j, c in enumerate(labels)}, degrees=False),
        "controls": Table(times, {c: held[:, j] for j, c in enumerate(system.controls)}, degrees=False),
        "end_time": times[-1],
        "steps": steps,
    }
    found = Motion(values, {"verdict": message})
    if message is not None:
        warnings.warn(message, NotSolvedWarning, stacklevel=3)
    return found
