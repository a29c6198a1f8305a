//! Operators on models against what OpenSim 4.6 makes of the same model: the study that MocoInverse wrote holds its result.

use soleus_io::osim::{read_document, read_model_element, upgrade};
use soleus_io::setup::moco::MocoInverseSetup;
use soleus_io::setup::{Setup, read};
use soleus_io::study::ModelStepKind;
use soleus_model::force::ForceKind;
use soleus_model::operator::{apply_all, apply_all_to_element};
use soleus_model::{Diagnostics, Document, Element, Model, ModelOperator};
use soleus_testing::{reference_test, shared};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(shared!("reference/moco"))
}

fn document(path: &std::path::Path) -> Document {
    let (document, mut log) = read_document(&std::fs::read(path).unwrap(), &path.display().to_string());
    let mut document = document.unwrap();
    upgrade(&mut document, &mut log);
    document
}

fn setup(path: &std::path::Path) -> Setup {
    let mut log = Diagnostics::new(path.display().to_string());
    read(&document(path), &mut log).unwrap_or_else(|| panic!("{:?}", log.list))
}

/// The model of the tool, changed by us.
fn changed(folder: &std::path::Path, s: &MocoInverseSetup) -> Model {
    let mut model =
        document(&folder.join("models/subject_walk_scaled.osim")).root.take_child("Model").unwrap();
    let operators: Vec<ModelOperator> = s
        .tool
        .model_steps
        .iter()
        .filter_map(|step| match &step.kind {
            ModelStepKind::Operator(o) => Some(o.clone()),
            ModelStepKind::FunctionBasedPaths(file) => {
                let root = document(&folder.join("data").join(file)).root;
                let set = root.children().find_map(|c| c.child("objects")).unwrap();
                Some(ModelOperator::ReplacePaths(set.children().cloned().collect::<Vec<Element>>()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(operators.len(), s.tool.model_steps.len() - 1, "all but the loads");
    apply_all_to_element(&mut model, &operators).unwrap();
    let (built, log) = read_model_element(&model, "changed");
    let mut built = built.unwrap_or_else(|| panic!("{:?}", log.list));
    apply_all(&mut built, &operators).unwrap();
    built
}

/// Two numbers that were written with six digits or more.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * (a.abs() + b.abs()) || a == b
}

#[reference_test]
fn opensim_val_model_of_an_inverse() {
    let folder = folder();
    let Setup::MocoInverse(tool) = setup(&folder.join("settings/inverse3d_tool.xml")) else {
        panic!("no tool")
    };
    let ours = changed(&folder, &tool);
    let Setup::MocoStudy(study) = setup(&folder.join("settings/inverse3d.omoco")) else { panic!("no study") };
    let (theirs, log) = read_model_element(&study.model.unwrap(), "OpenSim's");
    let theirs = theirs.unwrap_or_else(|| panic!("{:?}", log.list));

    let names = |m: &Model| m.coordinates.iter().map(|c| c.path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    assert_eq!(ours.coordinates.len(), 31);
    assert!(ours.joints.iter().filter(|j| j.name.starts_with("mtp")).all(|j| j.coordinates.is_empty()));
    let acts = |m: &Model| m.forces.iter().filter(|f| !matches!(f.kind, ForceKind::ExternalForce(_))).count();
    assert_eq!(acts(&ours), acts(&theirs));
    let mut muscles = 0;
    for f in &ours.forces {
        let other = theirs.forces.iter().find(|o| o.path == f.path);
        let other = other.unwrap_or_else(|| panic!("OpenSim has no {}", f.path));
        assert_eq!(f.class, other.class, "{}", f.path);
        match (&f.kind, &other.kind) {
            (ForceKind::Muscle(a), ForceKind::Muscle(b)) => {
                muscles += 1;
                assert!(close(a.max_isometric_force, b.max_isometric_force), "{}", f.path);
                assert!(close(a.tendon_slack_length, b.tendon_slack_length), "{}", f.path);
                assert_eq!((a.min_control, a.max_control), (b.min_control, b.max_control), "{}", f.path);
                assert!(a.ignore_tendon_compliance && b.ignore_tendon_compliance);
                assert_eq!(a.kind, b.kind, "{}", f.path);
            }
            (ForceKind::CoordinateActuator(a), ForceKind::CoordinateActuator(b)) => assert_eq!(a, b),
            (a, b) => assert_eq!(std::mem::discriminant(a), std::mem::discriminant(b), "{}", f.path),
        }
    }
    assert_eq!(muscles, 80);
}
