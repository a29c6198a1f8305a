"""Read, look, change, compile."""

from __future__ import annotations

import copy
import errno
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import soleus as sl


def test_identity_repr_is_what_the_command_prints(models: pathlib.Path) -> None:
    file = models / "leg_swing.osim"
    command = [sys.executable, "-m", "soleus._command", "info", str(file)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert repr(sl.read(file)) == printed.rstrip()


def test_identity_a_file_and_its_bytes(models: pathlib.Path) -> None:
    file = models / "gait2d.osim"
    assert repr(sl.read(file)) == repr(sl.read(file.read_bytes()))


def test_analytic_properties_by_path(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    soleus = model["/forceset/soleus"]
    assert soleus.name == "soleus" and soleus.class_name == "Millard2012EquilibriumMuscle"
    assert soleus.max_isometric_force == 4000.0
    assert soleus.max_contraction_velocity == 10.0, "the default, which the file may leave out"
    assert soleus.ignore_tendon_compliance is False
    assert model["soleus"] == soleus, "a name that only one component has"
    assert len(model["/bodyset/thigh"].mass_center) == 3
    assert "max_isometric_force" in dir(soleus)


def test_analytic_changes_count(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    other = model.copy()
    model["/forceset/soleus"].max_isometric_force *= 0.5
    assert model["/forceset/soleus"].max_isometric_force == 2000.0
    assert other["/forceset/soleus"].max_isometric_force == 4000.0
    # Passive fibers, at the activation of both: fiber and tendon of half the strength at the same lengths have half the force.
    weak, strong = (m.compile().evaluate(want="muscle.tendon_force", equilibrate=True) for m in (model, other))
    i = model.compile().muscles.index("/forceset/soleus")
    np.testing.assert_allclose(weak[i], 0.5 * strong[i], rtol=1e-6)
    np.testing.assert_array_equal(np.delete(weak, i), np.delete(strong, i))


def test_analytic_whole_columns(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    before = model.muscles.max_isometric_force
    model.muscles.max_isometric_force = 0.8 * before
    np.testing.assert_array_equal(model.muscles.max_isometric_force, 0.8 * before)
    model.muscles.max_control = 0.9
    assert all(m.max_control == 0.9 for m in model.muscles)
    with pytest.raises(ValueError, match="8 muscles"):
        model.muscles.max_control = [1.0, 2.0]


def test_analytic_parts_inside_components(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    path = model["/forceset/soleus"].path
    assert isinstance(path, str), "the path of the component itself"
    geometry = model["/forceset/soleus"]["path"]
    assert geometry.path == "/forceset/soleus/path"


def test_analytic_wrong_names_list_the_nearest(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    with pytest.raises(KeyError, match="/forceset/soleus"):
        model["/forceset/soleuss"]
    with pytest.raises(AttributeError, match="did you mean `max_isometric_force`"):
        model["/forceset/soleus"].max_isometric_forse
    with pytest.raises(AttributeError, match="did you mean `max_isometric_force`"):
        model["/forceset/soleus"].max_isometric_forse = 1.0
    with pytest.raises(KeyError, match="did you mean `soleus`"):
        model.muscles["soleuss"]


def test_analytic_errors_hold_their_diagnostics(models: pathlib.Path) -> None:
    text = (models / "leg_swing.osim").read_text()
    wrong = text.replace("<max_isometric_force>4000", "<max_isometric_force>many", 1).replace("<mass>", "<mass>-", 1)
    with pytest.raises(sl.ModelError) as caught:
        sl.read(wrong.encode())
    errors = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert len(errors) == 2 and all(d.line > 0 for d in errors)
    assert any("many" in d.message and d.component == "/forceset/soleus" for d in errors)
    # What was changed is looked at when the model is compiled.
    model = sl.read(models / "leg_swing.osim")
    model["/forceset/soleus"].optimal_fiber_length = -1.0
    with pytest.raises(sl.ModelError, match="optimal_fiber_length"):
        model.compile()
    model["/forceset/soleus"].optimal_fiber_length = 0.055
    model.compile()


def test_analytic_a_file_that_is_not_there(models: pathlib.Path) -> None:
    with pytest.raises(sl.FileError, match="leg_swing.osim") as caught:
        sl.read(models / "leg_swin.osim")
    assert isinstance(caught.value, OSError) and isinstance(caught.value, sl.Error)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_identity_saved_and_read_again(models: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = sl.read(models / "gait2d.osim")
    model.muscles[0].max_isometric_force = 1234.5
    model.save(tmp_path / "changed.osim")
    again = sl.read(tmp_path / "changed.osim")
    assert again.muscles[0].max_isometric_force == 1234.5
    a, b = (m.compile().evaluate(want=["udot", "zdot"], equilibrate=True) for m in (model, again))
    np.testing.assert_array_equal(a["udot"], b["udot"])
    np.testing.assert_array_equal(a["zdot"], b["zdot"])


def test_identity_pickle_and_deepcopy(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    model["/forceset/soleus"].max_isometric_force = 3141.0
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other["/forceset/soleus"].max_isometric_force == 3141.0
        assert other.to_bytes() == model.to_bytes()
    system = model.compile()
    again = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(system.evaluate(), again.evaluate())


def test_analytic_tables_of_components(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    columns = model.muscles.columns()
    assert columns["name"] == model.muscles.names and len(columns["max_isometric_force"]) == 8
    polars = pytest.importorskip("polars")
    frame = model.muscles.to_polars()
    assert frame.shape[0] == 8 and frame["max_isometric_force"].dtype == polars.Float64
    assert polars.DataFrame(polars.from_arrow(pytest.importorskip("pyarrow").table(model.coordinates))).shape[0] == 3


def test_analytic_html_has_the_figure(models: pathlib.Path) -> None:
    html = sl.read(models / "leg_swing.osim")._repr_html_()
    assert "<svg" in html and "leg_swing" in html


def test_identity_reference_models_have_every_property(reference: pathlib.Path) -> None:
    """Every property of every component can be read, and writing back what was read changes nothing."""
    for name in ("arm26.osim", "gait10dof18musc.osim", "gait2354_simbody.osim"):
        model = sl.read(reference / "models" / name)
        before = model.compile().evaluate(want=["udot"], equilibrate=True)["udot"]
        for path, _ in model.components:
            component = model[path]
            for key, value in component.properties().items():
                if isinstance(value, (float, bool)) and value is not None:
                    setattr(component, key, value)
        after = model.compile().evaluate(want=["udot"], equilibrate=True)["udot"]
        np.testing.assert_array_equal(before, after, err_msg=name)


def test_identity_components_travel() -> None:
    model = sl.example("leg_swing")
    for one in (model["soleus"], model.muscles, model["soleus"]["path"]):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert repr(again) == repr(one)
    copied = copy.deepcopy(model["soleus"])
    copied.max_isometric_force = 1.0
    assert model["soleus"].max_isometric_force != 1.0


def test_identity_errors_travel(tmp_path: pathlib.Path) -> None:
    with pytest.raises(sl.FileError) as caught:
        sl.read(tmp_path / "nowhere.osim")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.errno == caught.value.errno == errno.ENOENT and str(again) == str(caught.value)
    stopped = pickle.loads(pickle.dumps(sl.Interrupted(partial=[1])))
    assert stopped.partial == [1]


ADDED = {
    "contacts": '<ContactSphere name="new"><socket_frame>/bodyset/shank</socket_frame><radius>0.1</radius></ContactSphere>',
    "markers": '<?xml version="1.0"?>\n<!-- of the <lab> -->\n<Marker name="new"><socket_parent_frame>/bodyset/shank</socket_parent_frame></Marker>',
    "constraints": '<PointConstraint name="new"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/shank</socket_body_2></PointConstraint>',
    "bodies": '<Body name="new"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>',
    "controllers": '<PrescribedController name="new"></PrescribedController>',
    "forces": '<CoordinateActuator name="new"><coordinate>knee_angle</coordinate><optimal_force>1</optimal_force></CoordinateActuator>',
}


@pytest.mark.parametrize("kind", ADDED)
def test_analytic_added_components_are_in_the_set_of_their_class(kind: str) -> None:
    model = sl.example("leg_swing")
    before = len(getattr(model, kind))
    added = model.add(ADDED[kind])
    assert added.name == "new" and len(getattr(model, kind)) == before + 1 and getattr(model, kind)["new"] == added
    model.compile()
    if kind == "bodies":
        joint = model.add(
            '<WeldJoint name="to_new"><socket_parent_frame>/bodyset/foot</socket_parent_frame><socket_child_frame>/bodyset/new</socket_child_frame></WeldJoint>'
        )
        assert joint.path == "/jointset/to_new"
        model.compile()


def test_analytic_what_cannot_be_added_changes_nothing() -> None:
    model = sl.example("leg_swing")
    before = model.to_bytes()
    for text, message in [
        ('<Marker name="x"><socket_parent_frame>/bodyset/nobody</socket_parent_frame></Marker>', "nobody"),
        ('<Nonsense name="x"/>', "Nonsense"),
        ('<WrapCylinder name="x"/>', "part of a body"),
        ('<Coordinate name="x"/>', "part of a joint"),
        ("no element", "XML element"),
    ]:
        with pytest.raises(sl.InputError, match=message):
            model.add(text)
        assert model.to_bytes() == before
    model.compile()


def test_analytic_tables_and_figures_of_notebooks() -> None:
    model = sl.example("leg_swing")
    assert "<td>soleus</td>" in model.muscles._repr_html_() and "max_isometric_force" in model["soleus"]._repr_html_()
    motion = model.simulate(0.02)
    assert "<svg" in motion._repr_html_() and "<pre>Motion" in pickle.loads(pickle.dumps(motion))._repr_html_()
    study = sl.predict.walk(sl.example("gait2d"))
    assert "goals: " in repr(study) and len(repr(study)) < 1000 and "<pre>Study" in study._repr_html_()


def test_analytic_properties_that_nobody_reads_are_numbers() -> None:
    model = sl.example("leg_swing")
    assert model["soleus"].optimal_force is None
    model["soleus"].optimal_force = 1
    assert model["soleus"].optimal_force == 1.0
