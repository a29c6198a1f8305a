"""Systems: quantities computed from states."""

from __future__ import annotations

import importlib.util
import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _soleus, _stop

Array = NDArray[np.float64]
Part = Union[ArrayLike, Mapping[str, float], None]


@dataclass(frozen=True)
class Sparse:
    """Sparse matrices with a common pattern, by columns: ``values`` contains the entries, for many states one row per state."""

    values: Array
    rows: NDArray[np.int32]
    """Row of each entry."""
    starts: NDArray[np.int32]
    """Index at which each column begins, and the end of the last."""
    shape: tuple[int, int]

    def to_scipy(self, state: int | None = None) -> Any:
        """As ``scipy.sparse.csc_array``; for many states, the given one."""
        from scipy.sparse import csc_array

        values = self.values if state is None else self.values[state]
        return csc_array((values, self.rows, self.starts), shape=self.shape)

    def to_numpy(self) -> Array:
        """As full matrices."""
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.starts))
        full = np.zeros((*self.values.shape[:-1], *self.shape))
        full[..., self.rows, columns] = self.values
        return full


@dataclass(frozen=True)
class Jacobians:
    """The implicit equations f(x, ẋ, e, λ) = 0 with x = (q, u, z), and their exact Jacobians: ``scipy.sparse`` matrices for one state if scipy is
    installed, otherwise and for many states :class:`Sparse`."""

    residual: Array
    dx: Any
    dxdot: Any
    de: Any
    dmultipliers: Any
    equations: list[str]
    """Names of the rows."""
    states: list[str]
    """Names of the columns of ``dx`` and ``dxdot``."""


class System:
    """A compiled model: immutable, shared by all threads. States are arrays: ``q`` coordinates (rad, m), ``u`` speeds, ``z`` muscle states (activations,
    fiber lengths), ``e`` controls (excitations); :attr:`coordinates`, :attr:`states` and :attr:`controls` give the order of their columns. Missing
    arguments have the values of the model's default state; missing controls are zero."""

    __slots__ = ("_core", "_opensim_faults", "evaluate", "linearize")
    _core: _soleus.System

    def __init__(self, core: _soleus.System, opensim_faults: bool = False) -> None:
        self._core = core
        self._opensim_faults = opensim_faults
        # The compiled functions themselves: a call costs no detour.
        object.__setattr__(self, "evaluate", core.evaluate)
        object.__setattr__(self, "linearize", core.linearize)

    if TYPE_CHECKING:

        @overload
        def evaluate(
            self,
            q: Part = None,
            u: Part = None,
            z: Part = None,
            e: Part = None,
            *,
            want: str = "udot",
            t: ArrayLike | None = None,
            udot: ArrayLike | None = None,
            equilibrate: bool = False,
            threads: int | None = None,
        ) -> Array: ...
        @overload
        def evaluate(
            self,
            q: Part = None,
            u: Part = None,
            z: Part = None,
            e: Part = None,
            *,
            want: list[str] | tuple[str, ...],
            t: ArrayLike | None = None,
            udot: ArrayLike | None = None,
            equilibrate: bool = False,
            threads: int | None = None,
        ) -> dict[str, Array]: ...
        def evaluate(
            self,
            q: Part = None,
            u: Part = None,
            z: Part = None,
            e: Part = None,
            *,
            want: str | list[str] | tuple[str, ...] = "udot",
            t: ArrayLike | None = None,
            udot: ArrayLike | None = None,
            equilibrate: bool = False,
            threads: int | None = None,
        ) -> Array | dict[str, Array]:
            """Quantities of one state (one-dimensional arrays, or values by name) or of many (one row per state).

            ``want`` is one name, which gives an array, or several, which give a dictionary; :attr:`quantities` lists them, and
            ``moment_arm:COORDINATE`` and ``force:FORCE`` are available too. ``equilibrate`` first puts fibers in equilibrium with their tendons. Many
            states are distributed over ``threads`` threads (default: all cores), with the GIL released."""
            ...

        def linearize(
            self,
            q: Part = None,
            u: Part = None,
            z: Part = None,
            e: Part = None,
            *,
            t: ArrayLike | None = None,
            equilibrate: bool = False,
            threads: int | None = None,
        ) -> tuple[Array, Array, Array]:
            """The motion ẋ = f(x, e) with x = (q, u, z), and its exact derivatives A = ∂f/∂x and B = ∂f/∂e."""
            ...

    @property
    def coordinates(self) -> list[str]:
        """Paths of the coordinates: columns of ``q`` and ``u``."""
        return self._core.layout("coordinates")

    @property
    def states(self) -> list[str]:
        """Paths of the states of muscles and other forces: columns of ``z``."""
        return self._core.layout("states")

    @property
    def controls(self) -> list[str]:
        """Paths of the actuators: columns of ``e``."""
        return self._core.layout("controls")

    @property
    def muscles(self) -> list[str]:
        """Paths of the muscles: columns of ``muscle.…`` and ``moment_arm``."""
        return self._core.layout("muscles")

    @property
    def bodies(self) -> list[str]:
        """Paths of the bodies: rows of ``body.…``."""
        return self._core.layout("bodies")

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities of :meth:`evaluate`."""
        return _soleus.System.quantities()

    def labels(self, quantity: str) -> list[str]:
        """Labels of the values of a quantity: paths of muscles, coordinates, bodies."""
        return self._core.labels(quantity)

    def defaults(self) -> dict[str, Array]:
        """The default state of the model: ``q``, ``u`` and ``z``."""
        q, u, z = self._core.default_state()
        return {"q": q, "u": u, "z": z}

    def equilibrate(self, q: Part = None, u: Part = None, z: Part = None, e: Part = None) -> Array:
        """``z`` with the fibers of muscles in equilibrium with their tendons at the activations of ``z``."""
        return self.evaluate(q, u, z, e, want="z", equilibrate=True)

    def jacobian(
        self,
        q: Part = None,
        u: Part = None,
        z: Part = None,
        e: Part = None,
        *,
        t: ArrayLike | None = None,
        xdot: ArrayLike | None = None,
        multipliers: ArrayLike | None = None,
        equilibrate: bool = False,
        threads: int | None = None,
    ) -> Jacobians:
        """The implicit equations and their exact, sparse Jacobians. Rates and multipliers that are not given are those of the motion, so that the
        residual is zero."""
        found = self._core.jacobian(
            q, u, z, e, t=t, xdot=xdot, multipliers=multipliers, equilibrate=equilibrate, threads=threads
        )
        residual, *parts = found
        equations, states = self._core.equations()
        matrices: list[Any] = [Sparse(*part) for part in parts]
        if residual.ndim == 1 and importlib.util.find_spec("scipy") is not None:
            matrices = [m.to_scipy() for m in matrices]
        dx, dxdot, de, dmultipliers = matrices
        return Jacobians(residual, dx, dxdot, de, dmultipliers, equations, states)

    @overload
    def batch(
        self,
        n: int,
        *,
        method: str = ...,
        accuracy: float = ...,
        threads: int | None = ...,
        backend: Literal["engine", "lanes"] = ...,
        precision: Literal["double", "single"] = ...,
    ) -> Batch: ...
    @overload
    def batch(
        self,
        n: int,
        *,
        method: str = ...,
        backend: Literal["cuda"],
        precision: Literal["double", "single"] = ...,
    ) -> DeviceBatch: ...
    def batch(
        self,
        n: int,
        *,
        method: str = "rosenbrock",
        accuracy: float = 1e-3,
        threads: int | None = None,
        backend: Literal["engine", "lanes", "cuda"] = "engine",
        precision: Literal["double", "single"] = "double",
    ) -> Batch | DeviceBatch:
        """``n`` simulations in parallel, from the default state with muscles in equilibrium.

        ``method`` is ``rosenbrock`` (linearly implicit, stable with elastic tendons and stiff contacts at steps of milliseconds),
        ``semi-explicit-euler`` (the cheapest, for models that are not stiff) or ``rkm`` (as many steps as its ``accuracy`` requires; only for the
        engine).

        ``backend`` is ``engine`` (any model, copy by copy), ``lanes`` (machine code for this model, 4 to 16 copies at once with AVX2 or AVX-512; ten
        or more times as fast, for models without wrapping: see :meth:`Model.fit_paths`) or ``cuda`` (an NVIDIA device; arrays stay on it and are
        shared by DLPack). ``precision`` is ``double`` or ``single`` (not for the engine). Lanes and devices are compared with the engine in random
        states before they are used."""
        if precision not in ("double", "single"):
            raise ValueError(f"unknown precision `{precision}`; choose double or single")
        single = precision == "single"
        if backend == "lanes":
            return Batch(self._core.lanes_batch(n, method, single, threads), self)
        if backend == "cuda":
            return DeviceBatch(self._core.device_batch(n, method, single, _nvrtc(), _kernels()), self)
        if backend != "engine":
            raise ValueError(f"unknown back end `{backend}`; choose engine, lanes or cuda")
        if single:
            raise ValueError("the engine supports double precision only; use `lanes` or `cuda` for single precision")
        return Batch(self._core.batch(n, method, accuracy, threads), self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled, (self._core.document_bytes(), self._core.file, self._opensim_faults)

    def __repr__(self) -> str:
        n = {k: len(self._core.layout(k)) for k in ("coordinates", "states", "controls", "muscles", "bodies")}
        return (
            f"System: {n['bodies']} bodies, {n['coordinates']} coordinates, {n['muscles']} muscles, "
            f"{n['states']} states of forces, {n['controls']} controls"
        )


def _compiled(data: bytes, name: str, opensim_faults: bool = False) -> System:
    return System(_soleus.Model.read_bytes(data, name).compile(opensim_faults), opensim_faults)


def _nvrtc() -> list[str]:
    """Places to look for CUDA's compiler: the search path, and NVIDIA's Python packages."""
    names = [f"libnvrtc.so{version}" for version in (".12", ".13", "", ".11.2")]
    found = importlib.util.find_spec("nvidia")
    places = [pathlib.Path(p) for p in (found.submodule_search_locations or [])] if found else []
    inside = [str(file) for place in places for file in sorted(place.glob("**/libnvrtc.so.*"))]
    return [file for file in inside if "builtins" not in file and ".alt" not in file] + names


def _kernels() -> str:
    """The folder of compiled kernels."""
    base = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    return str(pathlib.Path(base) / "soleus" / "kernels")


@dataclass(frozen=True)
class StepGradient:
    """The gradient of a weighted sum of the states after a step, one row per copy."""

    q: Array
    u: Array
    z: Array
    e: Array


class Batch:
    """Many simulations of one model. ``q``, ``u``, ``z``, ``e`` and ``time`` are live NumPy arrays with one row per copy: write states and controls into
    them (``batch.e[:] = …`` or ``batch.e = …``), and read the result of :meth:`step` from them. Do not step and write from two threads at the same time."""

    __slots__ = ("_core", "system", "_q", "_u", "_z", "_e", "_time", "_failed")

    def __init__(self, core: _soleus.Batch | _soleus.LanesBatch, system: System) -> None:
        self._core = core
        self.system = system
        self._q, self._u, self._z, self._e = core.q, core.u, core.z, core.e
        self._time = core.time
        self._failed = core.failed

    # The arrays are those that the steps compute with: assigning to one writes into it.

    @property
    def q(self) -> Array:
        """Coordinates, rad and m."""
        return self._q

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._q[...] = values

    @property
    def u(self) -> Array:
        """Speeds, rad/s and m/s."""
        return self._u

    @u.setter
    def u(self, values: ArrayLike) -> None:
        self._u[...] = values

    @property
    def z(self) -> Array:
        """States of muscles and other forces."""
        return self._z

    @z.setter
    def z(self, values: ArrayLike) -> None:
        self._z[...] = values

    @property
    def e(self) -> Array:
        """Controls."""
        return self._e

    @e.setter
    def e(self, values: ArrayLike) -> None:
        self._e[...] = values

    @property
    def time(self) -> Array:
        """Times, s."""
        return self._time

    @time.setter
    def time(self, values: ArrayLike) -> None:
        self._time[...] = values

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Copies that could not go on; they keep their last good state until they are reset."""
        return self._failed

    @failed.setter
    def failed(self, values: ArrayLike) -> None:
        self._failed[...] = values

    def __len__(self) -> int:
        return len(self._core)

    def step(self, dt: float, steps: int = 1) -> int:
        """Advances every copy by ``dt`` seconds in ``steps`` steps, on all cores, with the GIL released and constant controls. Returns the number of
        copies that failed; :attr:`failed` marks them. Ctrl-C stops between two copies: those that were not reached keep their states and times."""
        # A long step looks for itself; many short ones would never.
        _stop.check()
        return self._core.step(dt, steps)[0]

    def gradient(
        self, dt: float, steps: int = 1, *, q: ArrayLike | None = None, u: ArrayLike | None = None, z: ArrayLike | None = None
    ) -> StepGradient:
        """The derivative of a weighted sum of the states after :meth:`step` with respect to the current states and controls: exact, backwards through
        the same steps. ``q``, ``u`` and ``z`` are the weights, one row per copy or one for all: for a loss L of the states after the step, ∂L/∂q,
        ∂L/∂u and ∂L/∂z. The batch is not advanced. Copies that cannot step have NaN.

        For ``rosenbrock`` and ``semi-explicit-euler``, and models without constraints."""
        weights = self._weights([q, u, z])
        by_x, by_e, _, _ = self._core.gradients(weights[:, None, :], dt, steps)
        return StepGradient(*self._split(by_x[:, 0]), by_e[:, 0])

    def step_jacobian(self, dt: float, steps: int = 1) -> tuple[Array, Array]:
        """The derivatives of the states x = (q, u, z) after a step with respect to those before it and to the controls, for every copy: copies × states
        × states, and copies × states × controls. See :meth:`gradient`."""
        nx = self.q.shape[1] + self.u.shape[1] + self.z.shape[1]
        unit = np.broadcast_to(np.eye(nx), (len(self), nx, nx))
        by_x, by_e, _, _ = self._core.gradients(np.ascontiguousarray(unit), dt, steps)
        return by_x, by_e

    def _weights(self, parts: list[Any]) -> Array:
        rows = []
        for name, given, state in zip("quz", parts, (self.q, self.u, self.z)):
            value = np.zeros(state.shape) if given is None else np.asarray(given, dtype=np.float64)
            if value.shape not in (state.shape, state.shape[1:]):
                raise ValueError(f"`{name}` has shape {value.shape}; expected {state.shape} or {state.shape[1:]}")
            rows.append(np.broadcast_to(value, state.shape))
        return np.hstack(rows)

    def _split(self, x: Array) -> tuple[Array, Array, Array]:
        n = self.q.shape[1]
        return x[:, :n], x[:, n : 2 * n], x[:, 2 * n :]

    def vary(self, path: str) -> Array:
        """A model parameter that can differ between copies, as a live array: ``batch.vary("/forceset/soleus_r/max_isometric_force")``.

        Copies with changed values are compiled again by the next step. For forces and lengths of muscles this takes a fraction of a millisecond per
        copy; for any other property the whole model is built again for each copy. A copy with its own values also needs its own memory."""
        return self._core.vary(path)

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:
        """Resets copies to the default state at time 0, with muscles in equilibrium: all copies, or those where ``mask`` is true."""
        self._core.reset(None if mask is None else np.ascontiguousarray(mask, dtype=np.bool_))

    @property
    def backend(self) -> str:
        """The back end: ``engine``, or the kind of lanes, ``AVX-512, 8 lanes of f64``."""
        return self._core.backend

    def rates(self) -> tuple[Array, Array]:
        """Accelerations and rates of force states of all copies; lanes include the values changed by :meth:`vary`."""
        if isinstance(self._core, _soleus.LanesBatch):
            return self._core.rates()
        found = self.evaluate(["udot", "zdot"])
        return found["udot"], found["zdot"]

    def evaluate(self, want: str | list[str] | tuple[str, ...] = "udot", **more: Any) -> Any:
        """Quantities of all copies, by the engine; see :meth:`System.evaluate`. Values changed by :meth:`vary` are not included."""
        return self.system.evaluate(self.q, self.u, self.z, self.e, want=want, t=self.time, **more)

    def __repr__(self) -> str:
        return f"Batch of {len(self)} copies ({self.backend}), {int(self.failed.sum())} failed\n  {self.system!r}"


class DeviceBatch:
    """Many simulations of one model on a CUDA device. ``q``, ``u``, ``z``, ``e`` and ``time`` are arrays on the device, one row per copy, which PyTorch,
    JAX and CuPy share without a copy: ``torch.from_dlpack(batch.q)``. Copies that fail have states that are not finite."""

    __slots__ = ("_core", "system", "_arrays")

    def __init__(self, core: _soleus.DeviceBatch, system: System) -> None:
        self._core = core
        self.system = system
        self._arrays = {name: core.array(name) for name in ("q", "u", "z", "e", "time")}

    # Without setters: an array that another library made would not be the one that steps compute with.

    @property
    def q(self) -> _soleus.DeviceArray:
        """Coordinates, rad and m."""
        return self._arrays["q"]

    @property
    def u(self) -> _soleus.DeviceArray:
        """Speeds, rad/s and m/s."""
        return self._arrays["u"]

    @property
    def z(self) -> _soleus.DeviceArray:
        """States of muscles and other forces."""
        return self._arrays["z"]

    @property
    def e(self) -> _soleus.DeviceArray:
        """Controls."""
        return self._arrays["e"]

    @property
    def time(self) -> _soleus.DeviceArray:
        """Times, s."""
        return self._arrays["time"]

    def __len__(self) -> int:
        return len(self._core)

    def step(self, dt: float, steps: int = 1) -> None:
        """Advances every copy by ``dt`` seconds in ``steps`` steps. The steps run asynchronously; shared arrays wait for them."""
        self._core.step(dt, steps)

    def reset(self) -> None:
        """Resets all copies to the default state at time 0, with muscles in equilibrium and zero controls."""
        self._core.reset()

    def __repr__(self) -> str:
        return f"Batch of {len(self)} copies on a CUDA device\n  {self.system!r}"
