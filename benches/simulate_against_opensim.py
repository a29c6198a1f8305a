#!/usr/bin/env python3
"""Forward simulations in Soleus and, if it is installed, in OpenSim: the same models, start, controls, integrator
and accuracy, both in this run, one core.

usage: benches/simulate_against_opensim.py [--models DIR] [--repeat 3] [--seconds 1] [--method rkm] [NAME ...]

Needs `cargo build --release --examples`; the OpenSim column needs its Python package in the interpreter that runs
this. Soleus' time is the smallest wall time of runs within --seconds, or, on a busy machine where that is less, their mean
processor time; OpenSim's is the smallest processor time of Manager.integrate. Neither counts reading the model. Steps are
accepted steps. Compare as a ratio of one run.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name: (model, excitation of all muscles, seconds, accuracy)
CASES = {
    "arm26": ("arm26", 0.05, 1.0, 1e-5),
    "arm26_flex": ("arm26", 0.3, 1.0, 1e-5),
    "gait10dof18musc": ("gait10dof18musc", 0.05, 1.0, 1e-5),
    "gait2354": ("gait2354_simbody", 0.05, 0.5, 1e-5),
    "Tug_of_War": ("Tug_of_War", 0.05, 1.0, 1e-5),
    "double_pendulum": ("double_pendulum", None, 5.0, 1e-5),
    "bouncing_block": ("bouncing_block", None, 2.0, 1e-5),
    "Rajagopal2016": ("Rajagopal2016", 0.05, 0.3, 1e-5),
}


def soleus(path, excitation, duration, accuracy, method, seconds):
    """(seconds, steps)"""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [target / "release/examples/time_simulation", path, "-" if excitation is None else excitation, duration,
               accuracy, method]

    def run(seconds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([str(c) for c in [*command, seconds]], check=True, capture_output=True, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return json.loads(out), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # One run and reading the model, then many more.
    _, alone = run(0)
    result, together = run(seconds)
    mean = (together - alone) / max(result["runs"] - 1, 1)
    return (min(result["seconds"], mean) if result["runs"] > 9 else result["seconds"]), result["steps"]


def opensim(path, excitation, duration, accuracy, repeat):
    """(seconds, steps), or None without OpenSim."""
    try:
        import opensim as osim
    except ImportError:
        return None
    osim.Logger.setLevelString("Off")
    best = (float("inf"), 0)
    for _ in range(repeat):
        model = osim.Model(str(path))
        if excitation is not None:
            model.initSystem()
            controller = osim.PrescribedController()
            muscles = [osim.Muscle.safeDownCast(c) for c in model.getComponentsList()]
            muscles = [m for m in muscles if m is not None]
            for m in muscles:
                controller.addActuator(m)
            for m in muscles:
                controller.prescribeControlForActuator(m.getAbsolutePathString(), osim.Constant(excitation))
            model.addController(controller)
        state = model.initSystem()
        model.equilibrateMuscles(state)
        manager = osim.Manager(model)
        # Setting the method makes a new integrator, which forgets an accuracy set before.
        manager.setIntegratorMethod(osim.Manager.IntegratorMethod_RungeKuttaMerson)
        manager.setIntegratorAccuracy(accuracy)
        manager.initialize(state)
        begin = time.process_time()
        manager.integrate(duration)
        seconds = time.process_time() - begin
        best = min(best, (seconds, manager.getStatesTable().getNumRows() - 1))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT.parent / "shared/reference/models")
    parser.add_argument("--repeat", type=int, default=3, help="runs of OpenSim")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for runs of Soleus")
    parser.add_argument("--method", default="rkm", help="Soleus' integrator; OpenSim's is Runge-Kutta-Merson")
    args = parser.parse_args()
    print(f"{'simulation':18s} {'Soleus ms':>10s} {'steps':>6s} {'x real':>8s} {'OpenSim ms':>11s} {'steps':>6s} {'ratio':>7s}")
    for name in args.names or CASES:
        model, excitation, duration, accuracy = CASES[name]
        path = args.models / f"{model}.osim"
        ours, steps = soleus(path, excitation, duration, accuracy, args.method, args.seconds)
        line = f"{name:18s} {1e3 * ours:10.2f} {steps:6d} {duration / ours:8.1f}"
        theirs = opensim(path, excitation, duration, accuracy, args.repeat)
        if theirs:
            line += f" {1e3 * theirs[0]:11.1f} {theirs[1]:6d} {theirs[0] / ours:7.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
