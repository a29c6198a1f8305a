#!/usr/bin/env python3
"""The same four jobs in OpenSim's Python and in Soleus: lines of code, seconds, and how far the numbers differ.

usage: benches/python_against_opensim.py FOLDER

FOLDER holds OpenSim's example Gait2354_Simbody after scaling: subject01_simbody.osim, subject01_walk1.trc, subject01_walk1_ik.mot and
subject01_Setup_IK.xml. Needs both packages in the interpreter that runs this. Times are the smallest of three runs, reading included where
the job is to read. Lines are those of the functions below, without their first.
"""
from __future__ import annotations

import inspect
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import opensim as osim

import soleus as sl

POSES = 1000


# 1. Read a table, and a column of it as NumPy.


def table_opensim(folder):
    table = osim.TimeSeriesTable(str(folder / "subject01_walk1_ik.mot"))
    return table.getDependentColumn("knee_angle_r").to_numpy()


def table_soleus(folder):
    return sl.table(folder / "subject01_walk1_ik.mot")["knee_angle_r"]


# 2. Set a state, muscles in equilibrium, and read accelerations by name.


def state_opensim(model, state):
    for name, value in ANGLES.items():
        model.getCoordinateSet().get(name).setValue(state, value, False)
    model.assemble(state)
    model.equilibrateMuscles(state)
    model.realizeAcceleration(state)
    coordinates = [model.getCoordinateSet().get(i) for i in range(model.getNumCoordinates())]
    return {c.getName(): c.getAccelerationValue(state) for c in coordinates}


def state_soleus(system):
    udot = system.evaluate(q=ANGLES, equilibrate=True)
    return {path.rsplit("/", 1)[-1]: a for path, a in zip(system.coordinates, udot)}


ANGLES = {"hip_flexion_r": 0.4, "knee_angle_r": -0.8, "ankle_angle_r": 0.1}


# 3. Moment arms of all muscles about the right knee over many poses.


def arms_opensim(model, state):
    knee = model.updCoordinateSet().get("knee_angle_r")
    muscles = [model.getMuscles().get(i) for i in range(model.getMuscles().getSize())]
    arms = np.zeros((POSES, len(muscles)))
    for i, angle in enumerate(np.linspace(-1.5, 0.1, POSES)):
        knee.setValue(state, angle, False)
        model.realizePosition(state)
        for j, muscle in enumerate(muscles):
            arms[i, j] = muscle.computeMomentArm(state, knee)
    return arms


def arms_soleus(system):
    q = np.tile(system.defaults()["q"], (POSES, 1))
    q[:, [c.endswith("/knee_angle_r") for c in system.coordinates].index(True)] = np.linspace(-1.5, 0.1, POSES)
    return system.evaluate(q, want="moment_arm:knee_angle_r")


# 4. Inverse kinematics of a trial, from a setup file to an array.


def ik_opensim(folder):
    tool = osim.InverseKinematicsTool(str(folder / "subject01_Setup_IK.xml"))
    tool.run()
    table = osim.TimeSeriesTable(str(folder / "subject01_walk1_ik.mot"))
    return table.getDependentColumn("knee_angle_r").to_numpy()


def ik_soleus(folder):
    return sl.run(folder / "subject01_Setup_IK.xml")["_ik"]["knee_angle_r"]


def timed(f, *arguments):
    best, found = float("inf"), None
    for _ in range(3):
        begin = time.perf_counter()
        found = f(*arguments)
        best = min(best, time.perf_counter() - begin)
    return best, found


def lines(f):
    return len([line for line in inspect.getsource(f).splitlines()[1:] if line.strip()])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    osim.Logger.setLevelString("Off")
    work = pathlib.Path(tempfile.mkdtemp())
    folder = work / "gait"
    shutil.copytree(sys.argv[1], folder)
    os.chdir(folder)
    file = str(folder / "subject01_simbody.osim")
    model = osim.Model(file)
    state = model.initSystem()
    # A model has one state: the poses of the next job begin with another model.
    other = osim.Model(file)
    system = sl.read(file).compile()
    jobs = [
        ("read a table", table_opensim, (folder,), table_soleus, (folder,), "°"),
        ("set a state, accelerations", state_opensim, (model, state), state_soleus, (system,), "rad/s², m/s²"),
        (f"moment arms, {POSES} poses", arms_opensim, (other, other.initSystem()), arms_soleus, (system,), "m"),
        ("inverse kinematics", ik_opensim, (folder,), ik_soleus, (folder,), "°"),
    ]
    print(f"{'':<28}{'OpenSim':>20}{'Soleus':>22}")
    for name, theirs, a, ours, b, unit in jobs:
        (t_theirs, x), (t_ours, y) = timed(theirs, *a), timed(ours, *b)
        if isinstance(x, dict):
            x, y = (np.array([v[k] for k in sorted(x)]) for v in (x, y))
        off = np.abs(np.asarray(x) - np.asarray(y)).max()
        print(f"{name:<28}{lines(theirs):>4} lines {1e3 * t_theirs:>8.2f} ms {lines(ours):>4} lines {1e3 * t_ours:>8.2f} ms"
              f"   {t_theirs / t_ours:>6.1f} times, differ by at most {off:.1e} {unit}")


if __name__ == "__main__":
    main()
