"""Tables: files, filters, Arrow."""

from __future__ import annotations

import pathlib
import pickle
import warnings

import numpy as np
import pytest

import soleus as sl


def motion(n: int = 201) -> sl.Table:
    t = np.linspace(0.0, 2.0, n)
    columns = {"knee": 30 * np.sin(2 * np.pi * t), "hip": 10 * np.cos(2 * np.pi * t)}
    return sl.Table(t, columns, degrees=True, name="swing")


def markers() -> sl.Table:
    t = np.arange(100) / 100
    a = np.column_stack([t, 1 + 0.1 * t, 0 * t])
    return sl.Table(t, {"A": a, "B": a + 0.5}, metadata={"Units": "m", "DataRate": "100"})


@pytest.mark.parametrize("ending", ["sto", "mot", "csv", "parquet"])
def test_identity_written_and_read_again(ending: str, tmp_path: pathlib.Path) -> None:
    table = motion()
    file = tmp_path / f"swing.{ending}"
    table.write(file)
    again = sl.table(file)
    assert again.labels == table.labels
    np.testing.assert_array_equal(again.time, table.time)
    np.testing.assert_array_equal(again["knee"], table["knee"])
    assert again.degrees is (None if ending == "csv" else True), "only a .csv cannot say it"
    assert sl.table(file.read_bytes(), name=file.name) == again


def test_identity_markers_written_and_read_again(tmp_path: pathlib.Path) -> None:
    table = markers()
    table.write(tmp_path / "m.trc")
    again = sl.table(tmp_path / "m.trc")
    assert again.is_vectors and again.units == "m" and again["A"].shape == (100, 3)
    np.testing.assert_allclose(again["B"], table["B"], atol=1e-9)
    assert table.flatten().labels[:3] == ["A_1", "A_2", "A_3"]
    assert table.flatten().pack() == table.replace()


def test_analytic_columns_are_views(tmp_path: pathlib.Path) -> None:
    table = motion()
    knee = table["knee"]
    assert not knee.flags.writeable and not knee.flags.owndata
    again = table["knee"]
    assert np.shares_memory(knee, again)
    kept = knee.copy()
    del table
    np.testing.assert_array_equal(knee, kept), "the memory lives as long as somebody looks at it"
    with pytest.raises(ValueError):
        knee[0] = 1.0


def test_analytic_filters_keep_slow_waves() -> None:
    table = motion()
    slow = table.lowpass(10.0)
    # A third-order Butterworth at 10 Hz, twice, leaves 1 Hz to within 1e-6 in amplitude; ends are padded.
    np.testing.assert_allclose(slow["knee"][40:-40], table["knee"][40:-40], atol=0.01)
    fine = table.resample(1000)
    assert len(fine) == 2001
    # Splines of degree 5 through 100 points per period.
    np.testing.assert_allclose(fine["knee"][100:-100], (30 * np.sin(2 * np.pi * fine.time))[100:-100], atol=1e-6)
    speed = table.derivative()
    np.testing.assert_allclose(speed["knee"][20:-20], (60 * np.pi * np.cos(2 * np.pi * table.time))[20:-20], atol=1e-4)
    at = table.resample(times=[0.25, 0.5])
    np.testing.assert_allclose(at["knee"], [30.0, 0.0], atol=1e-6)
    assert len(table.trim(0.5, 1.0)) == 51 and table.select(["hip"]).labels == ["hip"]
    assert table.rename({"hip": "h"}).labels == ["knee", "h"]
    for other in (slow, fine, speed, at):
        assert other.degrees is True, "what is in degrees stays so"


def test_analytic_wrong_names_and_shapes() -> None:
    with pytest.raises(KeyError, match="did you mean `knee`"):
        motion()["kne"]
    with pytest.raises(KeyError, match="did you mean `hip`"):
        motion().select(["hipp"])
    with pytest.raises(ValueError, match="rows"):
        sl.Table([0.0, 1.0], {"a": [1.0]})
    with pytest.raises(sl.TableError):
        motion().to_bytes("swing.xyz")
    with pytest.raises(sl.FileError):
        sl.table("there/is/none.sto")
    with pytest.raises(sl.TableError) as caught:
        sl.table(b"swing\nendheader\ntime\ta\n0\tx\n", name="a.sto")
    assert caught.value.diagnostics and caught.value.diagnostics[0].line == 4


def test_identity_pickle() -> None:
    for table in (motion(), markers()):
        again = pickle.loads(pickle.dumps(table))
        assert again == table and again.name == table.name and again.metadata == table.metadata


def test_identity_polars_and_back() -> None:
    polars = pytest.importorskip("polars")
    table = motion()
    frame = table.to_polars()
    assert frame.columns == ["time", "knee", "hip"]
    assert np.shares_memory(frame["knee"].to_numpy(), table["knee"]), "Arrow passes the memory on"
    again = sl.Table.from_arrow(frame, degrees=True)
    assert again == table
    flat = polars.DataFrame({"time": [0, 1, 2], "a": [1.0, None, 3.0], "b": polars.Series([1, 2, 3], dtype=polars.Float32)})
    read = sl.Table.from_arrow(flat)
    np.testing.assert_array_equal(read["a"], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(read["b"], [1.0, 2.0, 3.0])
    with pytest.raises(sl.TableError, match="does not contain numbers"):
        sl.Table.from_arrow(polars.DataFrame({"time": [0.0], "a": ["x"]}))
    with pytest.raises(sl.TableError, match="called `time`"):
        sl.Table.from_arrow(polars.DataFrame({"a": [0.0]}))


def test_identity_pyarrow_keeps_the_header() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = motion()
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    again = sl.Table.from_arrow(arrow)
    assert again == table and again.name == "swing" and again.degrees is True
    # Several pieces, and one that begins in the middle.
    pieces = pyarrow.concat_tables([arrow.slice(0, 7), arrow.slice(7, 100), arrow.slice(107)])
    assert sl.Table.from_arrow(pieces) == table


def test_identity_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = motion()
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert np.shares_memory(frame["knee"].to_numpy(), table["knee"]), "nothing is copied"
    frame["knee"] *= 2  # pandas copies what is written to
    assert table["knee"].max() == pytest.approx(30.0)
    pyarrow = pytest.importorskip("pyarrow")
    typed = pyarrow.table(table).to_pandas(types_mapper=pandas.ArrowDtype)
    assert np.shares_memory(typed["knee"].to_numpy(), table["knee"])
    frame = table.to_pandas()
    assert sl.Table.from_arrow(frame.reset_index(), degrees=True) == table


def test_identity_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    swing = motion()
    # The table itself, by its capsule, as often as somebody asks.
    for _ in range(2):
        assert duckdb.sql("select count(*), max(knee) from swing").fetchall() == [(201, 30.0)]
    pytest.importorskip("pyarrow")
    arrow = motion().to_arrow()
    assert len(arrow) == 201
    assert duckdb.sql("select count(*), max(knee) from arrow").fetchall() == [(201, 30.0)]


def test_analytic_damaged_files_are_refused(reference: pathlib.Path) -> None:
    """Files that claim what they do not hold: an exception with a remedy, or a table."""
    for file in sorted((reference.parent / "reliability").glob("*.c3d"))[:20]:
        try:
            assert len(sl.table(file).labels) > 0
        except sl.Error as e:
            assert str(e)


def test_identity_units_and_vectors_survive_pyarrow() -> None:
    pytest.importorskip("pyarrow")
    t = np.linspace(0, 1, 11)
    markers = sl.Table(t, {"A": np.ones((11, 3)), "B": np.zeros((11, 3))}, name="trial", metadata={"Units": "mm", "DataRate": "10"})
    again = sl.Table.from_arrow(markers.to_arrow())
    assert again == markers and again.units == "mm" and again.is_vectors and again.metadata == markers.metadata
    part = sl.Table.from_arrow(markers.to_arrow().select(["time", "A_1", "B_2"]))
    assert part.labels == ["A_1", "B_2"] and part.units == "mm"


def test_analytic_a_cutoff_above_half_the_rate_warns() -> None:
    table = sl.Table(np.linspace(0, 1, 101), {"x": np.sin(np.linspace(0, 9, 101))})
    with pytest.warns(UserWarning, match="60 Hz is not below half the rate of the rows \\(100 Hz\\); 49 Hz is used"):
        table.lowpass(60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.lowpass(6.0)
