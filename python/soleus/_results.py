"""Results of tools: tables and numbers by name."""

from __future__ import annotations

import html
import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, ClassVar, TypeVar

import numpy as np

from . import _soleus, _stop
from ._progress import shower
from ._quality import Measure, Quality
from ._table import PathLike, Table
from .errors import Diagnostic, Interrupted, NotSolved, NotSolvedWarning, _diagnostics, _in_python

if TYPE_CHECKING:
    from ._model import Model

log = logging.getLogger("soleus")

MEMORY = "/(memory)"


def preformatted(value: object) -> str:
    """The text of a value as HTML."""
    return f"<pre>{html.escape(repr(value))}</pre>"


def _wrapped(value: Any) -> Any:
    """Tables and models as users see them."""
    from ._model import Model

    if isinstance(value, _soleus.Table):
        return Table._of(value)
    if isinstance(value, _soleus.Model):
        return Model._of(value)
    if isinstance(value, dict):
        return {k: _wrapped(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_wrapped(v) for v in value]
    return value


@dataclass(frozen=True)
class Residuals:
    """Residual forces (N) and moments (N m) at the root of the model."""

    force_rms: float
    force_peak: float
    moment_rms: float
    moment_peak: float


class Result:
    """The result of a tool. ``solved`` tells whether it is complete, ``message`` what is missing; ``notes`` and ``diagnostics`` are the messages of the
    run; ``files`` the files it wrote, by name."""

    _tables: ClassVar[tuple[str, ...]] = ()

    def __init__(self, values: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        self._values = {k: _wrapped(v) for k, v in values.items()}
        self.notes: list[str] = [_in_python(line) for line in told.get("notes", ())]
        self.diagnostics: tuple[Diagnostic, ...] = _diagnostics(told.get("diagnostics", []))
        verdict = told.get("verdict")
        self.message: str | None = None if verdict is None else _in_python(verdict.removeprefix("error: "))
        self.files: dict[str, Any] = {k: _wrapped(v) for k, v in (told.get("files") or {}).items()}

    @property
    def solved(self) -> bool:
        """Whether everything was solved."""
        return self.message is None

    def check(self) -> None:
        """Raises :class:`NotSolved` if not everything was solved."""
        if self.message is not None:
            raise NotSolved(self.message)

    @property
    def quality(self) -> Quality:
        """Measures of how good the result is, with their usual limits."""
        return Quality(self._measures())

    def _measures(self) -> list[Measure]:
        return []

    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        found = {k: v for k, v in self._values.items() if isinstance(v, Table)}
        found.update(self._values.get("tables") or {})
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def _figure(self) -> str | None:
        """A picture (SVG), if there is one."""
        return None

    def _repr_html_(self) -> str:
        table = next(iter(self.tables().values()), None)
        text = preformatted(self) + ("" if table is None else table._repr_html_())
        picture = self._figure()
        if picture is None:
            return text
        return f"<div style='display:flex'><div style='width:320px'>{picture}</div><div>{text}</div></div>"

    def __repr__(self) -> str:
        head = type(self).__name__ + ("" if self.solved else f" (not solved: {self.message})")
        lines = [f"  {line}" for line in self.notes[:8]]
        lines += [f"  .{k}: {repr(v).splitlines()[0]}" for k, v in self._values.items() if isinstance(v, Table)]
        return "\n".join([head, *lines])

    def _table(self, name: str) -> Table:
        table: Table = self._values[name]
        return table

    def _optional(self, name: str) -> Table | None:
        table: Table | None = self._values.get(name)
        return table

    def _residuals(self, name: str) -> Residuals | None:
        found = self._values.get(name)
        return None if found is None else Residuals(**found)


class Kinematics(Result):
    """A motion from markers."""

    @property
    def motion(self) -> Table:
        """Coordinates over time, rotations in degrees."""
        return self._table("motion")

    @property
    def marker_errors(self) -> Table:
        """Sum of squares (m²), RMS and largest distance (m) of the markers in each frame."""
        return self._table("marker_errors")

    @property
    def marker_distances(self) -> Table:
        """Distance of each marker, m; NaN where it is missing."""
        return self._table("marker_distances")

    @property
    def marker_locations(self) -> Table:
        """Positions of the model's markers in ground, m."""
        return self._table("marker_locations")

    @property
    def rms(self) -> float:
        """RMS distance over all frames and visible markers, m."""
        return float(self._values["rms"])


    def _measures(self) -> list[Measure]:
        # Hicks et al. (2015): RMS below 2 cm, largest below 2 to 4 cm.
        found = [Measure("marker error, RMS", self.rms, "m", 0.02)]
        worst = [(_peak(self.marker_distances[c]), c) for c in self.marker_distances.labels]
        (value, row), label = max(worst, default=((0.0, 0), ""))
        if label:
            found.append(Measure("marker error, largest", value, "m", 0.04, f"{label} at {self.marker_distances.time[row]:.3f} s"))
        return found


class SensorKinematics(Result):
    """A motion from inertial sensors."""

    @property
    def motion(self) -> Table:
        """Coordinates over time, rotations in degrees."""
        return self._table("motion")


class Moments(Result):
    """Joint moments of a motion."""

    @property
    def moments(self) -> Table:
        """Moments (N m) and forces (N) of all coordinates: ``knee_angle_r_moment``."""
        return self._table("moments")

    @property
    def joint_loads(self) -> Table | None:
        """Loads of the requested joints."""
        return self._optional("joint_loads")

    @property
    def residuals(self) -> Residuals | None:
        """Residual force and moment; ``None`` without measured loads."""
        return self._residuals("residuals")


    def _measures(self) -> list[Measure]:
        return _residual_measures(self.residuals)


class Analyses(Result):
    """Tables of analyses, by name: ``result["JointReaction_ReactionLoads"]``."""

    def __getitem__(self, name: str) -> Table:
        found = self._values["tables"]
        if name not in found:
            raise KeyError(f"no table is called {name!r}; available: {', '.join(found)}")
        table: Table = found[name]
        return table

    def __iter__(self) -> Any:
        return iter(self._values["tables"])

    def __len__(self) -> int:
        return len(self._values["tables"])


class StaticOptimizationResult(Analyses):
    """Muscle activations and forces of a motion."""

    @property
    def activations(self) -> Table:
        """Activations of muscles, and controls of other actuators."""
        return self["StaticOptimization_activation"]

    @property
    def forces(self) -> Table:
        """Forces of muscles (N), and of other actuators (N, N m)."""
        return self["StaticOptimization_force"]


    _muscles: tuple[str, ...] = ()

    def _measures(self) -> list[Measure]:
        forces, activations = self.forces, self.activations
        muscles = set(self._muscles)
        found = []
        # Measured forces have no control.
        others = [c for c in forces.labels if c in activations and c not in muscles]
        if others:
            (value, row), label = max((_peak(forces[c]), c) for c in others)
            found.append(Measure("reserve or residual, largest", value, "N or N m", None, f"{label} at {forces.time[row]:.3f} s"))
        known = [c for c in activations.labels if c in muscles]
        if known:
            (value, row), label = max((_peak(activations[c]), c) for c in known)
            found.append(Measure("activation, largest", value, "", 0.99, f"{label} at {activations.time[row]:.3f} s"))
        return found


class Motion(Result):
    """A simulation."""

    # For pictures; it does not travel with the result.
    _model: Model | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_model"}

    def _figure(self) -> str | None:
        return None if self._model is None else self._model.picture(self.states)

    @property
    def states(self) -> Table:
        """States over time, rad and m: ``/jointset/knee/knee_angle/value``."""
        return self._table("states")

    @property
    def controls(self) -> Table | None:
        """Controls over time."""
        return self._optional("controls")

    @property
    def end_time(self) -> float:
        """Final time reached, s."""
        return float(self._values["end_time"])

    @property
    def steps(self) -> int:
        """Number of integration steps."""
        return int(self._values["steps"])


class Rest(Result):
    """A state at rest."""

    @property
    def state(self) -> Table:
        """The state as a table of one row, rad and m."""
        return self._table("state")

    @property
    def eigenvalues(self) -> list[complex]:
        """Eigenvalues of the linearised motion, 1/s, the fastest growing first, if requested."""
        return [complex(*pair) for pair in self._values["eigenvalues"] or ()]


if TYPE_CHECKING:
    from ._model import Model as _Model

    # What is behind a scaled model, for those who check types.
    class _ModelResult(Result, _Model): ...
else:
    _ModelResult = Result


class Scaled(_ModelResult):
    """A model scaled to a subject; it has everything that :attr:`model` has."""

    @property
    def model(self) -> Model:
        """The model."""
        model: Model = self._values["model"]
        return model

    @property
    def factors(self) -> dict[str, tuple[float, float, float]]:
        """Scale factors of the bodies along their axes."""
        return {k: tuple(v) for k, v in (self._values["factors"] or {}).items()}

    @property
    def pose(self) -> Table | None:
        """The static pose, if markers were placed."""
        return self._optional("pose")

    # The subject can be used where its model can: ``subject = model.scale(…); subject.inverse_kinematics(…)``.

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(self.model, name)

        def __getitem__(self, path: str) -> Any:
            return self.model[path]

        def __contains__(self, path: str) -> bool:
            return path in self.model

        def __dir__(self) -> list[str]:
            return sorted({*object.__dir__(self), *(name for name in dir(self.model) if not name.startswith("_"))})

    def _figure(self) -> str | None:
        return self.model.picture(self.pose)


class Tracked(Result):
    """A simulation that tracks a motion: residual reduction, computed muscle control."""

    @property
    def states(self) -> Table:
        """States over time, rad and m."""
        return self._table("states")

    @property
    def controls(self) -> Table:
        """Controls over time."""
        return self._table("controls")

    @property
    def errors(self) -> Table:
        """Tracking error of each coordinate, rad or m."""
        return self._table("errors")

    @property
    def motion(self) -> Table:
        """Coordinates over time, rotations in degrees."""
        table: Table = self._values["tables"]["Kinematics_q"]
        return table

    @property
    def report(self) -> str:
        """Tracking errors, residuals and reserves, as text."""
        return str(self._values["report"])


class Consistent(Result):
    """A dynamically consistent motion under measured loads."""

    @property
    def motion(self) -> Table:
        """Coordinates over time, rotations in degrees."""
        return self._table("motion")

    @property
    def before(self) -> Residuals | None:
        """Residuals of the original motion."""
        return self._residuals("before")

    @property
    def after(self) -> Residuals | None:
        """Residuals of the resulting motion, by inverse dynamics."""
        return self._residuals("after")

    @property
    def report(self) -> str:
        """The changes, as text."""
        return str(self._values["report"])

    def _measures(self) -> list[Measure]:
        return _residual_measures(self.after)


class Written(Result):
    """The files written by a setup file: ``result.files`` contains tables, models and text by file name; ``result["_pErr"]`` is the file whose name
    contains this text."""

    def __getitem__(self, words: str) -> Any:
        found = [k for k in self.files if words in k]
        exact = [k for k in found if k.rsplit("/", 1)[-1].rsplit(".", 1)[0].endswith(words)]
        chosen = exact if len(exact) == 1 else found
        if len(chosen) != 1:
            raise KeyError(f"{len(chosen)} files have {words!r} in their name; available: {', '.join(self.files)}")
        return self.files[chosen[0]]

    def tables(self) -> dict[str, Table]:
        return {k: v for k, v in self.files.items() if isinstance(v, Table)}


def _peak(column: Any) -> tuple[float, int]:
    """The largest absolute value, and its row; 0 if all are missing."""
    sizes = np.nan_to_num(np.abs(column), nan=0.0)
    row = int(np.argmax(sizes)) if sizes.size else 0
    return (float(sizes[row]) if sizes.size else 0.0), row


def _residual_measures(r: Residuals | None) -> list[Measure]:
    if r is None:
        return []
    return [
        Measure("residual force, RMS", r.force_rms, "N"),
        Measure("residual force, largest", r.force_peak, "N"),
        Measure("residual moment, RMS", r.moment_rms, "N m"),
        Measure("residual moment, largest", r.moment_peak, "N m"),
    ]


R = TypeVar("R", bound=Result)


def _core_of(value: Any, memory: list[tuple[str, bytes]]) -> Any:
    """Tables, models and loads in the form that the compiled module accepts."""
    from ._loads import ExternalLoads
    from ._model import Model

    if isinstance(value, (Table, Model)):
        return value._core
    if isinstance(value, Scaled):
        return value.model._core
    if isinstance(value, ExternalLoads):
        return value._place(memory)
    if isinstance(value, dict):
        return {k: _core_of(v, memory) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [_core_of(v, memory) for v in value]
    return value


def run_tool(
    result: type[R] | Callable[[Mapping[str, Any], Mapping[str, Any]], R],
    name: str,
    request: Mapping[str, Any],
    *,
    threads: int | None = None,
    write: bool = False,
    memory: Iterable[tuple[str, bytes]] = (),
) -> R:
    """Runs a tool by name. Ctrl-C raises an exception that contains the result so far."""
    _stop.check()
    files = list(memory)
    plain = _core_of(dict(request), files)
    told = _soleus.run(name, plain, threads=threads, show=shower(), write=write, memory=files)
    for d in _diagnostics(told["diagnostics"]):
        log.warning("%s", d)
    for line in told["notes"]:
        log.info("%s", _in_python(line))
    values, stopped = told["values"], told["interruption"]
    found = None if values is None else result(values, told)
    if stopped is not None:
        if isinstance(stopped, KeyboardInterrupt):
            raise Interrupted(partial=found) from stopped
        raise stopped
    if found is None:
        raise NotSolved("stopped")
    if found.message is not None:
        warnings.warn(found.message, NotSolvedWarning, stacklevel=3)
    return found


def floats(value: float | Sequence[float] | None) -> list[float] | None:
    """One number or several as a list."""
    if value is None:
        return None
    return [float(value)] if isinstance(value, (int, float)) else [float(x) for x in value]


def paths(value: PathLike | Sequence[PathLike] | None) -> list[Any] | None:
    """One file or several as a list."""
    if value is None:
        return None
    return [value] if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__") else list(value)
