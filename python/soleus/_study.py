"""Optimal control: studies and their solutions."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _soleus
from ._quality import Measure
from ._results import MEMORY, Result, Written, floats, preformatted, run_tool
from ._table import PathLike, Table

if TYPE_CHECKING:
    from ._callback import CallbackGoal
    from ._model import Model, Page
    from .formula import Force, Goal


@dataclass(frozen=True)
class Certificate:
    """Errors of the equations and of the optimality conditions."""

    converged: bool
    status: str
    constraint_violation: float
    bound_violation: float
    dual_infeasibility: float
    complementarity: float
    scaled_error: float
    iterations: int


@dataclass(frozen=True)
class Phase:
    """The motion of one phase of a study."""

    name: str
    table: Table
    """States and controls over time, rad and m."""
    text: str
    """The same in the layout of a MocoTrajectory."""
    page: str | None
    goals: dict[str, float]
    """Cost of each goal, including weights."""
    parameters: dict[str, float]
    """Optimised values of the parameters."""


class Solution(Result):
    """The result of a solve. It always contains a motion; :attr:`solved` and :attr:`certificate` tell how good it is."""

    def __init__(self, values: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        super().__init__(values, told)
        self.phases = tuple(Phase(**p) for p in self._values["phases"])
        self.certificate = Certificate(**self._values["certificate"])
        kept = [data for name, data in told.get("memory", ()) if name.endswith(".iterate")]
        self._iterate: bytes | None = kept[0] if kept else None
        self._page: str | None = None
        self._study: Study | None = None

    @property
    def objective(self) -> float:
        """The sum of all costs."""
        return float(self._values["objective"])

    @property
    def table(self) -> Table:
        """States and controls over time; those of the first phase."""
        return self.phases[0].table

    motion = table

    @property
    def goals(self) -> dict[str, float]:
        """Cost of each goal, including weights."""
        return self.phases[0].goals

    @property
    def parameters(self) -> dict[str, float]:
        """Optimised values of the parameters."""
        return self.phases[0].parameters

    @property
    def seconds(self) -> float:
        """Solution time, s."""
        return float(self._values["seconds"])

    def __getitem__(self, label: str) -> Any:
        return self.table[label]

    def _measures(self) -> list[Measure]:
        c = self.certificate
        return [
            Measure("equations, largest error", c.constraint_violation, ""),
            Measure("bounds, largest violation", c.bound_violation, ""),
            Measure("optimality, largest error", c.dual_infeasibility, ""),
        ]

    def resume(self, **options: Any) -> Study:
        """The study, to be continued from this solution: a stopped solve continues with its multipliers; a finished one becomes the initial guess, with
        ``mesh=100`` (the number of mesh intervals) or other options."""
        if self._study is None:
            raise TypeError("this solution has no study to resume")
        if self._iterate is not None and not options:
            return self._study.with_options(resume=True, _iterate=self._iterate)
        return self._study.with_options(guess=self.table, **options)

    def save(self, path: PathLike) -> None:
        """Writes the motion in the layout of a MocoTrajectory (.sto)."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.phases[0].text)

    def view(self) -> Page:
        """A page with costs, quality, plots and an animated figure if solved with ``page=True``; otherwise the motion as a figure, if the study's model
        is known."""
        from ._model import Page

        if self.phases[0].page is not None:
            return Page(self.phases[0].page)
        if self._study is None:
            raise TypeError("solve with page=True to get a page")
        return self._study.model.view(self.table)

    def _figure(self) -> str | None:
        return None if self._study is None else self._study.model.picture(self.table)

    def __repr__(self) -> str:
        c = self.certificate
        lines = [f"Solution: {c.status}, objective {self.objective:.6g}, {c.iterations} iterations, {self.seconds:.2f} s"]
        lines.append(f"  equations hold to {c.constraint_violation:.1e}, optimality to {c.dual_infeasibility:.1e}")
        lines += [f"  {name}: {cost:.6g}" for name, cost in self.goals.items() if cost]
        lines += [f"  {name} = {value:.6g}" for name, value in self.parameters.items()]
        return "\n".join(lines)


class Named(Mapping[str, "Entry"]):
    """Entries of a study by name: goals, states, controls, parameters."""

    def __init__(self, entries: list[dict[str, Any]], what: str, callbacks: list[tuple[CallbackGoal, float]] | None = None) -> None:
        self._entries = entries
        self._what = what
        self._callbacks = callbacks

    def __getitem__(self, name: str) -> Entry:
        for entry in self._entries:
            if entry["name"] == name:
                return Entry(entry)
        raise KeyError(f"the study has no {self._what} `{name}`; it has: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (entry["name"] for entry in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def remove(self, name: str) -> None:
        """Removes an entry."""
        self._entries.remove(self[name]._data)

    def add(self, entry: Goal | CallbackGoal | None = None, **fields: Any) -> None:
        """Adds an entry: its fields, or a traced goal (or one that is a plain function) with its ``weight``."""
        from ._callback import CallbackGoal

        if isinstance(entry, CallbackGoal):
            if self._callbacks is None:
                raise TypeError(f"{entry!r} can only be added to the goals of a study")
            self._callbacks.append((entry, float(fields.get("weight", 1.0))))
            return
        if entry is not None:
            kind = {"formula": {"formula": entry.formula, "when": entry.when}}
            fields = {"name": entry.name, "kind": kind, **fields}
        self._entries.append(fields)

    def __repr__(self) -> str:
        return "\n".join(repr(self[name]) for name in self)


class Entry:
    """An entry of a study; its fields are attributes, and assigning to one changes the study."""

    __slots__ = ("_data",)
    _data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name: str) -> Any:
        if name not in self._data:
            raise AttributeError(f"`{self._data.get('name')}` has no field `{name}`; it has: {', '.join(self._data)}")
        return self._data[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.__getattr__(name)
        self._data[name] = value

    def __repr__(self) -> str:
        return ", ".join(f"{k}={v!r}" for k, v in self._data.items() if k != "line" and v not in (None, [], False))


def _named(options: dict[str, Any]) -> dict[str, Any]:
    """Options by the names used in requests."""
    return {("intervals" if k == "mesh" else k): v for k, v in options.items()}


@functools.cache
def _study_model() -> Any:
    """The model of a study. Parameters to optimise belong to the study, not to the model."""
    from ._model import Component, Model
    from .formula import Controller, Force

    class StudyModel(Model):
        __slots__ = ("_study",)
        _study: Study

        @classmethod
        def _held_by(cls, study: Study, model: Model) -> StudyModel:
            made = cls._of(model._core)
            assert isinstance(made, StudyModel)
            made._study = study
            return made

        def add(self, part: Force | Controller | str) -> Component:
            if not (isinstance(part, Force) and part.parameters):
                return super().add(part)
            if "study" not in self._study._request:
                names = ", ".join(part.parameters)
                raise TypeError(f"`{names}` of force `{part.name}` cannot be optimised in a tracking or inverse problem, which is defined by keywords; write the problem as a study (soleus.study), or give it a value in `constants`")
            plain = copy.copy(part)
            plain.parameters = {}
            added = super().add(plain)
            self._study._add_parameters(part)
            return added

    return StudyModel


class Study:
    """An optimal control problem, ready to be solved. The content of a study file can be inspected and changed: ``study.goals["effort"].weight = 10``;
    ``study.data`` is all of it."""

    def __init__(self, tool: str, request: Mapping[str, Any]) -> None:
        self._tool = tool
        self._request = dict(request)
        # The model that somebody looked at, and its bytes then.
        self._model: tuple[Model, bytes] | None = None
        # Goals that are plain functions, with their weights: no file can hold them.
        self._callbacks: list[tuple[CallbackGoal, float]] = []

    def __getstate__(self) -> dict[str, Any]:
        self._sync()
        return {"_tool": self._tool, "_request": self._request, "_model": None, "_callbacks": self._callbacks}

    def _sync(self) -> None:
        """Applies changes made to the model."""
        if self._model is not None:
            model, before = self._model
            if model.to_bytes() != before:
                self.set_model(model)

    def with_options(self, **options: Any) -> Study:
        """The same study with other options: ``intervals`` (or ``mesh``), ``coarse``, ``tolerance``, ``max_iterations``, ``guess``, ``scheme``, …"""
        self._sync()
        made = Study(self._tool, {**copy.deepcopy(self._plain()), **self._held(), **_named(options)})
        made._callbacks = list(self._callbacks)
        return made

    def _plain(self) -> dict[str, Any]:
        """The parts that belong to this study alone."""
        return {k: v for k, v in self._request.items() if isinstance(v, (dict, list))}

    def _held(self) -> dict[str, Any]:
        return {k: v for k, v in self._request.items() if not isinstance(v, (dict, list))}

    @property
    def data(self) -> dict[str, Any]:
        """The whole study as plain data; changes take effect."""
        source = self._request.get("study")
        if source is None:
            raise TypeError(
                "this problem is defined by keywords (track, inverse) and has no study file; bounds, parameters and files belong to problems "
                "of soleus.study and soleus.predict"
            )
        if not (isinstance(source, dict) and "study" in source):
            text = source["text"] if isinstance(source, dict) else None
            path = source["path"] if isinstance(source, dict) else source
            found, is_moco = _soleus.read_study(path, text)
            source = {"path": os.fspath(path), "study": json.loads(found), "is_moco": is_moco}
            self._request["study"] = source
        data: dict[str, Any] = source["study"]
        return data

    @property
    def model(self) -> Model:
        """The model of the study, as in its file, before the operators of the study are applied. Changes to it take effect: ``study.model.add(spring)``,
        ``study.model["soleus_r"].max_isometric_force *= 0.5``."""
        if self._model is None and not hasattr(self._request.get("model"), "muscles"):
            model = self._read_model()
            self._model = model, model.to_bytes()
        held = self._request["model"] if self._model is None else self._model[0]
        seen: Model = _study_model()._held_by(self, held)
        return seen

    def _read_model(self) -> Model:
        from ._model import Model, example

        given = self._request.get("model")
        if given is not None:
            return Model(given)
        setup = self.data["setup"]
        if setup.get("model"):
            return Model(f'<OpenSimDocument Version="40600">{setup["model"]}</OpenSimDocument>'.encode())
        file = str(setup["model_file"])
        if file.startswith("builtin:"):
            return example(file.removeprefix("builtin:"))
        return Model(os.path.join(os.path.dirname(self._request["study"]["path"]), file))

    @property
    def goals(self) -> Named:
        """Goals by name; for problems defined by keywords, only added goals."""
        if "study" not in self._request:
            entries: list[dict[str, Any]] = self._request.setdefault("goals", [])
            return Named(entries, "goal", self._callbacks)
        return Named(self.data["setup"]["goals"], "goal", self._callbacks)

    @property
    def states(self) -> Named:
        """Bounds of states, by name or pattern."""
        return Named(self.data["setup"]["states"], "state")

    @property
    def controls(self) -> Named:
        """Bounds of controls, by name or pattern."""
        return Named(self.data["setup"]["controls"], "control")

    @property
    def parameters(self) -> Named:
        """Model properties to optimise."""
        return Named(self.data["setup"]["parameters"], "parameter")

    def to_toml(self) -> str:
        """The text of the study file. It does not include a model that is only in memory; :meth:`save` writes that too."""
        self._sync()
        return _soleus.write_study(json.dumps(self.data))

    def save(self, path: PathLike) -> None:
        """Writes the study (.toml) for ``soleus solve`` and :func:`study`, and next to it the model, if that is only in memory."""
        self._sync()
        setup = self.data["setup"]
        if setup.get("model"):
            file = os.path.splitext(os.fspath(path))[0] + ".osim"
            self.model.save(file)
            text = _soleus.write_study(
                json.dumps({**self.data, "setup": {**setup, "model": None, "model_file": os.path.basename(file)}})
            )
        else:
            text = self.to_toml()
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def add_force(self, force: Force) -> None:
        """Adds a traced force; its parameters become parameters of the study."""
        if force.path is not None:
            raise TypeError("a force along a path belongs to the model: call model.add(force), then study.set_model(model)")
        setup = self.data["setup"]
        if "forces" not in setup:
            raise TypeError("this version of Soleus does not support forces given by formulas")
        setup["forces"].append(
            {
                "name": force.name,
                "coordinate": force.coordinate,
                "frame": force.frame,
                "point": list(force.point),
                "formula": force.formula,
                "constants": [{"name": k, "weight": v} for k, v in force.constants.items()],
                "control": None if force.control is None else list(force.control),
                "states": [{"name": k, "formula": rate} for k, (rate, _) in force.states.items()],
                "start": [{"name": k, "weight": start} for k, (_, start) in force.states.items()],
            }
        )
        self._add_parameters(force)

    def _add_parameters(self, force: Force) -> None:
        """Optimises the parameters of a force of the model."""
        for name, bounds in force.parameters.items():
            path = f"/forceset/{force.name}"
            entry = {"name": name, "bounds": list(bounds), "component_paths": [path], "property_name": name}
            self.data["setup"]["parameters"].append(entry)

    def set_model(self, model: Model) -> None:
        """Uses this model instead of the one in the study; the operators of the study are applied to it."""
        if "study" not in self._request:
            self._request["model"], self._model = model, None
            return
        self._model = model, model.to_bytes()
        text = self._model[1].decode()
        setup = self.data["setup"]
        setup["model"] = text[text.index("<Model") : text.rindex("</Model>") + len("</Model>")]
        setup["model_file"] = None

    def solve(
        self, *, threads: int | None = None, output: PathLike | None = None, page: bool = False, **options: Any
    ) -> Solution:
        """Solves the problem. ``output`` is a file for the solution; without it nothing is written. With ``page`` the solution has a page to
        :meth:`~Solution.view`. Ctrl-C stops the solve; :class:`Interrupted` then contains the motion so far, and ``resume().solve()`` continues from
        it."""
        self._sync()
        if self._callbacks:
            from . import _callback

            plain = self.with_options()
            plain._callbacks = []
            found = _callback.solve(plain, self._callbacks, {"threads": threads, "output": output, "page": page, **_named(options)})
            found._study = self.with_options()
            return found
        request = {**self._request, **_named(options)}
        iterate = request.pop("_iterate", None)
        file = f"{MEMORY}/solution.iterate"
        memory = [(file, iterate)] if iterate is not None else []
        request |= {"save_iterates": True, "iterate": file, "solution": output}
        if page:
            request["report"] = f"{MEMORY}/solution.html"

        def made(values: Mapping[str, Any], told: Mapping[str, Any]) -> Solution:
            verdict = told.get("verdict")
            if verdict is not None:
                told = {**told, "verdict": _without_files(verdict, output)}
            solution = Solution(values, told)
            # What is changed in the study after this does not change what was solved.
            solution._study = self.with_options()
            for key in ("resume", "_iterate"):
                solution._study._request.pop(key, None)
            return solution

        return run_tool(made, self._tool, request, threads=threads, write=output is not None, memory=memory)

    def __repr__(self) -> str:
        source = self._request.get("study")
        head = f"Study ({self._tool})"
        lines = []
        if isinstance(source, dict):
            head += f" {os.path.basename(source['path'])}"
            setup = source.get("study", {}).get("setup", {})
            for what in ("goals", "parameters"):
                if setup.get(what):
                    lines.append(f"  {what}: " + ", ".join(entry["name"] for entry in setup[what]))
        elif source is not None:
            head += f" {os.fspath(source)}"
        elif self._request.get("goals"):
            lines.append("  goals added: " + ", ".join(self.goals))
        lines += [f"  {goal!r}" for goal, _ in self._callbacks]
        lines += [f"  {k}={_short(v)}" for k, v in self._request.items() if k not in ("study", "goals", "_iterate") and v not in (None, {}, [])]
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        return preformatted(self)


def _short(value: Any) -> str:
    """The first words of a value."""
    line = (str(value) if isinstance(value, os.PathLike) else repr(value)).splitlines()[0]
    return line if len(line) <= 60 else line[:59] + "…"


def _without_files(message: str, output: PathLike | None) -> str:
    """A message about an incomplete solve, with the way to continue from Python."""
    place = "the solution has the best iterate" if output is None else f"the best iterate is in {os.fspath(output)}"
    message = re.sub(r"the best iterate is in [^\n]*?; continue from [^\n]* with --resume", f"{place}; continue with solution.resume().solve()", message)
    if output is None:
        message = re.sub(r"the best iterate is in [^\n]*", place, message)
    return message


_CHANGES = (
    "weld",
    "remove_muscles",
    "rigid_tendons",
    "no_activation_dynamics",
    "degroote_fregly",
    "implicit_tendons",
    "explicit_tendons",
    "no_passive_force",
    "curve_width",
    "strength",
    "function_paths",
)


def split_changes(request: dict[str, Any], loads: Any) -> dict[str, Any]:
    """Keywords that change the model, where the request has them."""
    changes: dict[str, Any] = dict(request.pop("changes", {}))
    changes.update({key: request.pop(key) for key in _CHANGES if key in request})
    for key in ("reserves", "residuals"):
        if key in request:
            changes[key] = floats(request.pop(key))
    if loads is not None:
        changes["loads"] = loads
    if "time" in request:
        request["from"], request["to"] = request.pop("time")
    return {**request, "changes": changes}


def study(source: PathLike, **options: Any) -> Study:
    """An optimal control problem from a study file (.toml) or a MocoStudy (.omoco, .xml)."""
    return Study("solve", {"study": source, **options})


def study_text(text: str, *, folder: PathLike = ".", **options: Any) -> Study:
    """An optimal control problem from the text of a study file; file names are relative to ``folder``."""
    path = os.path.join(os.fspath(folder), "study.toml")
    return Study("solve", {"study": {"path": path, "text": text}, **options})


def run(
    setup: PathLike,
    *,
    model: PathLike | None = None,
    opensim_faults: bool = False,
    threads: int | None = None,
) -> Written:
    """Runs an OpenSim setup file unchanged: writes its output files, and returns them as tables and models."""
    request = {"file": setup, "model": model, "opensim_faults": opensim_faults}
    return run_tool(Written, "setup_file", request, threads=threads, write=True)


class Walk(Result):
    """The walk that :func:`predict_walk` found."""

    @property
    def speed(self) -> float:
        """m/s."""
        return float(self._values["speed"])

    @property
    def duration(self) -> float:
        """Duration of a cycle, s."""
        return float(self._values["duration"])

    @property
    def objective(self) -> float:
        """The minimised cost."""
        return float(self._values["objective"])

    @property
    def seconds(self) -> float:
        """Solution time, s."""
        return float(self._values["seconds"])

    @property
    def page(self) -> Page:
        """A page of the walk: animated figure, joint angles, ground forces."""
        from ._model import Page

        html = self._values.get("page")
        if html is None:
            raise ValueError(f"no walk was found: {self.message}")
        return Page(html)

    def view(self) -> Page:
        """The page, as for other results."""
        return self.page

    def _figure(self) -> str | None:
        picture: str | None = self._values.get("picture")
        return picture

    def __repr__(self) -> str:
        head = "Walk" + ("" if self.solved else f" (not solved: {self.message})")
        return f"{head} at {self.speed:g} m/s: objective {self.objective:.5g}, a cycle takes {self.duration:.3f} s"


def predict_walk(
    speed: float = 1.3, *, slope_deg: float = 0.0, ankle_spring: float = 0.0, threads: int | None = None
) -> Walk:
    """The minimum-effort walk of the built-in planar walker at a speed, m/s, on a slope (positive uphill), with springs at the ankles, N·m/rad."""
    request = {"speed": speed, "slope_deg": slope_deg, "ankle_spring": ankle_spring, "page": f"{MEMORY}/walk.html", "picture": f"{MEMORY}/walk.svg"}
    return run_tool(Walk, "predict_walk", request, threads=threads)


__all__: Sequence[str] = ("Certificate", "Phase", "Solution", "Study", "Walk", "predict_walk", "run", "study", "study_text")
