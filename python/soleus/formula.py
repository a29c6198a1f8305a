"""Goals, constraints and forces written in Python: traced once into formulas, which Soleus evaluates with exact derivatives.

>>> @sl.goal
... def limp(m):
...     r, l = m.contact_force("foot_r").y, m.contact_force("foot_l").y
...     return (r - 0.8 * l) ** 2 / m.mass**2
>>> study.goals.add(limp, weight=1e-3)

A function is called once, with symbols of the model at one point in time instead of numbers. Its return value is a formula: text that can be
written into a study file, runs in any number of threads without Python, and can be pickled. ``m.WORD`` and ``m.WORD("name")`` are quantities of the model:
``m.time``, ``m.mass``, ``m.q("knee_angle_r")``, ``m.u(…)``, ``m.activation("soleus_r")``, ``m.position("wrist")``, ``m.contact_force("foot_r")``,
``m.joint_force("knee_r")`` and others listed in the guide to formulas. ``*`` in a name is a wildcard inside :func:`sum_of`,
:func:`mean_of`, :func:`min_of` and :func:`max_of`.

Traced values cannot be used in an ``if``; use :func:`where`. Comparisons, ``==`` and ``!=`` among them, are conditions of the formula. Functions of NumPy
that formulas have too (``np.sin``, ``np.maximum``, ``np.where``) can be applied to traced values; others raise with the line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np

if TYPE_CHECKING:
    from ._callback import CallbackGoal

Operand = Union["Expr", float, int]

_ATOM, _POWER, _UNARY, _PRODUCT, _SUM, _COMPARE, _NOT, _AND, _OR = range(9, 0, -1)


class Expr:
    """A traced value: a number, a vector or a condition of the model at one point in time."""

    __slots__ = ("_pieces", "_level")

    def __init__(self, pieces: Sequence[Any], level: int) -> None:
        # Words, and parts with the lowest level at which they need no parentheses.
        self._pieces = tuple(pieces)
        self._level = level

    # Arithmetic.

    def __add__(self, other: Operand) -> Expr:
        return Expr([(self, _SUM), " + ", (expr(other), _SUM)], _SUM)

    def __radd__(self, other: Operand) -> Expr:
        return expr(other) + self

    def __sub__(self, other: Operand) -> Expr:
        return Expr([(self, _SUM), " - ", (expr(other), _PRODUCT)], _SUM)

    def __rsub__(self, other: Operand) -> Expr:
        return expr(other) - self

    def __mul__(self, other: Operand) -> Expr:
        return Expr([(self, _PRODUCT), " * ", (expr(other), _UNARY)], _PRODUCT)

    def __rmul__(self, other: Operand) -> Expr:
        return expr(other) * self

    def __truediv__(self, other: Operand) -> Expr:
        return Expr([(self, _PRODUCT), " / ", (expr(other), _UNARY)], _PRODUCT)

    def __rtruediv__(self, other: Operand) -> Expr:
        return expr(other) / self

    def __pow__(self, other: Operand) -> Expr:
        return Expr([(self, _ATOM), " ^ ", (expr(other), _ATOM)], _POWER)

    def __rpow__(self, other: Operand) -> Expr:
        return expr(other) ** self

    def __neg__(self) -> Expr:
        return Expr(["-", (self, _POWER)], _UNARY)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return call("abs", self)

    # Conditions.

    def __lt__(self, other: Operand) -> Expr:
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Expr:
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Expr:
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Expr:
        return self._compared(">=", other)

    # Conditions too, as in a formula: an answer of Python would be that of two objects.

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return self._compared("==", self._operand("==", other))

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return self._compared("!=", self._operand("!=", other))

    __hash__ = object.__hash__

    @staticmethod
    def _operand(sign: str, other: object) -> Operand:
        if isinstance(other, (Expr, int, float)):
            return other
        raise TypeError(
            f"{_caller()}: a traced value cannot be compared with a {type(other).__name__} by `{sign}`; compare it with a number or another traced "
            "value, and use `is` for None"
        )

    def _compared(self, sign: str, other: Operand) -> Expr:
        return Expr([(self, _SUM), f" {sign} ", (expr(other), _SUM)], _COMPARE)

    def __and__(self, other: Expr) -> Expr:
        return Expr([(self, _AND), " and ", (other, _AND)], _AND)

    def __or__(self, other: Expr) -> Expr:
        return Expr([(self, _OR), " or ", (other, _OR)], _OR)

    def __invert__(self) -> Expr:
        return Expr(["not ", (self, _NOT)], _NOT)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{_caller()}: a traced value is not a number, so it cannot be used in an `if`, `and` or "
            "`max()`; use where(condition, a, b), `&`, `|`, and the functions of soleus.formula"
        )

    def __float__(self) -> float:
        raise TypeError(f"{_caller()}: a traced value is not a number; use the functions of soleus.formula instead of those of math")

    # Functions of NumPy that formulas have too; others name the line.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        made = _UFUNCS.get(ufunc.__name__) if method == "__call__" and not options else None
        name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        return _of_numpy(made, name, inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{func.__module__}.{func.__name__}"
        return _of_numpy(None if kwargs else _NUMPY.get(name), name, args)

    # Components of a vector.

    @property
    def x(self) -> Expr:
        """First component."""
        return Expr([(self, _ATOM), ".x"], _ATOM)

    @property
    def y(self) -> Expr:
        """Second component."""
        return Expr([(self, _ATOM), ".y"], _ATOM)

    @property
    def z(self) -> Expr:
        """Third component."""
        return Expr([(self, _ATOM), ".z"], _ATOM)

    # Text.

    def __str__(self) -> str:
        return _text(self)

    def __repr__(self) -> str:
        return f"Expr({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Expr, (self._pieces, self._level)


def _caller() -> str:
    """File and line of the user code that uses a traced value."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_code.co_filename == __file__ or "numpy" in frame.f_globals.get("__name__", "").split(".")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def _of_numpy(made: Callable[..., Expr] | None, name: str, inputs: Sequence[Any]) -> Expr:
    """A function of NumPy as one of formulas; arguments are traced values and numbers."""
    if made is None:
        raise TypeError(f"{_caller()}: {name} cannot be applied to traced values; use operators and the functions of soleus.formula")
    plain = []
    for x in inputs:
        if not isinstance(x, Expr) and np.ndim(x) > 0:
            raise TypeError(
                f"{_caller()}: a traced value cannot be combined with an array; use vector(x, y, z), sum_of() and the other functions of soleus.formula"
            )
        plain.append(x if isinstance(x, Expr) else float(x))
    return made(*plain)


class Word(Expr):
    """A quantity of the model, or of one of its components by name."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        super().__init__([word], _ATOM)
        self._word = word

    def __call__(self, *names: str) -> Expr:
        if not names:
            raise TypeError(f"give the component of `{self._word}`, or omit the parentheses")
        return Expr([f"{self._word}[{', '.join(names)}]"], _ATOM)

    def __getitem__(self, name: str) -> Expr:
        return self(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Word, (self._word,)


class ModelSymbols:
    """The model at one point in time, as seen by a traced function."""

    def __getattr__(self, word: str) -> Word:
        if word.startswith("_"):
            raise AttributeError(word)
        return Word(word)

    def __getitem__(self, word: str) -> Word:
        """A parameter of the study, a definition or a table by name."""
        return Word(word)


def expr(value: Operand) -> Expr:
    """A number as an expression."""
    if isinstance(value, Expr):
        return value
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{number} cannot be used in a formula")
    text = str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
    return Expr([text], _UNARY if number < 0 else _ATOM)


def _text(root: Expr) -> str:
    """The formula; parts that occur several times become definitions."""
    uses: dict[int, int] = {}
    order: list[Expr] = []

    def count(e: Expr) -> None:
        uses[id(e)] = uses.get(id(e), 0) + 1
        if uses[id(e)] == 1:
            for piece in e._pieces:
                if not isinstance(piece, str):
                    count(piece[0])
            order.append(e)

    count(root)
    # What is but a word needs no other.
    shared = [e for e in order if uses[id(e)] > 1 and e is not root and len(e._pieces) > 1]
    names = {id(e): f"part{i}" for i, e in enumerate(shared)}

    def write(e: Expr, lowest: int, whole: bool = False) -> str:
        if id(e) in names and not whole:
            return names[id(e)]
        text = "".join(p if isinstance(p, str) else write(*p) for p in e._pieces)
        return text if e._level >= lowest or whole else f"({text})"

    parts = [write(root, _OR, True)]
    # Each may use those that come after it.
    parts += [f"{names[id(e)]} = {write(e, _OR, True)}" for e in reversed(shared)]
    return "; ".join(parts)


def call(name: str, *arguments: Operand) -> Expr:
    """A function of the formula language by name."""
    pieces: list[Any] = [f"{name}("]
    for i, a in enumerate(arguments):
        pieces += [", "] if i else []
        pieces.append((expr(a), _OR))
    return Expr([*pieces, ")"], _ATOM)


def where(condition: Expr | bool, a: Operand, b: Operand) -> Expr:
    """``a`` if the condition holds, otherwise ``b``. A condition that is a plain Python value is decided at once."""
    if not isinstance(condition, Expr):
        return expr(a if condition else b)
    return call("where", condition, a, b)


def vector(x: Operand, y: Operand, z: Operand) -> Expr:
    """A vector."""
    return Expr(["[", (expr(x), _OR), ", ", (expr(y), _OR), ", ", (expr(z), _OR), "]"], _ATOM)


def dot(a: Expr, b: Expr) -> Expr:
    """The dot product of two vectors."""
    return call("dot", a, b)


def cross(a: Expr, b: Expr) -> Expr:
    """The cross product of two vectors."""
    return call("cross", a, b)


def norm(v: Expr) -> Expr:
    """The length of a vector."""
    return call("norm", v)


def sum_of(e: Expr) -> Expr:
    """The sum over all matches of the patterns in ``e``."""
    return call("sum", e)


def mean_of(e: Expr) -> Expr:
    """The mean over all matches of the patterns in ``e``."""
    return call("mean", e)


def min_of(*e: Operand) -> Expr:
    """The minimum of several values, or over all matches of patterns."""
    return call("min", *e)


def max_of(*e: Operand) -> Expr:
    """The maximum of several values, or over all matches of patterns."""
    return call("max", *e)


def softplus(x: Operand, s: float = 1.0) -> Expr:
    """ln(1 + eˢˣ)/s: a smooth max(x, 0)."""
    return call("softplus", x, s)


def smooth_abs(x: Operand, w: float) -> Expr:
    """√(x² + w²)."""
    return call("smooth_abs", x, w)


def smooth_max(a: Operand, b: Operand, s: float = 1.0) -> Expr:
    """The larger of two values, with a smooth transition of width 1/s."""
    return call("smooth_max", a, b, s)


def smooth_min(a: Operand, b: Operand, s: float = 1.0) -> Expr:
    """The smaller of two values, with a smooth transition of width 1/s."""
    return call("smooth_min", a, b, s)


def smooth_step(x: Operand, s: float = 1.0) -> Expr:
    """(1 + tanh s x)/2."""
    return call("smooth_step", x, s)


def clamp(x: Operand, low: Operand, high: Operand) -> Expr:
    """``x`` limited to a range."""
    return call("clamp", x, low, high)


def linear(x: Operand, xs: Sequence[float], ys: Sequence[float]) -> Expr:
    """A table with linear interpolation."""
    return _interpolated("linear", x, xs, ys)


def spline(x: Operand, xs: Sequence[float], ys: Sequence[float]) -> Expr:
    """A table with natural cubic spline interpolation."""
    return _interpolated("spline", x, xs, ys)


def _interpolated(kind: str, x: Operand, xs: Sequence[float], ys: Sequence[float]) -> Expr:
    if len(xs) != len(ys):
        raise ValueError(f"a table needs as many x as y values, found {len(xs)} and {len(ys)}")
    lists = ["[" + ", ".join(str(expr(v)) for v in values) + "]" for values in (xs, ys)]
    return Expr([f"{kind}(", (expr(x), _OR), ", ", lists[0], ", ", lists[1], ")"], _ATOM)


def initial(e: Operand) -> Expr:
    """The value at the initial time; in goals."""
    return call("initial", e)


def final(e: Operand) -> Expr:
    """The value at the final time; in goals."""
    return call("final", e)


def integral(e: Operand) -> Expr:
    """The integral over time; in goals."""
    return call("integral", e)


def average(e: Operand) -> Expr:
    """The integral over time, divided by the duration; in goals."""
    return call("average", e)


def _elementary(name: str) -> Callable[[Operand], Expr]:
    def function(x: Operand) -> Expr:
        return call(name, x)

    function.__name__ = name
    function.__doc__ = f"{name}(x)."
    return function


sqrt, exp, log, sin, cos, tan = (_elementary(n) for n in ("sqrt", "exp", "log", "sin", "cos", "tan"))
asin, acos, atan, sinh, cosh, tanh = (_elementary(n) for n in ("asin", "acos", "atan", "sinh", "cosh", "tanh"))


def atan2(y: Operand, x: Operand) -> Expr:
    """The angle of the point (x, y), rad."""
    return call("atan2", y, x)


# What NumPy's functions are in formulas.
_UFUNCS: dict[str, Callable[..., Expr]] = {
    "add": lambda a, b: expr(a) + b,
    "subtract": lambda a, b: expr(a) - b,
    "multiply": lambda a, b: expr(a) * b,
    "divide": lambda a, b: expr(a) / b,
    "true_divide": lambda a, b: expr(a) / b,
    "power": lambda a, b: expr(a) ** b,
    "float_power": lambda a, b: expr(a) ** b,
    "negative": lambda a: -expr(a),
    "positive": expr,
    "absolute": lambda a: call("abs", a),
    "fabs": lambda a: call("abs", a),
    "square": lambda a: expr(a) ** 2,
    "reciprocal": lambda a: 1 / expr(a),
    "hypot": lambda a, b: call("hypot", a, b),
    "sign": lambda a: call("sign", a),
    "floor": lambda a: call("floor", a),
    "ceil": lambda a: call("ceil", a),
    "log10": lambda a: call("log10", a),
    "maximum": max_of,
    "fmax": max_of,
    "minimum": min_of,
    "fmin": min_of,
    "less": lambda a, b: expr(a) < b,
    "less_equal": lambda a, b: expr(a) <= b,
    "greater": lambda a, b: expr(a) > b,
    "greater_equal": lambda a, b: expr(a) >= b,
    "equal": lambda a, b: expr(a) == expr(b),
    "not_equal": lambda a, b: expr(a) != expr(b),
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_not": lambda a: ~a,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "invert": lambda a: ~a,
    "radians": lambda a: call("radians", a),
    "deg2rad": lambda a: call("radians", a),
    "degrees": lambda a: call("degrees", a),
    "rad2deg": lambda a: call("degrees", a),
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "arcsin": asin,
    "arccos": acos,
    "arctan": atan,
    "arctan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
}
_NUMPY: dict[str, Callable[..., Expr]] = {
    "numpy.where": where,
    "numpy.clip": clamp,
    "numpy.dot": dot,
    "numpy.cross": cross,
    "numpy.linalg.norm": norm,
}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _constants(constants: Mapping[str, float]) -> str:
    return "<constants>" + "".join(f"<{k}>{float(v)!r}</{k}>" for k, v in constants.items()) + "</constants>"


class Goal:
    """An optimal control goal given by a formula."""

    def __init__(self, name: str, formula: Expr | str, when: str = "integral") -> None:
        self.name = name
        self.formula = str(formula)
        self.when = when

    def __repr__(self) -> str:
        return f"goal {self.name}: {self.formula}"


class Force:
    """A force given by a formula: a generalized force on a coordinate, a force (N, in ground) at a point of a frame, or the tension (N) of a path."""

    def __init__(
        self,
        name: str,
        formula: Expr | str,
        *,
        coordinate: str | None = None,
        frame: str | None = None,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        constants: Mapping[str, float] | None = None,
        parameters: Mapping[str, tuple[float, float]] | None = None,
        control: tuple[float, float] | None = None,
        path: Sequence[tuple[str, Sequence[float]]] | None = None,
        states: Mapping[str, tuple[Expr | str, float]] | None = None,
    ) -> None:
        self.name = name
        self.formula = str(formula)
        self.coordinate, self.frame, self.point = coordinate, frame, tuple(point)
        self.path = None if path is None else [(str(f), tuple(float(x) for x in p)) for f, p in path]
        self.states = {k: (str(rate), float(start)) for k, (rate, start) in (states or {}).items()}
        self.constants = dict(constants or {})
        self.parameters = dict(parameters or {})
        self.control = control

    def to_xml(self) -> str:
        """The XML element for a model file."""
        parts = []
        if self.coordinate is not None:
            parts.append(f"<coordinate>{_escaped(self.coordinate)}</coordinate>")
        if self.frame is not None:
            parts.append(f"<frame>{_escaped(self.frame)}</frame><point>{' '.join(repr(float(x)) for x in self.point)}</point>")
        if self.path is not None:
            points = "".join(
                f'<PathPoint name="{_escaped(self.name)}-P{i + 1}"><socket_parent_frame>{_escaped(f)}</socket_parent_frame>'
                f"<location>{' '.join(map(repr, p))}</location></PathPoint>"
                for i, (f, p) in enumerate(self.path)
            )
            parts.append(f'<GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet></GeometryPath>')
        parts.append(f"<formula>{_escaped(self.formula)}</formula>{_constants(self.constants)}")
        states = "".join(
            f"<{k}><rate>{_escaped(rate)}</rate><default_value>{start!r}</default_value></{k}>" for k, (rate, start) in self.states.items()
        )
        parts.append(f"<states>{states}</states>")
        if self.control is not None:
            low, high = self.control
            parts.append(f"<min_control>{float(low)!r}</min_control><max_control>{float(high)!r}</max_control>")
        return f'<FormulaForce name="{_escaped(self.name)}">{"".join(parts)}</FormulaForce>'

    def __repr__(self) -> str:
        return f"force {self.name} on {self.coordinate or self.frame or 'a path'}: {self.formula}"


class Controller:
    """A controller given by a formula: its output is added to that of other controllers; in studies it is an equation for each control."""

    def __init__(
        self, name: str, formula: Expr | str, actuators: Sequence[str], constants: Mapping[str, float] | None = None
    ) -> None:
        self.name = name
        self.formula = str(formula)
        self.actuators = list(actuators)
        self.constants = dict(constants or {})

    def to_xml(self) -> str:
        """The XML element for a model file."""
        return (
            f'<FormulaController name="{_escaped(self.name)}"><actuator_list>{_escaped(" ".join(self.actuators))}</actuator_list>'
            f"<formula>{_escaped(self.formula)}</formula>{_constants(self.constants)}</FormulaController>"
        )

    def __repr__(self) -> str:
        return f"controller {self.name} of {', '.join(self.actuators)}: {self.formula}"


def traced(function: Callable[..., Any], *names: str) -> Expr:
    """The return value of a function called with symbols."""
    found = function(ModelSymbols(), *(Word(n) for n in names))
    if not isinstance(found, (Expr, int, float)):
        raise TypeError(f"`{function.__name__}` returned a {type(found).__name__}, not a traced value")
    return expr(found)


def _all_traced(function: Callable[..., Any], rates: int, *names: str) -> list[Expr]:
    """The force, and the rates of its states if it has any."""
    if rates == 0:
        return [traced(function, *names)]
    found = function(ModelSymbols(), *(Word(n) for n in names))
    if not isinstance(found, tuple) or len(found) != rates + 1:
        raise TypeError(f"`{function.__name__}` has {rates} states: it must return the force and {rates} rates")
    return [expr(x) for x in found]


def controller(
    actuators: Sequence[str] | str, *, constants: Mapping[str, float] | None = None, name: str | None = None
) -> Callable[[Callable[..., Any]], Controller]:
    """Converts a function of model symbols and named constants to a controller: ``m.length``, ``m.lengthening_speed`` and ``m.activation`` are those of
    the actuator. ``model.add`` adds it to a model."""

    def made(function: Callable[..., Any]) -> Controller:
        import inspect

        numbers = dict(constants or {})
        wanted = list(inspect.signature(function).parameters)[1:]
        missing = [w for w in wanted if w not in numbers]
        if missing:
            raise TypeError(f"`{function.__name__}` takes `{missing[0]}`, which is not a constant of the controller")
        names = [actuators] if isinstance(actuators, str) else actuators
        return Controller(name or function.__name__, traced(function, *wanted), names, numbers)

    return made


@overload
def goal(function: Callable[..., Any], *, when: str = ..., name: str | None = ...) -> Goal: ...
@overload
def goal(*, when: str = ..., name: str | None = ...) -> Callable[[Callable[..., Any]], Goal]: ...
@overload
def goal(*, callback: Sequence[str], name: str | None = ...) -> Callable[[Callable[..., Any]], CallbackGoal]: ...
def goal(
    function: Callable[..., Any] | None = None,
    *,
    when: str = "integral",
    name: str | None = None,
    callback: Sequence[str] | None = None,
) -> Any:
    """Converts a function of model symbols to a goal. The goal is the integral of the value, or with ``when="initial"`` or ``"final"`` its value at one
    end; :func:`initial`, :func:`final`, :func:`integral` and :func:`average` can be used in the formula instead.

    With ``callback=["knee_angle_r/value", "soleus_r/activation", …]`` the function is not traced: it is called with an array that has one row per point in
    time and a column for each of these states and controls, and returns one value per row. Derivatives are found by differences, and the study is
    solved several times; for prototypes with code that cannot be traced."""

    def made(f: Callable[..., Any]) -> Goal | CallbackGoal:
        if callback is None:
            return Goal(name or f.__name__, traced(f), when)
        from ._callback import CallbackGoal

        if when != "integral":
            raise TypeError("a goal that is a plain function is an integral over time")
        return CallbackGoal(name or f.__name__, f, callback)

    return made if function is None else made(function)


def force(
    *,
    coordinate: str | None = None,
    frame: str | None = None,
    point: Sequence[float] = (0.0, 0.0, 0.0),
    constants: Mapping[str, float] | None = None,
    parameters: Mapping[str, tuple[float, float]] | None = None,
    control: tuple[float, float] | None = None,
    path: Sequence[tuple[str, Sequence[float]]] | None = None,
    states: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Force]:
    """Converts a function of model symbols and named constants to a force. ``parameters`` are constants to optimise, with their bounds; the others have
    the values in ``constants``. A force acts on a ``coordinate``, on a ``point`` of a ``frame``, or along a ``path`` of points, ``[("/bodyset/thigh",
    (0, -0.2, 0)), …]``, and can then use ``m.length`` and ``m.lengthening_speed``.

    ``states`` are additional states with their initial values; the function then returns the force and their rates, and can use them by name:
    ``m["activation"]``."""

    def made(function: Callable[..., Any]) -> Force:
        numbers = {**{k: 0.5 * (a + b) for k, (a, b) in (parameters or {}).items()}, **(constants or {})}
        import inspect

        wanted = list(inspect.signature(function).parameters)[1:]
        missing = [w for w in wanted if w not in numbers]
        if missing:
            raise TypeError(f"`{function.__name__}` takes `{missing[0]}`, which is neither a constant nor a parameter of the force")
        starts = dict(states or {})
        formula, *rates = _all_traced(function, len(starts), *wanted)
        return Force(
            name or function.__name__,
            formula,
            path=path,
            states={k: (rate, start) for (k, start), rate in zip(starts.items(), rates)},
            coordinate=coordinate,
            frame=frame,
            point=point,
            constants=numbers,
            parameters=parameters,
            control=control,
        )

    return made
