"""Joint moments that track a simulated swing of the leg: optimal control in memory, with a certificate."""

from __future__ import annotations

import soleus as sl


def main() -> None:
    model = sl.example("leg_swing")
    swing = model.simulate(0.15, excitation=0.05, interval=0.005)
    angles = swing.states.select([label for label in swing.states.labels if label.endswith("/value")])
    solution = model.track(angles, remove_muscles=True, reserves=200.0, mesh_interval=0.01).solve()
    print(solution)
    knee = "/jointset/knee/knee_angle/value"
    met = solution.table.resample(times=angles.time.copy())
    print(f"largest knee error: {abs(met[knee] - angles[knee]).max():.4f} rad")


if __name__ == "__main__":
    main()
