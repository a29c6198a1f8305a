"""Optimal control: studies, what they find, and how they go on."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _soleus
from ._results import MEMORY, Result, Written, floats, run_tool
from ._table import PathLike, Table

if TYPE_CHECKING:
    from ._model import Model, Page
    from .formula import Force, Goal


@dataclass(frozen=True)
class Certificate:
    """How well the equations and the conditions of an optimum hold."""

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
    """What each goal costs, weights included."""
    parameters: dict[str, float]
    """Values that were found for parameters."""


class Solution(Result):
    """Where a solve ended. A motion is there in any case; :attr:`solved` and :attr:`certificate` say how good it is."""

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
        """What each goal costs, weights included."""
        return self.phases[0].goals

    @property
    def parameters(self) -> dict[str, float]:
        """Values that were found for parameters."""
        return self.phases[0].parameters

    @property
    def seconds(self) -> float:
        """Time it took, s."""
        return float(self._values["seconds"])

    def __getitem__(self, label: str) -> Any:
        return self.table[label]

    def resume(self, **options: Any) -> Study:
        """The study again, from here: a solve that was stopped goes on with its multipliers; one that ended is the guess of another, with
        ``intervals=100`` or other options in place of its own."""
        if self._study is None:
            raise TypeError("this solution does not know its study")
        if self._iterate is not None and not options:
            return self._study.with_options(resume=True, _iterate=self._iterate)
        return self._study.with_options(guess=self.table, **options)

    def save(self, path: PathLike) -> None:
        """Writes the motion in the layout of a MocoTrajectory (.sto)."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.phases[0].text)

    def view(self) -> Page:
        """Costs, quality, plots and an animated figure of what was solved with ``page=True``; else the motion as a figure, where the study's model
        is known."""
        from ._model import Page

        if self.phases[0].page is not None:
            return Page(self.phases[0].page)
        if self._study is None:
            raise TypeError("solve with page=True to have a page")
        return self._study.model.view(self.table)

    def __repr__(self) -> str:
        c = self.certificate
        lines = [f"Solution: {c.status}, objective {self.objective:.6g}, {c.iterations} iterations, {self.seconds:.2f} s"]
        lines.append(f"  equations hold to {c.constraint_violation:.1e}, optimality to {c.dual_infeasibility:.1e}")
        lines += [f"  {name}: {cost:.6g}" for name, cost in self.goals.items() if cost]
        lines += [f"  {name} = {value:.6g}" for name, value in self.parameters.items()]
        return "\n".join(lines)


class Named(Mapping[str, "Entry"]):
    """Entries of a study by name: goals, states, controls, parameters."""

    def __init__(self, entries: list[dict[str, Any]], what: str) -> None:
        self._entries = entries
        self._what = what

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
        """Takes an entry out."""
        self._entries.remove(self[name]._data)

    def add(self, entry: Goal | None = None, **fields: Any) -> None:
        """Adds an entry: its fields, as others have them; or a goal that was traced, and its ``weight``."""
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


class Study:
    """A problem of optimal control, ready to be solved. What a study file says can be looked at and changed: ``study.goals["effort"].weight = 10``,
    ``study.data`` is all of it."""

    def __init__(self, tool: str, request: Mapping[str, Any]) -> None:
        self._tool = tool
        self._request = dict(request)
        # The model that somebody looked at, and its bytes then.
        self._model: tuple[Model, bytes] | None = None

    def __getstate__(self) -> dict[str, Any]:
        self._sync()
        return {"_tool": self._tool, "_request": self._request, "_model": None}

    def _sync(self) -> None:
        """Takes over what was changed in the model."""
        if self._model is not None:
            model, before = self._model
            if model.to_bytes() != before:
                self.set_model(model)

    def with_options(self, **options: Any) -> Study:
        """The same study with other options: ``intervals``, ``coarse``, ``tolerance``, ``max_iterations``, ``guess``, ``scheme``, …"""
        self._sync()
        return Study(self._tool, {**copy.deepcopy(self._plain()), **self._held(), **options})

    def _plain(self) -> dict[str, Any]:
        return {k: v for k, v in self._request.items() if isinstance(v, dict)}

    def _held(self) -> dict[str, Any]:
        return {k: v for k, v in self._request.items() if not isinstance(v, dict)}

    @property
    def data(self) -> dict[str, Any]:
        """Everything that the study says, as plain data; changes count."""
        source = self._request.get("study")
        if source is None:
            raise TypeError("this problem is made of keywords and has no study file")
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
        """The model that the study is about, as its file says, without the changes that the study makes to it. What is changed in it counts:
        ``study.model.add(spring)``, ``study.model["soleus_r"].max_isometric_force *= 0.5``."""
        if self._model is None and not hasattr(self._request.get("model"), "muscles"):
            model = self._read_model()
            self._model = model, model.to_bytes()
        return self._request["model"] if self._model is None else self._model[0]

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
        """Goals by name; those that were added, for problems that are made of keywords."""
        if "study" not in self._request:
            entries: list[dict[str, Any]] = self._request.setdefault("goals", [])
            return Named(entries, "goal")
        return Named(self.data["setup"]["goals"], "goal")

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
        """Numbers of the model that are found too."""
        return Named(self.data["setup"]["parameters"], "parameter")

    def to_toml(self) -> str:
        """The study as the text of a file. A model that is in memory alone is not in it: :meth:`save` writes it, too."""
        self._sync()
        return _soleus.write_study(json.dumps(self.data))

    def save(self, path: PathLike) -> None:
        """Writes the study (.toml), which ``soleus solve`` and :func:`study` read; and beside it the model, if that is in memory alone."""
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
        """Adds a force that was traced; its parameters become parameters of the study."""
        if force.path is not None:
            raise TypeError("a force along a path is a part of the model: study.set_model(model) after model.add(force)")
        setup = self.data["setup"]
        if "forces" not in setup:
            raise TypeError("this version of Soleus has no forces by formulas")
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
        for name, bounds in force.parameters.items():
            path = f"/forceset/{force.name}"
            entry = {"name": name, "bounds": list(bounds), "component_paths": [path], "property_name": name}
            setup["parameters"].append(entry)

    def set_model(self, model: Model) -> None:
        """Takes a model in place of the one that the study names; operators of the study change it as they would have changed the other."""
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
        """Solves it. ``output`` is a file for the solution; nothing is written without one. With ``page`` the solution has a page to
        :meth:`~Solution.view`. Ctrl-C stops it; :class:`Interrupted` then has
        the motion reached, whose ``resume().solve()`` goes on."""
        self._sync()
        request = {**self._request, **options}
        iterate = request.pop("_iterate", None)
        file = f"{MEMORY}/solution.iterate"
        memory = [(file, iterate)] if iterate is not None else []
        request |= {"save_iterates": True, "iterate": file, "solution": output}
        if page:
            request["report"] = f"{MEMORY}/solution.html"

        def made(values: Mapping[str, Any], told: Mapping[str, Any]) -> Solution:
            solution = Solution(values, told)
            solution._study = Study(self._tool, {k: v for k, v in self._request.items() if k not in ("resume", "_iterate")})
            return solution

        return run_tool(made, self._tool, request, threads=threads, write=output is not None, memory=memory)

    def __repr__(self) -> str:
        words = ", ".join(f"{k}={str(v).splitlines()[0][:40]}" for k, v in self._request.items() if v is not None)
        return f"Study ({self._tool}): {words}"


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
    """A problem of optimal control from a study file (.toml) or a MocoStudy (.omoco, .xml)."""
    return Study("solve", {"study": source, **options})


def study_text(text: str, *, folder: PathLike = ".", **options: Any) -> Study:
    """A problem of optimal control from the text of a study file; names in it are taken from ``folder``."""
    path = os.path.join(os.fspath(folder), "study.toml")
    return Study("solve", {"study": {"path": path, "text": text}, **options})


def run(
    setup: PathLike,
    *,
    model: PathLike | None = None,
    opensim_faults: bool = False,
    threads: int | None = None,
) -> Written:
    """Runs a setup file of one of OpenSim's tools as it is: writes what it asks for, and returns that as tables and models."""
    request = {"file": setup, "model": model, "opensim_faults": opensim_faults}
    return run_tool(Written, "setup_file", request, threads=threads, write=True)


def predict_walk(speed: float = 1.3, *, threads: int | None = None) -> Result:
    """The walk of least effort that the built-in planar walker finds at a speed, m/s."""
    page = f"{MEMORY}/walk.html"
    return run_tool(Result, "predict_walk", {"speed": speed, "page": page}, threads=threads)


__all__: Sequence[str] = ("Certificate", "Phase", "Solution", "Study", "predict_walk", "run", "study", "study_text")
