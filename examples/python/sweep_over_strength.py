"""Where does a leg come to rest as its extensors get weaker? One function over many subjects; failures are rows too."""

from __future__ import annotations

import numpy as np

import soleus as sl

KNEE = "/jointset/knee/knee_angle/value"


def rest(strength: float) -> float:
    """The knee angle at rest, degrees, with extensors of this strength."""
    model = sl.example("leg_swing")
    for name in ("vasti", "rectus_femoris"):
        model.muscles[name].max_isometric_force *= strength
    return float(np.degrees(model.equilibrium(excitation=0.1).state[KNEE][0]))


def main() -> None:
    found = sl.map(rest, [0.6, 0.8, 1.0, 1.2, -1.0])
    for row, value in zip(found.rows(), found):
        print(row["item"], f"{value:.2f}°" if row["ok"] else row["message"].splitlines()[0])


if __name__ == "__main__":
    main()
