#!/usr/bin/env python3
"""What a call from Python costs beside the same work in Rust: one state, 10 000 states, one thread and two, and steps of a batch.

usage: benches/python_overhead.py [--rounds N] [--instructions] [MODEL.osim ...]

Needs the package installed (`pip install .`) and, for the column of Rust,
`cargo build --profile wheel -p soleus-cli -p soleus --bin soleus --example time_states` (with the command, whose features the libraries then have: nothing is built
twice). Python and Rust are measured in turn, N rounds (5), and the smallest time of each counts: of the processor on one thread, of the clock on two. Two threads
need two cores that nobody else uses; what they cost in processor time says what sharing itself costs, whatever the machine does beside it.

With --instructions (needs valgrind) instructions are counted instead, which no other work on the machine disturbs: those of a call with one state and of each state
in an array. A state in an array costs what Rust's loop costs, so that the difference is the cost of the call.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

import soleus as sl

ROOT = pathlib.Path(__file__).resolve().parent.parent
STATES = 10_000


def best(f, repeat=12, seconds=0.02, clock=time.process_time):
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
    program = target / "wheel/examples/time_states"
    if not program.is_file():
        return None
    return json.loads(subprocess.run([program, model], check=True, capture_output=True, text=True).stdout)


def measured(system, rounds, there):
    """The smallest times in µs, after several rounds in turn with Rust's program."""
    q, u, z, e = states(system, STATES)
    row = (q[0].copy(), u[0].copy(), z[0].copy(), e[0].copy())
    batch = system.batch(256, threads=1)
    batch.q[:], batch.u[:], batch.z[:], batch.e[:] = q[:256], u[:256], z[:256], e[:256]
    start = [a.copy() for a in (batch.q, batch.u, batch.z, batch.time)]

    def stepped():
        for array, values in zip((batch.q, batch.u, batch.z, batch.time), start):
            array[:] = values
        batch.step(1e-4)

    def many(threads):
        return lambda: system.evaluate(q, u, z, e, threads=threads)

    found: dict[str, list[float]] = {}

    def note(key, value):
        found.setdefault(key, []).append(value)

    for _ in range(rounds):
        note("one_us", 1e6 * best(lambda: system.evaluate(*row)))
        note("many_us", 1e6 * best(many(1)) / STATES)
        note("batch_step_us", 1e6 * best(stepped) / 256)
        # One thread and two in turn, so that both meet the same company.
        for _ in range(8):
            for threads in (1, 2):
                clock, work = time.perf_counter(), time.process_time()
                many(threads)()
                note(f"clock_{threads}", 1e6 * (time.perf_counter() - clock) / STATES)
                note(f"work_{threads}", 1e6 * (time.process_time() - work) / STATES)
        for key, value in (there() or {}).items():
            note(f"rust_{key}", value)
    return {key: min(values) for key, values in found.items()}


def instructions(model):
    """Instructions of a call with one state, and of each state in an array: differences of two counts, without what starting costs."""
    counts = {}
    for way in ("one", "many"):
        several = []
        for n in (200, 10_200):
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, __file__, "--calls", way, str(n), model]
            # Strings of Python hash the same in every run, so that starting costs the same.
            told = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}).stderr
            several.append(int(re.search(r"Collected : (\d+)", told)[1]))
        counts[way] = (several[1] - several[0]) / 10_000
    return counts


def calls(way, n, model):
    """What is counted."""
    system = sl.read(model).compile()
    x = system.defaults()
    state = (x["q"], x["u"], x["z"], np.full(len(system.controls), 0.05))
    if way == "one":
        for _ in range(n):
            system.evaluate(*state)
    else:
        system.evaluate(*(np.tile(part, (n, 1)) for part in state), threads=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=[str(ROOT / "models/gait2d.osim")])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--calls", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.calls:
        calls(given.calls[0], int(given.calls[1]), given.models[0])
        return
    for model in given.models:
        print(pathlib.Path(model).name)
        if given.instructions:
            n = instructions(model)
            print(f"  one state {n['one']:.0f} instructions, each of many {n['many']:.0f}: a call costs {n['one'] - n['many']:.0f} more")
            continue
        x = measured(sl.read(model).compile(), given.rounds, lambda: rust(model))
        for key in ("one_us", "many_us", "batch_step_us"):
            beside = f"   Rust {x['rust_' + key]:9.3f}" if f"rust_{key}" in x else ""
            print(f"  {key:<16}{x[key]:9.3f} µs{beside}")
        print(
            f"  two threads are {x['clock_1'] / x['clock_2']:.2f} times one by the clock ({x['clock_1']:.3f}, {x['clock_2']:.3f} µs a state);"
            f" they take {x['work_2'] / x['work_1']:.3f} times the processor time of one"
        )
        if "rust_one_us" in x:
            print(
                f"  one state costs {x['one_us'] - x['rust_one_us']:.2f} µs more than in Rust (bar: 3);"
                f" many run at {100 * x['rust_many_us'] / x['many_us']:.0f} % of Rust's speed (bar: 90)"
            )


if __name__ == "__main__":
    main()
