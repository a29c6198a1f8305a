#!/usr/bin/env python3
"""Tracking a walk with a goal three ways: written in Python and traced, the same text in TOML, and the goal that is built in, in Rust.

usage: benches/python_goal.py [REPEATS [INTERVALS]]

The planar walker stands on its contacts. Driven by torques it follows the walk in models/gait2d_walk.sto, half a second of it. Driven by its 16 muscles it follows
half a symmetric cycle of a walk that is predicted first (sl.predict.walk at 1.3 m/s, least sum of cubed excitations), and starts from it. The goal is the sum of
squared controls (MocoControlGoal is the one in Rust). Times are processor seconds of the solve, the smallest of several alternating runs.
"""
from __future__ import annotations

import pathlib
import sys
import tempfile
import time
from collections.abc import Callable

import soleus as sl
from soleus import formula as f

ROOT = pathlib.Path(__file__).resolve().parent.parent

TRACKING = """
[[goals]]
name = "tracking"
type = "state_tracking"
weight = 10
reference = {{ file = "{motion}" }}
pattern = ".*/value"
allow_unused = true

{goal}
[solver]
intervals = {intervals}
"""

TORQUES = """
name = "walk"
model = "{model}"

[[operators]]
type = "remove_muscles"

[[operators]]
type = "add_reserves"
optimal_force = 100
skip_residuals = false

[time]
initial = 0.1
final = 0.6

[defaults]
speeds = [-20, 20]
""" + TRACKING

MUSCLES = """
name = "walk"
model = "{model}"
symmetry = "left-right"

[time]
final = {final}

[defaults]
speeds = [-20, 20]

[[states]]
name = "trunk_x/value"
bounds = [-1, 3.17]
initial = 0
""" + TRACKING + """scheme = "backward-euler"
interpolate_controls = false
constraint_tolerance = 1e-6
tolerance = 0.0001
max_iterations = 600
"""

WEIGHT = 0.5


@sl.goal
def effort(m):
    return f.sum_of(m.excitation("*") ** 2)


BY_FORMULA = f"""[[goals]]
name = "effort"
formula = "{effort.formula}"
weight = {WEIGHT}
"""
BY_RUST = f"""[[goals]]
name = "effort"
type = "control"
weight = {WEIGHT}
"""


def compare(text: Callable[[str], str], start: sl.Table, folder: str, repeats: int) -> None:
    """Solves the same problem in three ways, in turn, and prints them side by side."""

    def traced() -> sl.Study:
        study = sl.study_text(text(""), folder=folder)
        study.goals.add(effort, weight=WEIGHT)
        return study

    ways = {
        "Python, traced": traced,
        "TOML": lambda: sl.study_text(text(BY_FORMULA), folder=folder),
        "Rust": lambda: sl.study_text(text(BY_RUST), folder=folder),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found = {}
    for _ in range(repeats):
        for name, make in ways.items():
            study = make()
            begin = time.process_time()
            found[name] = study.solve(threads=1, guess=start)
            seconds[name].append(time.process_time() - begin)
    for name, solution in found.items():
        c = solution.certificate
        print(f"{name:<16}{min(seconds[name]):8.3f} s  {c.iterations:4d} iterations  objective {solution.objective!r}  {c.status}")

    def bytes_of(name: str) -> bytes:
        """The file of the solution, without the line that says how long it took."""
        return "\n".join(line for line in found[name].phases[0].text.splitlines() if "duration=" not in line).encode()

    same = bytes_of("Python, traced") == bytes_of("TOML")
    print(f"Python and TOML: {'the same bytes' if same else 'DIFFERENT bytes'} ({len(bytes_of('TOML'))})")
    a, b = found["Python, traced"], found["Rust"]
    worst = max(abs(a.table[c] - b.table[c]).max() for c in a.table.labels)
    print(f"Python and Rust: largest difference of any column {worst:.1e}; time {min(seconds['Python, traced']) / min(seconds['Rust']):.3f} of Rust's")
    assert same and a.certificate.iterations == b.certificate.iterations and a.solved and b.solved


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    model = ROOT / "models/gait2d.osim"
    with tempfile.TemporaryDirectory() as folder:
        motion, intervals = ROOT / "models/gait2d_walk.sto", int(sys.argv[2]) if len(sys.argv) > 2 else 25
        start = sl.table(motion).trim(0.1, 0.6)
        start = start.select([c for c in start.labels if c.startswith("/jointset")])
        print(f"== torques, {intervals} intervals")
        compare(lambda goal: TORQUES.format(model=model, motion=motion, goal=goal, intervals=intervals), start, folder, repeats)

        intervals = int(sys.argv[2]) if len(sys.argv) > 2 else 15
        walk = sl.predict.walk(sl.read(model), speed=1.3, intervals=intervals).solve()
        file = pathlib.Path(folder) / "predicted.sto"
        walk.save(file)
        final = float(walk.table.time[-1])
        print(f"== muscles, {intervals} intervals, half a cycle of {final:.3f} s")
        compare(lambda goal: MUSCLES.format(model=model, motion=file, goal=goal, intervals=intervals, final=final), walk.table, folder, repeats)


if __name__ == "__main__":
    main()
