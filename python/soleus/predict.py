"""Predicted movements: the minimum-effort gait at a given speed, for any model with two legs and contact.

>>> study = sl.predict.walk(model, speed=1.33)        # a study to inspect, change and solve
>>> study.goals.add(limp, weight=1e-3)
>>> study.save("walk.toml")
>>> solution = study.solve()

>>> gait = sl.predict.gait(model, speed=1.33)         # the whole search: from straight lines and by continuation; a whole cycle and a page
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._model import Model, Page
from ._results import MEMORY, Result, run_tool
from ._study import Certificate, Phase, Study
from ._table import PathLike, Table


class Gait(Result):
    """A predicted gait."""

    def __init__(self, values: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        super().__init__(values, told)
        self.study = _study(self._values)
        """The study, which can be changed and solved again."""

    @property
    def speed(self) -> float:
        """m/s."""
        return float(self._values["speed"])

    @property
    def motion(self) -> Table:
        """States over a whole cycle, rad and m."""
        if self._values.get("motion") is None:
            raise ValueError(f"no gait was found: {self.message}")
        return self._table("motion")

    @property
    def excitations(self) -> Table:
        """Excitations over a whole cycle."""
        if self._values.get("excitations") is None:
            raise ValueError(f"no gait was found: {self.message}")
        return self._table("excitations")

    @property
    def objective(self) -> float:
        """The sum of all costs."""
        return float(self._values["objective"])

    @property
    def goals(self) -> dict[str, float]:
        """Cost of each goal, including weights."""
        return self.phases[0].goals

    @property
    def certificate(self) -> Certificate:
        """Errors of the equations and of the optimality conditions."""
        return Certificate(**self._values["certificate"])

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The solution of the study: half a cycle, or a whole one."""
        return tuple(Phase(**p) for p in self._values["phases"])

    @property
    def parameters(self) -> dict[str, float]:
        """Optimised model parameters."""
        return {p["name"]: p["value"] for p in self._values["parameters_found"]}

    @property
    def objective_without_device(self) -> float | None:
        """The objective of the gait without the device, if there is a device."""
        found = self._values.get("without")
        return None if found is None else float(found["objective"])

    @property
    def ways(self) -> list[tuple[str, float | None]]:
        """The methods that were tried, and the objective of each that was solved."""
        return [(w["way"], w["objective"]) for w in self._values["ways"]]

    @property
    def model(self) -> Model:
        """The model with all additions."""
        return self.study.model

    def view(self) -> Page:
        """A page of the gait: figure, joint angles over the cycle compared with measured ones, ground forces."""
        if self._values.get("html") is None:
            raise ValueError(f"no gait was found: {self.message}")
        return Page(self._values["html"])

    def __repr__(self) -> str:
        if self._values.get("motion") is None:
            return f"Gait at {self.speed:g} m/s: not found ({self.message})"
        lines = [f"Gait at {self.speed:g} m/s: objective {self.objective:.5g}, a cycle takes {self.motion.time[-1]:.3f} s"]
        lines += [f"  {name}: {cost:.5g}" for name, cost in self.goals.items() if cost]
        lines += [f"  {name} = {value:.5g}" for name, value in self.parameters.items()]
        lines.append(f"  equations hold to {self.certificate.constraint_violation:.1e}")
        return "\n".join(lines)


def _study(values: Mapping[str, Any]) -> Study:
    """The study of a prediction, with its model."""
    data = json.loads(values["study"])
    made = Study("solve", {"study": {"path": "gait.toml", "study": data, "is_moco": False}})
    text = values.get("model_text")
    if text is not None:
        made.set_model(Model(text.encode()))
    return made


def _request(
    model: Model | PathLike,
    speed: float | None,
    *,
    run: bool,
    symmetric: bool,
    slope_deg: float,
    effort: Mapping[str, float] | Sequence[str],
    device: PathLike | None,
    free: Mapping[str, tuple[float, float]],
    add_feet: bool,
    starts: int | None,
    intervals: int | None,
) -> dict[str, Any]:
    terms = [f"{k}={float(v)!r}" for k, v in effort.items()] if isinstance(effort, Mapping) else list(effort)
    return {
        "model": model,
        "speed": speed,
        "run": run,
        "whole": not symmetric,
        "slope_deg": slope_deg,
        "effort": terms,
        "device": device,
        "free": [f"{name}={float(a)!r},{float(b)!r}" for name, (a, b) in free.items()],
        "add_feet": add_feet,
        "starts": starts,
        "intervals": intervals,
        "output": MEMORY,
    }


def walk(
    model: Model | PathLike,
    speed: float = 1.3,
    *,
    run: bool = False,
    symmetric: bool = True,
    slope_deg: float = 0.0,
    effort: Mapping[str, float] | Sequence[str] = (),
    device: PathLike | None = None,
    free: Mapping[str, tuple[float, float]] | None = None,
    add_feet: bool = False,
    starts: int | None = None,
    intervals: int | None = None,
) -> Study:
    """The study of a gait at a speed (m/s): half a symmetric cycle, or a whole one with ``symmetric=False``. Its goals can be changed and others added;
    ``solve()`` solves it, ``save()`` writes it.

    ``effort`` gives terms and their weights (``{"excitations": 20, "trunk": 0.1}``); ``free`` gives model parameters to optimise with their bounds
    (``{"/forceset/exo.stiffness": (0, 500)}``); ``device`` is a file of parts to add, as for ``soleus add``; ``add_feet`` adds contact to a model
    without contact."""
    request = _request(
        model,
        speed,
        run=run,
        symmetric=symmetric,
        slope_deg=slope_deg,
        effort=effort,
        device=device,
        free=free or {},
        add_feet=add_feet,
        starts=starts,
        intervals=intervals,
    )
    return _study(run_tool(Result, "predict", {**request, "study_only": True})._values)


def gait(
    model: Model | PathLike,
    speed: float = 1.3,
    *,
    run: bool = False,
    symmetric: bool = True,
    slope_deg: float = 0.0,
    effort: Mapping[str, float] | Sequence[str] = (),
    device: PathLike | None = None,
    free: Mapping[str, tuple[float, float]] | None = None,
    add_feet: bool = False,
    starts: int | None = None,
    intervals: int | None = None,
    threads: int | None = None,
) -> Gait:
    """Finds the minimum-effort gait at a speed (m/s), as ``soleus predict`` does: from straight lines and, if that fails or at speeds other
    than 1.3 m/s, by continuation from 1.3 m/s. Keywords as for :func:`walk`."""
    request = _request(
        model,
        speed,
        run=run,
        symmetric=symmetric,
        slope_deg=slope_deg,
        effort=effort,
        device=device,
        free=free or {},
        add_feet=add_feet,
        starts=starts,
        intervals=intervals,
    )
    return run_tool(Gait, "predict", request, threads=threads)


__all__ = ["Gait", "gait", "walk"]
