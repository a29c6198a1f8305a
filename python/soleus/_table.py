"""Time series."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _soleus

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Array = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]


class Table:
    """Time series: the columns of a motion, marker or force file.

    Tables are immutable; methods return a new table. Columns of numbers are read-only NumPy views of the table's memory; columns of vectors (markers)
    are arrays with three columns."""

    __slots__ = ("_core",)
    _core: _soleus.Table

    def __init__(
        self,
        time: ArrayLike,
        columns: Mapping[str, ArrayLike],
        *,
        degrees: bool | None = None,
        name: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """A table from columns by label: numbers, or three columns each for vectors."""
        t = np.ascontiguousarray(time, dtype=np.float64)
        arrays = [np.asarray(c, dtype=np.float64) for c in columns.values()]
        widths = {a.shape[1] if a.ndim == 2 else 1 for a in arrays}
        if len(widths) > 1:
            raise ValueError("columns of a table must be all numbers, or all vectors of the same size")
        for label, a in zip(columns, arrays):
            if a.shape[:1] != t.shape:
                raise ValueError(f"column `{label}` has {a.shape[0] if a.ndim else 1} rows, but there are {t.size} times")
        width = widths.pop() if widths else 1
        values = np.column_stack(arrays) if arrays else np.zeros((t.size, 0))
        element = "double" if width == 1 else f"Vec{width}"
        pairs = list(metadata.items()) if metadata else None
        self._core = _soleus.Table(t, list(columns), np.ascontiguousarray(values), name, degrees, element, pairs)

    @classmethod
    def _of(cls, core: _soleus.Table) -> Table:
        table = object.__new__(cls)
        table._core = core
        return table

    # What it holds.

    @property
    def time(self) -> Array:
        """Times, s."""
        return self._core.time

    @property
    def labels(self) -> list[str]:
        """Labels of the columns, without time."""
        return self._core.labels

    @property
    def degrees(self) -> bool | None:
        """Whether angles are in degrees; ``None`` if the file does not say."""
        return self._core.degrees

    @property
    def name(self) -> str:
        """Name of the data: the first line of a .sto file."""
        return self._core.name

    @property
    def metadata(self) -> dict[str, str]:
        """Keys and values of the header."""
        return dict(self._core.metadata)

    @property
    def units(self) -> str | None:
        """Unit of length of markers, if the file states it."""
        return self.metadata.get("Units")

    @property
    def is_vectors(self) -> bool:
        """Whether columns are vectors, such as marker positions."""
        return self._core.element != "double"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of labels."""
        return len(self._core), len(self.labels)

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._core.labels

    def __getitem__(self, label: str) -> Array:
        """The column with this label; a view of the table's memory, except for vectors."""
        return self._core.column(label)

    def to_numpy(self) -> Array:
        """All numbers: one row per time, one column per label or vector component."""
        return self._core.values()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self._core)

    def __reduce__(self) -> tuple[Any, ...]:
        return Table._of, (self._core,)

    # Other tables made of it.

    def lowpass(self, cutoff_hz: float) -> Table:
        """Low-pass filter: third-order Butterworth, zero phase, as in OpenSim's tools. The cutoff must be below half the rate of the rows; as in OpenSim,
        a higher one is lowered to 0.49 of the rate, with a warning."""
        if len(self) > 1:
            rate = (len(self) - 1) / float(self.time[-1] - self.time[0])
            if cutoff_hz >= 0.5 * rate:
                message = f"a cutoff of {cutoff_hz:g} Hz is not below half the rate of the rows ({rate:.4g} Hz); {0.49 * rate:.4g} Hz is used"
                warnings.warn(message, UserWarning, stacklevel=2)
        return Table._of(self._core.lowpass(cutoff_hz))

    def resample(self, rate_hz: float | None = None, *, times: ArrayLike | None = None, degree: int = 5) -> Table:
        """Resamples by splines, to a number of rows per second or to given times."""
        if (rate_hz is None) == (times is None):
            raise TypeError("give either a rate or times")
        if rate_hz is not None:
            return Table._of(self._core.resample(rate_hz))
        return Table._of(self._core.resample_at(np.ascontiguousarray(times, dtype=np.float64), degree))

    def derivative(self, order: int = 1, *, degree: int = 5) -> Table:
        """The time derivative, by splines."""
        return Table._of(self._core.derivative(order, degree))

    def trim(self, first: float = float("-inf"), last: float = float("inf")) -> Table:
        """The rows with first ≤ time ≤ last."""
        return Table._of(self._core.trim(first, last))

    def select(self, labels: Iterable[str]) -> Table:
        """Only the given columns, in this order."""
        return Table._of(self._core.select(list(labels)))

    def rename(self, labels: Mapping[str, str]) -> Table:
        """With the given labels replaced."""
        for label in labels:
            if label not in self:
                self._core.column(label)
        return Table._of(self._core.rename([labels.get(x, x) for x in self.labels]))

    def flatten(self) -> Table:
        """One column per vector component: ``knee_1``, ``knee_2``, ``knee_3``."""
        return Table._of(self._core.flatten())

    def pack(self) -> Table:
        """Vectors from groups of three columns: ``knee_x``, ``knee_y``, ``knee_z`` or ``knee_1`` …"""
        return Table._of(self._core.pack())

    def convert(self, units: str | None = None, rotate: Sequence[str] = ()) -> Table:
        """Vectors in another unit of length, rotated about axes in the given order: ``rotate=["x:-90"]`` (degrees)."""
        return Table._of(self._core.convert(units, list(rotate)))

    def replace(
        self, *, name: str | None = None, degrees: bool | None = None, metadata: Mapping[str, str] | None = None
    ) -> Table:
        """With another header. Numbers are not changed."""
        return Table._of(self._core.replace(name, degrees, None if metadata is None else list(metadata.items())))

    def with_columns(self, columns: Mapping[str, ArrayLike]) -> Table:
        """With columns replaced or added."""
        all_columns = {label: self[label] for label in self.labels}
        all_columns.update({label: np.asarray(c, dtype=np.float64) for label, c in columns.items()})
        return Table(self.time, all_columns, degrees=self.degrees, name=self.name, metadata=self.metadata)

    # Files and other libraries.

    def write(self, path: PathLike, *, fixed_digits: bool = False) -> None:
        """Writes a file: .sto, .mot, .trc, .csv or .parquet, with full precision, or with OpenSim's eight decimals (``fixed_digits``)."""
        self._core.write(path, fixed_digits)

    save = write

    def to_bytes(self, name: str = "table.sto", *, fixed_digits: bool = False) -> bytes:
        """The bytes of a file; the extension of the name gives the format."""
        return self._core.to_bytes(name, fixed_digits)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame, without copying numbers."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow table, without copying numbers."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas data frame with the times as its index, without copying numbers (except those of vectors, which become three columns)."""
        import pandas

        # Components of vectors lie beside each other: their columns are made.
        flat = self.flatten() if any(self[label].ndim > 1 for label in self.labels) else self
        index = pandas.Index(flat.time, name="time")
        return pandas.DataFrame({label: flat[label] for label in flat.labels}, index=index, copy=False)

    @staticmethod
    def from_arrow(source: object, *, time: str = "time", degrees: bool | None = None) -> Table:
        """A table from a data frame: polars, pandas (≥ 2.2), pyarrow, DuckDB, or any other object with Arrow's capsule interface.

        pyarrow keeps what the header of the table says (units, degrees, vectors); polars, pandas and DuckDB do not: give ``degrees``, and units with
        :meth:`replace`."""
        return Table._of(_soleus.Table.from_arrow(source, time, degrees))

    def __repr__(self) -> str:
        rows, n = self.shape
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if rows else ""
        kind = "vectors" if self.is_vectors else "columns"
        head = f"Table {self.name!r}: {rows} rows{span}, {n} {kind}"
        if self.degrees is not None:
            head += ", degrees" if self.degrees else ", radians"
        names = self.labels
        shown = ", ".join(names[:12]) + (f", … ({n - 12} more)" if n > 12 else "")
        return f"{head}\n  {shown}" if names else head

    def _repr_html_(self) -> str:
        flat = self.flatten()
        labels, values, rows = flat.labels[:10], flat.to_numpy(), len(self)
        shown = list(range(min(rows, 5))) + list(range(max(5, rows - 3), rows))
        cells = "".join(f"<th>{_escape(x)}</th>" for x in ["time", *labels])
        body = ""
        for k, i in enumerate(shown):
            if k == 5 and rows > 8:
                body += f"<tr><td colspan={len(labels) + 1}>…</td></tr>"
            numbers = [flat.time[i], *values[i, : len(labels)]]
            body += "<tr>" + "".join(f"<td>{x:.5g}</td>" for x in numbers) + "</tr>"
        title = _escape(repr(self).splitlines()[0])
        return f"<div><p>{title}</p><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(source: PathLike | bytes, *, take: str = "markers", threshold: float = 0.0, name: str = "table.sto") -> Table:
    """Reads a table: .sto, .mot, .trc, .csv, .parquet or .c3d.

    ``take`` selects what to read from a .c3d: ``markers``, ``forces`` (ground reactions; 0 where the normal force is below ``threshold`` N) or
    ``analog``. The format of bytes is given by the extension of ``name``."""
    if isinstance(source, bytes):
        return Table._of(_soleus.read_table_bytes(source, name, take, threshold))
    return Table._of(_soleus.read_table(source, take, threshold))
