"""Models: reading, inspecting, changing and compiling them, and running tools."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _soleus
from ._loads import ExternalLoads
from ._results import (
    Analyses,
    Consistent,
    Kinematics,
    Moments,
    Motion,
    Rest,
    Scaled,
    SensorKinematics,
    StaticOptimizationResult,
    Tracked,
    floats,
    paths,
    run_tool,
)
from ._system import System
from ._table import PathLike, Table
from .errors import Diagnostic, InputError, _diagnostics

if TYPE_CHECKING:
    import pandas
    import polars

    from ._study import Study
    from .formula import Controller, Force

Source = Union[PathLike, Table]
Loads = Union[PathLike, ExternalLoads, None]


class Component:
    """A component of a model, or an object inside one. Its properties are attributes with OpenSim's names; assigning to one changes the model. ``dir()``
    lists them."""

    __slots__ = ("_model", "path")
    _model: Model
    path: str

    def __init__(self, model: Model, path: str) -> None:
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "path", path)

    @property
    def name(self) -> str:
        """Its name."""
        return self._model._core.class_at(self.path)[1]

    @property
    def class_name(self) -> str:
        """Its OpenSim class: ``Millard2012EquilibriumMuscle``."""
        return self._model._core.class_at(self.path)[0]

    @property
    def line(self) -> int:
        """Its line in the file."""
        return self._model._core.line_at(self.path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        is_part, value = self._model._core.get(self.path, name)
        return Component(self._model, f"{self.path}/{name}") if is_part else value

    def __setattr__(self, name: str, value: Any) -> None:
        self._model._core.set(self.path, name, value)

    def __getitem__(self, name: str) -> Any:
        """A part or a property by name, including names that are reserved in Python."""
        return self.__getattr__(name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._model._core.properties(self.path)]

    def properties(self) -> dict[str, Any]:
        """Names and values of its properties; parts are components."""
        return {name: self.__getattr__(name) for name in self._model._core.properties(self.path)}

    def parts(self) -> list[str]:
        """Names of the objects inside it."""
        return self._model._core.parts(self.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Component) and self._model is other._model and self.path == other.path

    def __reduce__(self) -> tuple[Any, ...]:
        return Component, (self._model, self.path)

    def __hash__(self) -> int:
        return hash(self.path)

    def _repr_html_(self) -> str:
        import html

        class_name, _ = self._model._core.class_at(self.path)
        rows = ""
        for name, value in self.properties().items():
            shown = "…" if isinstance(value, Component) else "" if value is None else html.escape(str(value))
            rows += f"<tr><td>{html.escape(name)}</td><td>{shown}</td></tr>"
        return f"<div><p>{html.escape(class_name)} <code>{html.escape(self.path)}</code></p><table><tbody>{rows}</tbody></table></div>"

    def __repr__(self) -> str:
        class_name, _ = self._model._core.class_at(self.path)
        lines = [f"{class_name} {self.path}"]
        for name, value in self.properties().items():
            if isinstance(value, Component):
                lines.append(f"  {name}: …")
            elif value is not None and value != "" and value != ():
                lines.append(f"  {name}: {value!r}")
        return "\n".join(lines)


class Components(Sequence[Component]):
    """All components of one kind: a list, a dictionary by name, and a table of their properties. ``model.muscles.max_isometric_force`` is an array with
    one entry per muscle; assigning to it changes all of them."""

    __slots__ = ("_model", "_kind")
    _model: Model
    _kind: str

    def __init__(self, model: Model, kind: str) -> None:
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_kind", kind)

    def __reduce__(self) -> tuple[Any, ...]:
        return Components, (self._model, self._kind)

    @property
    def paths(self) -> list[str]:
        """Paths of all components."""
        return self._model._core.paths(self._kind)

    @property
    def names(self) -> list[str]:
        """Names of all components."""
        return [path.rsplit("/", 1)[-1] for path in self.paths]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, which: Any) -> Any:
        paths = self.paths
        if isinstance(which, slice):
            return [Component(self._model, p) for p in paths[which]]
        if isinstance(which, str):
            for path in paths:
                if path == which or path.rsplit("/", 1)[-1] == which:
                    return Component(self._model, path)
            import difflib

            near = difflib.get_close_matches(which, self.names, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise KeyError(f"model.{self._kind} has no `{which}`{hint}")
        return Component(self._model, paths[which])

    def __iter__(self) -> Iterator[Component]:
        return (Component(self._model, path) for path in self.paths)

    def __contains__(self, which: object) -> bool:
        return which in self.names or which in self.paths

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return np.array([c.__getattr__(name) for c in self])

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        values = np.asarray(value)
        if values.ndim == 0:
            values = np.broadcast_to(values, (len(self),))
        if len(values) != len(self):
            raise ValueError(f"{len(values)} values were given for {len(self)} {self._kind}")
        for component, one in zip(self, values):
            component.__setattr__(name, one.item() if one.ndim == 0 else one)

    def columns(self) -> dict[str, list[Any]]:
        """Properties that are numbers, text or booleans, by name; with the class and the path of each component."""
        rows = [(c, c.properties()) for c in self]
        names = list(dict.fromkeys(n for _, p in rows for n, v in p.items() if isinstance(v, (bool, float, int, str))))
        table: dict[str, list[Any]] = {
            "name": [c.name for c, _ in rows],
            "class": [c.class_name for c, _ in rows],
            "path": [c.path for c, _ in rows],
        }
        for n in names:
            column = [p.get(n) for _, p in rows]
            if all(v is None or isinstance(v, (bool, float, int, str)) for v in column):
                table[n] = column
        return table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = []
        for name, values in self.columns().items():
            has_text = any(isinstance(v, str) for v in values)
            columns.append((name, ["" if v is None else str(v) for v in values] if has_text else values))
        return _soleus.stream_of_columns(columns)

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame."""
        import polars

        return polars.DataFrame(self.columns(), strict=False)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def _repr_html_(self) -> str:
        import html

        columns = {name: column for name, column in self.columns().items() if name != "path"}
        shown = list(columns)[:10]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        body = ""
        for row in list(zip(*(columns[name] for name in shown)))[:20]:
            cells = ("" if v is None else f"{v:.6g}" if isinstance(v, float) else html.escape(str(v)) for v in row)
            body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        if len(self) > 20:
            body += f"<tr><td colspan={len(shown)}>… ({len(self) - 20} more)</td></tr>"
        title = f"{len(self)} {self._kind}"
        return f"<div><p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"

    def __repr__(self) -> str:
        names = self.names
        return f"{len(names)} {self._kind}: " + ", ".join(names[:20]) + (" …" if len(names) > 20 else "")


class Model:
    """A musculoskeletal model.

    ``model["/forceset/soleus_r"]`` is a component by its OpenSim path, or by its name if that is unique; ``model.muscles``, ``model.coordinates`` and
    so on are all components of one kind. ``repr`` is the output of ``soleus info``."""

    __slots__ = ("_core",)
    _core: _soleus.Model

    def __init__(self, source: PathLike | bytes) -> None:
        if isinstance(source, bytes):
            self._core = _soleus.Model.read_bytes(source, "(bytes)")
        else:
            self._core = _soleus.Model.read_file(source)

    @classmethod
    def _of(cls, core: _soleus.Model) -> Model:
        model = object.__new__(cls)
        model._core = core
        return model

    # Looking and changing.

    def __getitem__(self, path: str) -> Component:
        return Component(self, self._core.find(path))

    def __contains__(self, path: str) -> bool:
        try:
            self._core.find(path)
        except KeyError:
            return False
        return True

    @property
    def bodies(self) -> Components:
        """Bodies, except ground."""
        return Components(self, "bodies")

    @property
    def joints(self) -> Components:
        """Joints."""
        return Components(self, "joints")

    @property
    def coordinates(self) -> Components:
        """Coordinates."""
        return Components(self, "coordinates")

    @property
    def muscles(self) -> Components:
        """Muscles."""
        return Components(self, "muscles")

    @property
    def forces(self) -> Components:
        """Forces, including muscles."""
        return Components(self, "forces")

    @property
    def markers(self) -> Components:
        """Markers."""
        return Components(self, "markers")

    @property
    def constraints(self) -> Components:
        """Constraints."""
        return Components(self, "constraints")

    @property
    def controllers(self) -> Components:
        """Controllers."""
        return Components(self, "controllers")

    @property
    def contacts(self) -> Components:
        """Contact geometries."""
        return Components(self, "contacts")

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._core.class_at("")[1]

    @property
    def file(self) -> str:
        """The file from which it was read."""
        return self._core.file

    @property
    def mass(self) -> float:
        """Mass of all bodies, kg."""
        return self._core.mass()

    @property
    def components(self) -> list[tuple[str, str]]:
        """Path and class of every component, in OpenSim's order."""
        return self._core.components()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings about the file."""
        return _diagnostics(self._core.diagnostics)

    def summary(self) -> dict[str, Any]:
        """The content of the model: plain data, SI units and radians."""
        import json

        found: dict[str, Any] = json.loads(self._core.summary())
        return found

    def check(self) -> None:
        """Raises :class:`ModelError` if the model currently has errors."""
        self._core.check()

    def add(self, part: Force | Controller | str) -> Component:
        """Adds a traced force or controller (:func:`soleus.force`, :func:`soleus.controller`), or any component given as XML. It is saved with the
        model."""
        from .formula import Controller, Force

        if isinstance(part, Controller):
            kind, text = "ControllerSet", part.to_xml()
        elif isinstance(part, Force):
            if part.parameters:
                names = ", ".join(part.parameters)
                raise TypeError(f"`{names}` of force `{part.name}` is a parameter to optimise: use study.add_force(force), or give it a value in `constants`")
            kind, text = "ForceSet", part.to_xml()
        else:
            kind, text = _set_of(part), part
        # On a copy first: a model in which it makes no sense stays as it was.
        trial = self._core.copy()
        members = _SETS[kind]
        before = set(trial.paths(members))
        trial.add(kind, text)
        new = [path for path in trial.paths(members) if path not in before]
        if not new:
            raise InputError(f"nothing was added to the model's {members}: give one element with a name of its own")
        self._core.add(kind, text)
        return Component(self, new[-1])

    def compile(self, *, opensim_faults: bool = False) -> System:
        """Compiles the model for computations. ``opensim_faults`` reproduces the errors of OpenSim 4.6 that Soleus corrects."""
        return System(self._core.compile(opensim_faults), opensim_faults)

    def save(self, path: PathLike) -> None:
        """Writes the model as a file of version 40600 (OpenSim 4.6)."""
        self._core.write(path)

    def to_bytes(self) -> bytes:
        """The bytes of a model file of version 40600."""
        return self._core.to_bytes()

    def copy(self) -> Model:
        """An independent copy."""
        return Model._of(self._core.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (1, self.to_bytes(), self.file)

    def __repr__(self) -> str:
        return self._core.info().rstrip()

    def _repr_html_(self) -> str:
        import html

        picture = self.picture()
        return f"<div style='display:flex'><div style='width:320px'>{picture}</div><pre>{html.escape(repr(self))}</pre></div>"

    def picture(self, motion: Source | None = None, *, time: float | None = None, wraps: bool = False) -> str:
        """A picture of a pose (SVG)."""
        from ._results import MEMORY, Result

        file = f"{MEMORY}/picture.svg"
        request = {"model": self, "motion": motion, "time": time, "wraps": wraps, "picture": file}
        found = run_tool(Result, "view", request, write=True)
        return str(found.files[file])

    def view(self, motion: Source | None = None, **more: Any) -> Page:
        """A page with an animated figure and plots of the model and a motion: shown in a notebook, saved with ``.save(path)``."""
        return view(self, motion, **more)

    # Tools.

    def scale(
        self,
        static: Source | None = None,
        *,
        mass: float | None = None,
        height: float | None = None,
        map: Mapping[str, str] | None = None,
        measurements: PathLike | Sequence[Mapping[str, Any]] | None = None,
        manual: Mapping[str, Sequence[float]] | None = None,
        tasks: PathLike | None = None,
        marker_set: PathLike | None = None,
        name: str = "",
        preserve_mass_distribution: bool = False,
        place_markers: bool = True,
        time: tuple[float | None, float | None] = (None, None),
        threads: int | None = None,
    ) -> Scaled:
        """Scales a generic model to a subject and places its markers as in a static trial.

        All markers of the static trial determine the sizes of all bodies, unless ``measurements`` (a file with a MeasurementSet or a ScaleTool setup,
        or its measurements) or ``manual`` (factors by body) are given. ``height``, in m, determines the size of segments without suitable markers. Markers
        of the model get the names that the laboratory has for them; ``map`` has those that are not recognised, as ``{"lab": "model"}``. ``tasks`` is a file
        with marker weights for the static pose."""
        factors: dict[str, Any] = {
            "markers": static,
            "from": time[0],
            "to": time[1],
            "preserve_mass_distribution": preserve_mass_distribution,
        }
        if isinstance(measurements, (str, os.PathLike)):
            factors["measurement_file"] = measurements
        elif measurements is not None:
            factors["measurements"] = list(measurements)
        if manual:
            factors["manual"] = [{"segment": b, "scales": list(f), "apply": True} for b, f in manual.items()]
        placing = {"markers": static, "task_file": tasks, "from": time[0], "to": time[1]}
        request = {
            "model": self,
            "name": name,
            "mass": mass,
            "height": height,
            "map": [[lab, own] for lab, own in (map or {}).items()],
            "marker_set": marker_set,
            "factors": factors,
            "placing": placing if place_markers and static is not None else None,
        }
        return run_tool(Scaled, "scale", request, threads=threads)

    def inverse_kinematics(
        self,
        markers: Source,
        *,
        tasks: PathLike | Mapping[str, float] | None = None,
        coordinates: Source | None = None,
        time: tuple[float | None, float | None] = (None, None),
        chunks: int = 1,
        threads: int | None = None,
    ) -> Kinematics:
        """Joint angles from markers. ``tasks`` is a file with an IKTaskSet, or weights by marker. The frames are split into ``chunks`` that are solved
        in parallel; angles change in their last digits only."""
        request: dict[str, Any] = {
            "model": self,
            "markers": markers,
            "coordinates": coordinates,
            "from": time[0],
            "to": time[1],
            "chunks": chunks,
        }
        _check_units(markers)
        if isinstance(tasks, Mapping):
            request["tasks"] = [{"marker": {"name": n, "apply": True, "weight": float(w)}} for n, w in tasks.items()]
        else:
            request["task_file"] = tasks
        return run_tool(Kinematics, "inverse_kinematics", request, threads=threads)

    def sensor_kinematics(self, orientations: Source, **more: Any) -> SensorKinematics:
        """Joint angles from inertial sensors."""
        threads = more.pop("threads", None)
        request = {"model": self, "orientations": orientations, **more}
        return run_tool(SensorKinematics, "sensor_kinematics", request, threads=threads)

    def inverse_dynamics(
        self,
        motion: Source,
        *,
        loads: Loads = None,
        cutoff_hz: float | None = None,
        exclude: Sequence[str] = ("muscles", "actuators"),
        joints: Sequence[str] = (),
        time: tuple[float | None, float | None] = (None, None),
        root_angles: bool = False,
    ) -> Moments:
        """Joint moments from a motion and measured loads. ``loads`` is an ExternalLoads file, or :class:`ExternalLoads` in memory."""
        _check_angles(motion)
        request = {
            "model": self,
            "motion": motion,
            "loads": loads,
            "cutoff_hz": cutoff_hz,
            "exclude": list(exclude),
            "joints": list(joints),
            "from": time[0],
            "to": time[1],
            "root_angles": root_angles,
        }
        return run_tool(Moments, "inverse_dynamics", request)

    def static_optimization(
        self,
        motion: Source,
        *,
        loads: Loads = None,
        reserves: float | None = None,
        residuals: float | Sequence[float] | None = None,
        force_sets: PathLike | Sequence[PathLike] | None = None,
        cutoff_hz: float | None = None,
        exponent: float = 2.0,
        muscle_physiology: bool = True,
        every: int = 1,
        time: tuple[float | None, float | None] = (None, None),
        threads: int | None = None,
    ) -> StaticOptimizationResult:
        """Minimum-effort activations (Σ aᵖ) for a motion. ``reserves`` adds an actuator of this optimal force (N, N m) to every coordinate without an
        actuator; ``residuals`` gives optimal moment and force of the actuators at the root."""
        request = {
            "model": self,
            "motion": motion,
            "loads": loads,
            "reserves": floats(reserves),
            "residuals": floats(residuals),
            "force_sets": paths(force_sets),
            "cutoff_hz": cutoff_hz,
            "exponent": exponent,
            "muscle_physiology": muscle_physiology,
            "every": every,
            "from": time[0],
            "to": time[1],
        }
        found = run_tool(StaticOptimizationResult, "static_optimization", request, threads=threads)
        found._muscles = tuple(self.muscles.names)
        return found

    def analyze(
        self,
        motion: Source,
        analyses: Sequence[str | Mapping[str, Any]],
        *,
        loads: Loads = None,
        controls: Source | None = None,
        cutoff_hz: float | None = None,
        equilibrate: bool = False,
        reserves: float | None = None,
        residuals: float | Sequence[float] | None = None,
        force_sets: PathLike | Sequence[PathLike] | None = None,
        time: tuple[float | None, float | None] = (None, None),
        threads: int | None = None,
    ) -> Analyses:
        """Analyses of a motion: ``kinematics``, ``body``, ``muscle``, ``joint-reaction``, ``joint-power``, ``forces``, ``actuation``, ``induced``,
        ``states``, ``probes``."""
        request = {
            "model": self,
            "motion": motion,
            "analyses": list(analyses),
            "loads": loads,
            "controls": controls,
            "cutoff_hz": cutoff_hz,
            "equilibrate": equilibrate,
            "reserves": floats(reserves),
            "residuals": floats(residuals),
            "force_sets": paths(force_sets),
            "from": time[0],
            "to": time[1],
        }
        return run_tool(Analyses, "analyze", request, threads=threads)

    def simulate(
        self,
        duration: float = 1.0,
        *,
        excitation: float | None = None,
        controls: Source | Callable[..., ArrayLike] | None = None,
        initial: Source | None = None,
        method: str = "rkm",
        accuracy: float = 1e-5,
        step: float = 1e-3,
        interval: float | None = None,
        outputs: Sequence[str] = (),
        deadline: float | None = None,
    ) -> Motion:
        """A forward simulation from the default state or the first row of ``initial``. ``method`` is ``rkm`` (as in OpenSim), ``dopri5``, ``radau5``
        (stiff models), ``midpoint``, ``rosenbrock`` or ``semi-explicit-euler``.

        ``controls`` is a table of controls, or for prototypes a function ``policy(t, q, u, z)`` of arrays with one row per copy (here one) that returns the
        controls; it is called every ``interval`` seconds (default 0.01), and the simulation takes steps of ``step`` by ``rosenbrock`` or
        ``semi-explicit-euler``. See :class:`Batch` for thousands of copies, and :func:`soleus.controller` for controllers that are traced."""
        if callable(controls):
            from . import _callback

            others = {"excitation": excitation is not None, "accuracy": accuracy != 1e-5, "outputs": bool(outputs), "deadline": deadline is not None}
            ignored = [name for name, is_given in others.items() if is_given]
            if ignored:
                raise TypeError(f"`{ignored[0]}` cannot be combined with controls given by a function; use soleus.controller, or leave it out")
            motion = _callback.simulate(self, controls, duration, initial, method, step, interval)
            motion._model = self
            return motion
        request = {
            "model": self,
            "duration": duration,
            "excitation": excitation,
            "controls": controls,
            "initial": initial,
            "method": method,
            "accuracy": accuracy,
            "step": step,
            "interval": interval,
            "outputs": list(outputs),
            "deadline": deadline,
        }
        motion = run_tool(Motion, "simulate", request)
        motion._model = self
        return motion

    def equilibrium(
        self, *, excitation: float | None = None, initial: Source | None = None, eigenvalues: bool = False
    ) -> Rest:
        """An equilibrium of the model: a state at rest."""
        request = {"model": self, "excitation": excitation, "initial": initial, "eigenvalues": eigenvalues}
        return run_tool(Rest, "equilibrium", request)

    def rra(
        self,
        motion: Source,
        *,
        loads: Loads = None,
        mass_center: str | Mapping[str, Any] | None = None,
        window: float | None = None,
        find_weights: int = 0,
        threads: int | None = None,
        **tracking: Any,
    ) -> Tracked:
        """Residual reduction: a motion close to the measured one with smaller residuals. ``mass_center`` is the body whose mass centre is adjusted.
        Muscles are replaced by ``residuals`` (4 N m and 8 N unless given) and ``reserves`` (1000 N m or N), or by the actuators of ``force_sets``;
        ``replace_forces=False`` keeps them and adds what is given. Other keywords are those of tracking."""
        tracking = _tracking(self, motion, loads, tracking)
        if isinstance(mass_center, str):
            mass_center = {"body": mass_center}
        request = {"tracking": tracking, "mass_center": mass_center, "window": window, "find_weights": find_weights}
        return run_tool(Tracked, "residual_reduction", request, threads=threads)

    def cmc(
        self,
        motion: Source,
        *,
        loads: Loads = None,
        window: float = 0.01,
        exact: bool = True,
        effort: str = "strength",
        smoothness: float = 0.1,
        lead: float | None = None,
        threads: int | None = None,
        **tracking: Any,
    ) -> Tracked:
        """Computed muscle control: excitations that make a simulation track a motion. Other keywords (``reserves``, ``residuals``, ``force_sets``,
        ``task_file``, ``cutoff_hz``, …) are those of tracking."""
        request = {
            "tracking": _tracking(self, motion, loads, tracking),
            "window": window,
            "exact": exact,
            "effort": effort,
            "smoothness": smoothness,
            "lead": lead,
        }
        return run_tool(Tracked, "computed_muscle_control", request, threads=threads)

    def rea(
        self,
        motion: Source,
        *,
        loads: Loads = None,
        cutoff_hz: float | None = None,
        cycle: str = "none",
        time: tuple[float | None, float | None] = (None, None),
        threads: int | None = None,
        **more: Any,
    ) -> Consistent:
        """Residual elimination: adjusts pelvis and back so that no residual forces are needed (Thelen & Anderson 2006)."""
        request = {
            "model": self,
            "motion": motion,
            "loads": loads,
            "cutoff_hz": cutoff_hz,
            "cycle": cycle,
            "from": time[0],
            "to": time[1],
            **more,
        }
        return run_tool(Consistent, "residual_elimination", request, threads=threads)

    def make_consistent(
        self,
        markers: Source | None = None,
        *,
        motion: Source | None = None,
        loads: Loads = None,
        residuals: Literal["zero"] | float = "zero",
        adjust: Sequence[str] | None = None,
        residual_sd: float | None = None,
        time: tuple[float | None, float | None] = (None, None),
        threads: int | None = None,
        **more: Any,
    ) -> Consistent:
        """A dynamically consistent motion from markers (or a motion), measured loads and masses. ``residuals`` is ``"zero"``, or the standard deviation
        of residuals that may remain (N, N m). ``adjust`` lists what may change beside the ``kinematics``, which always do: ``masses``, ``mass centers``,
        ``loads`` and ``marker offsets``; by default the first three. Other keywords (``marker_sd``, ``mass_sd``, ``mass_center_sd``, …) are the
        standard deviations of what may change."""
        if residuals != "zero":
            residual_sd = float(residuals)
        more = {**_adjusted(adjust), **more}
        request = {
            "model": self,
            "markers": markers,
            "motion": motion,
            "loads": loads,
            "residual_sd": residual_sd,
            "from": time[0],
            "to": time[1],
            **more,
        }
        return run_tool(Consistent, "reconcile", request, threads=threads)

    reconcile = make_consistent

    def inverse(self, motion: Source, *, loads: Loads = None, **more: Any) -> Study:
        """Minimum-effort excitations for a motion, with activation and tendon dynamics (MocoInverse): a problem to ``solve()``. Keywords: ``reserves``,
        ``residuals``, ``rigid_tendons``, ``mesh_interval``, ``cutoff_hz``, …"""
        from ._study import Study, split_changes

        return Study("inverse", split_changes({"model": self, "kinematics": motion, **more}, loads))

    def track(
        self, states: Source | None = None, *, markers: Source | None = None, loads: Loads = None, **more: Any
    ) -> Study:
        """A dynamically consistent motion that tracks measured coordinates or markers (MocoTrack): a problem to ``solve()``. A marker file in the first
        place (.trc, .c3d) counts as ``markers``."""
        from ._study import Study, split_changes

        if markers is None and _is_markers(states):
            states, markers = None, states

        return Study("track", split_changes({"model": self, "states": states, "markers": markers, **more}, loads))

    def fit_paths(self, **more: Any) -> Model:
        """The model with muscle paths replaced by polynomials."""
        from ._results import Result

        found = run_tool(Result, "fit_paths", {"model": self, **more})
        model: Model = found._values["model"]
        return model


# Sets of a model, and what their members are called here.
_SETS = {
    "BodySet": "bodies",
    "JointSet": "joints",
    "ConstraintSet": "constraints",
    "ContactGeometrySet": "contacts",
    "ControllerSet": "controllers",
    "ForceSet": "forces",
    "MarkerSet": "markers",
    "ProbeSet": "probes",
}
# What has other members than those of a set as its owner.
_ELSEWHERE = {
    "Coordinate": "a joint",
    "PhysicalOffsetFrame": "a joint or a body",
    "GeometryPath": "a muscle",
    "OpenSimDocument": "a file",
    "Model": "a file",
}


def _set_of(text: str) -> str:
    """The set to which an element belongs, by its class."""
    # Declarations and comments may come first.
    found = re.match(r"\ufeff?(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*<([A-Za-z_][\w.\-]*)", text, re.DOTALL)
    if found is None:
        raise InputError("a component to add must be an XML element: <Marker name=…>…</Marker>")
    name = found.group(1)
    owner = _ELSEWHERE.get(name, "a body" if name.startswith("Wrap") else "the model" if name.endswith("Set") else None)
    if owner is not None:
        raise InputError(f"<{name}> cannot be added alone: it is a part of {owner}; add the component that has it")
    if name == "Bhargava2004SmoothedMuscleMetabolics" or name.endswith("Probe"):
        return "ProbeSet"
    if name in ("CMC", "ControlDistributor") or name.endswith("Controller"):
        return "ControllerSet"
    if name.startswith("Contact"):
        return "ContactGeometrySet"
    endings = {"Joint": "JointSet", "Constraint": "ConstraintSet"}
    exact = {"Body": "BodySet", "Marker": "MarkerSet"}
    return exact.get(name) or next((s for ending, s in endings.items() if name.endswith(ending)), "ForceSet")


# What may change when a motion is made consistent, and the standard deviations that say so: of those that are not listed they are zero.
_ADJUSTED: dict[str, dict[str, float | None]] = {
    "kinematics": {},
    "masses": {"mass_sd": None},
    "mass centers": {"mass_center_sd": None},
    "loads": {"load_offset_sd": None, "load_gain_sd": None},
    "marker offsets": {"marker_offset_sd": 0.005},
}


def _adjusted(adjust: Sequence[str] | None) -> dict[str, float]:
    if adjust is None:
        return {}
    unknown = [name for name in adjust if name not in _ADJUSTED]
    if unknown:
        raise ValueError(f"`{unknown[0]}` cannot be adjusted; choose from: {', '.join(_ADJUSTED)}")
    found: dict[str, float] = {}
    for name, deviations in _ADJUSTED.items():
        for key, value in deviations.items():
            if name not in adjust:
                found[key] = 0.0
            elif value is not None:
                found[key] = value
    return found


def _check_units(markers: Any) -> None:
    """Warns about positions whose unit is unknown."""
    if isinstance(markers, Table) and markers.units is None:
        warnings.warn(
            'the markers have no unit and are taken as m; set it with table.replace(metadata={"Units": "mm"})', UserWarning, stacklevel=3
        )


def _check_angles(motion: Any) -> None:
    """Warns about angles whose unit is unknown."""
    if isinstance(motion, Table) and motion.degrees is None:
        warnings.warn(
            "the motion does not say whether angles are in degrees, and is taken as radians; set it with table.replace(degrees=True)",
            UserWarning,
            stacklevel=3,
        )


def _is_markers(source: Any) -> bool:
    """Whether these are positions of markers and not coordinates."""
    if isinstance(source, Table):
        return bool(source.labels) and all(source[c].ndim == 2 for c in source.labels)
    return isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith((".trc", ".c3d"))


def _tracking(model: Model, motion: Source, loads: Loads, more: dict[str, Any]) -> dict[str, Any]:
    for key in ("reserves", "residuals"):
        if key in more:
            more[key] = floats(more[key])
    if "force_sets" in more:
        more["force_sets"] = paths(more["force_sets"])
    if "time" in more:
        more["from"], more["to"] = more.pop("time")
    return {"model": model, "motion": motion, "loads": loads, **more}


def _unpickled(version: int, data: bytes, name: str) -> Model:
    return Model._of(_soleus.Model.read_bytes(data, name))


def read(source: PathLike | bytes) -> Model:
    """Reads a model: a file (.osim, any version), or its bytes. A :class:`ModelError` lists all errors with their lines."""
    return Model(source)


def example(name: str) -> Model:
    """A built-in model: ``leg_swing`` (3 coordinates, 8 muscles), ``gait2d`` (planar walker, 9 coordinates, 16 muscles), ``reach`` (arm with two
    moments), ``suspended_mass``."""
    return Model._of(_soleus.Model.read_bytes(_soleus.example_model(name), f"{name}.osim"))


class Page:
    """A page with an animated figure and plots."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: PathLike) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:640px;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Page of {len(self.html)} characters; .save(path) writes it"


def view(model: Any, motion: Source | None = None, *, loads: Loads = None, **more: Any) -> Page:
    """A page of a model and its motion, of a solution, or of any other object with a page."""
    from ._results import Result

    if not isinstance(model, Model):
        page: Page = model.view()
        return page

    found = run_tool(Result, "view", {"model": model, "motion": motion, "loads": loads, **more})
    return Page(str(found._values["page"]))
