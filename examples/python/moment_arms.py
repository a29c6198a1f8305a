"""Moment arms of all muscles about the knee over a thousand poses, as a table.

usage: python examples/python/moment_arms.py [MODEL.osim COORDINATE]
"""

from __future__ import annotations

import sys

import numpy as np

import soleus as sl


def main() -> None:
    model = sl.read(sys.argv[1]) if len(sys.argv) > 2 else sl.example("leg_swing")
    coordinate = sys.argv[2] if len(sys.argv) > 2 else "knee_angle"
    system = model.compile()
    low, high = model.coordinates[coordinate].range
    q = np.tile(system.defaults()["q"], (1000, 1))
    at = [path.rsplit("/", 1)[-1] for path in system.coordinates].index(coordinate)
    q[:, at] = np.linspace(low, high, 1000)
    arms = system.evaluate(q, want=f"moment_arm:{coordinate}")
    print(f"largest moment arms about {coordinate}, mm")
    for muscle, column in zip(system.muscles, arms.T):
        if np.abs(column).max() > 1e-4:
            i = int(np.abs(column).argmax())
            print(f"  {muscle:<40}{1e3 * column[i]:8.1f} at {np.degrees(q[i, at]):6.1f}°")


if __name__ == "__main__":
    main()
