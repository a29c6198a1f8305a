#!/usr/bin/env python3
"""Solves the swing-up of crates/soleus-optimization/tests/common/chain.rs with CasADi and Ipopt.

    python benches/nlp_against_ipopt.py LINKS NODES SECONDS TORQUE [SEED] [--verbose]
    python benches/nlp_against_ipopt.py --table

`--verbose` shows Ipopt's own log and where its time goes. `--table` solves twenty swing-ups with both, one after the other: iterations,
objective, seconds, and seconds of one factorisation (Ipopt's: its time in MUMPS without back-solves, over the factorisations that
Soleus needed for as many iterations).

Needs `casadi`. Exact derivatives, Ipopt's defaults, its own linear solver MUMPS. The counterpart is

    cargo run --release -p soleus-optimization --example swing_up_bench -- LINKS NODES SECONDS TORQUE [SEED]
"""

import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import casadi as ca


# Links, nodes, seconds, torque and, for a random start, its seed.
TABLE = ["6 200 3 200", "6 200 3 500", "6 200 3 100", "6 200 2 200", "6 200 4 100", *(f"6 200 4 200 {s}" for s in range(1, 7)),
         *(f"5 100 3 200 {s}" for s in range(1, 5)), *(f"4 100 3 100 {s}" for s in range(5, 8)),
         *(f"8 100 4 300 {s}" for s in range(1, 3))]


def randoms(seed):
    """The numbers of `Random` in tests/common (splitmix64)."""
    mask = (1 << 64) - 1
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield ((z ^ (z >> 31)) >> 11) / (1 << 53)


def dynamics(n, theta, omega, alpha, u):
    """Rows of the equation of motion; mass n - i hangs at joint i."""
    rows = []
    for i in range(n):
        row = (n - i) * 9.81 * ca.sin(theta[i]) - u[i]
        if i + 1 < n:
            row += u[i + 1]
        for j in range(n):
            d = theta[i] - theta[j]
            row += (n - max(i, j)) * (ca.cos(d) * alpha[j] + ca.sin(d) * omega[j] ** 2)
        rows.append(row)
    return rows


def table():
    root = pathlib.Path(__file__).resolve().parent.parent
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    ours = target / "release/examples/swing_up_bench"
    print("                       Soleus                              Ipopt                       ratio of seconds")
    print("problem                it   objective   seconds  ms/fact.  it   objective   seconds  all  iteration  factorisation")
    ratios, sums = [], [0, 0]
    for case in TABLE:
        run = lambda *command: subprocess.run([*map(str, command)], capture_output=True, text=True).stdout
        mine = re.search(r"solve, along time, 1 thread: \w+ f (\S+) in (\d+) iterations, (\d+) fact.*solves, (\S+) s",
                         text := run(ours, *case.split()))
        factor = re.search(r"along time, 1 thread: factor (\S+) ms", text)
        log = run(sys.executable, __file__, *case.split(), "--verbose")
        theirs = re.search(r"Ipopt: \w+ f (\S+) in (\d+) iterations.* (\S+) s solving", log)
        if not (mine and factor and theirs):
            print(f"{case:20}  no result")
            continue
        spent = lambda name: float(re.search(name + r"\.*:.*wall: *(\S+)\)", log)[1])
        mumps = spent("StdAugSystemSolverMultiSolve") - spent("LinearSystemBackSolve") - spent("LinearSystemSymbolicFactorization")
        (f, it, count, seconds), (g, jt, other) = mine.groups(), theirs.groups()
        it, jt, count, seconds, other = int(it), int(jt), int(count), float(seconds), float(other)
        of_one = 1e3 * mumps / (count / it * jt) / float(factor[1])
        ratios.append((other / seconds, other / jt / (seconds / it), of_one))
        sums = [sums[0] + it, sums[1] + jt]
        print(f"{case:20} {it:5} {float(f):11.4f} {seconds:8.2f} {float(factor[1]):8.2f} {jt:5} {float(g):11.4f} {other:8.2f} "
              + " ".join(f"{r:6.1f}" for r in ratios[-1]))
    medians = " ".join(f"{statistics.median(r):6.1f}" for r in zip(*ratios))
    print(f"iterations in all: {sums[0]} and {sums[1]}; medians of the ratios: {medians}")


def main():
    if "--table" in sys.argv:
        return table()
    verbose = "--verbose" in sys.argv
    sys.argv = [a for a in sys.argv if a != "--verbose"]
    n, nodes = int(sys.argv[1]), int(sys.argv[2])
    duration, torque = float(sys.argv[3]), float(sys.argv[4])
    h = duration / (nodes - 1)
    x = ca.SX.sym("x", nodes * 4 * n)
    at = lambda k, part: [x[k * 4 * n + part * n + i] for i in range(n)]
    rows, cost = [], 0
    for k in range(nodes):
        rows += dynamics(n, *(at(k, p) for p in range(4)))
        weight = 0.5 * h if k in (0, nodes - 1) else h
        for u in at(k, 3):
            cost += weight * u * u
    for k in range(nodes - 1):
        for i in range(n):
            for part in (0, 1):
                a, b = at(k, part)[i], at(k + 1, part)[i]
                da, db = at(k, part + 1)[i], at(k + 1, part + 1)[i]
                rows.append(b - a - 0.5 * h * (da + db))
    lower, upper, start = [], [], []
    for k in range(nodes):
        for part in range(4):
            for i in range(n):
                value = [math.pi * k / (nodes - 1), math.pi / duration, 0.0, 0.0][part]
                lo, up = -math.inf, math.inf
                if part == 3:
                    lo, up = -torque, torque
                if part < 2 and k in (0, nodes - 1):
                    value = math.pi if part == 0 and k == nodes - 1 else 0.0
                    lo = up = value
                lower.append(lo), upper.append(up), start.append(value)
    if len(sys.argv) > 5:
        stream = randoms(int(sys.argv[5]))
        start = [6 * next(stream) - 3 for _ in start]
    begin = time.perf_counter()
    solver = ca.nlpsol("s", "ipopt", {"x": x, "f": cost, "g": ca.vertcat(*rows)},
                       {"ipopt": {"print_level": 5 if verbose else 0, "sb": "yes",
                                  "print_timing_statistics": "yes" if verbose else "no"}, "print_time": False})
    built = time.perf_counter()
    result = solver(x0=start, lbx=lower, ubx=upper, lbg=0, ubg=0)
    done = time.perf_counter()
    stats = solver.stats()
    functions = sum(v for k, v in stats.items() if k.startswith("t_wall_nlp"))
    print(f"Ipopt: {stats['return_status']} f {float(result['f']):.9f} in {stats['iter_count']} iterations, "
          f"{done - begin:.3f} s with building, {done - built:.3f} s solving, of it {functions:.3f} s functions")


if __name__ == "__main__":
    main()
