#!/usr/bin/env python3
"""What a call from Python costs beside the same work in Rust: one state, 10 000 states, one thread and two, and steps of a batch.

usage: benches/python_overhead.py [MODEL.osim ...]

Needs the package installed (`pip install .`) and, for the column of Rust, `cargo build --release -p soleus --example time_states`. Times are the smallest
of many short runs, of the processor on one thread and of the clock on two; compare them as ratios of one run. Two threads need two cores that nobody else uses:
on a busy machine what they cost in processor time says what sharing itself costs.
"""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

import soleus as sl

ROOT = pathlib.Path(__file__).resolve().parent.parent


def best(f, repeat=40, seconds=0.02, clock=time.process_time):
    """The smallest mean time of a call, s: of the processor, so that others may compute at the same time."""
    f()
    begin = time.perf_counter()
    f()
    once = time.perf_counter() - begin
    n = max(1, int(seconds / max(once, 1e-7)))
    times = []
    for _ in range(repeat):
        begin = clock()
        for _ in range(n):
            f()
        times.append((clock() - begin) / n)
    return min(times)


def cpu(f, repeat=9):
    """The smallest processor time of a call, s."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        f()
        times.append(time.process_time() - begin)
    return min(times)


def states(system, n):
    rng = np.random.default_rng(0)
    x = system.defaults()
    q = x["q"] + 0.01 * rng.standard_normal((n, x["q"].size))
    u = 0.1 * rng.standard_normal((n, x["u"].size))
    e = np.full((n, len(system.controls)), 0.05)
    z = system.evaluate(q, u, np.tile(x["z"], (n, 1)), e, want="z", equilibrate=True)
    return q, u, z, e


def rust(model):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "release/examples/time_states"
    if not program.is_file():
        return None
    return json.loads(subprocess.run([program, model], check=True, capture_output=True, text=True).stdout)


def main():
    models = sys.argv[1:] or [str(ROOT / "models/gait2d.osim")]
    for model in models:
        system = sl.read(model).compile()
        n = 10_000
        q, u, z, e = states(system, n)
        one = best(lambda: system.evaluate(q[0], u[0], z[0], e[0]))
        many = best(lambda: system.evaluate(q, u, z, e, threads=1)) / n
        two = best(lambda: system.evaluate(q, u, z, e, threads=2), clock=time.perf_counter) / n
        clock_of_one = best(lambda: system.evaluate(q, u, z, e, threads=1), clock=time.perf_counter) / n
        # Processor time of both threads together: what sharing itself costs, whatever else the machine does.
        work = [cpu(lambda: system.evaluate(q, u, z, e, threads=k)) for k in (1, 2)]
        batch = system.batch(256, threads=1)
        batch.q[:], batch.u[:], batch.z[:], batch.e[:] = q[:256], u[:256], z[:256], e[:256]
        start = [a.copy() for a in (batch.q, batch.u, batch.z, batch.time)]

        def stepped():
            for array, values in zip((batch.q, batch.u, batch.z, batch.time), start):
                array[:] = values
            batch.step(1e-4)

        step = best(stepped) / 256
        row = {"one_us": 1e6 * one, "many_us": 1e6 * many, "two_threads_us": 1e6 * two, "batch_step_us": 1e6 * step}
        there = rust(model)
        print(pathlib.Path(model).name)
        for key, value in row.items():
            beside = f"   Rust {there[key]:9.3f}" if there and key in there else ""
            print(f"  {key:<16}{value:9.3f} µs{beside}")
        print(f"  two threads are {clock_of_one / two:.2f} times one by the clock; they take {work[1] / work[0]:.3f} times the processor time of one")
        if there:
            print(f"  one state costs {1e6 * one - there['one_us']:.2f} µs more; many run at {100 * there['many_us'] / (1e6 * many):.0f} % of Rust's speed")


if __name__ == "__main__":
    main()
