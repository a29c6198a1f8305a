#!/usr/bin/env python3
"""Solves the swing-up of crates/soleus-optimization/tests/common/chain.rs with CasADi and Ipopt.

    python benches/nlp_against_ipopt.py LINKS NODES SECONDS TORQUE [SEED] [--verbose]

`--verbose` shows Ipopt's own log and where its time goes (`LinearSystemFactorization` is MUMPS).

Needs `casadi`. Exact derivatives, Ipopt's defaults, its own linear solver MUMPS. The counterpart is

    cargo run --release -p soleus-optimization --example swing_up_bench -- LINKS NODES SECONDS TORQUE [SEED]
"""

import math
import sys
import time

import casadi as ca


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


def main():
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
