//! Setups of tools as values: defaults are those of an empty file, and serde keeps all of them.

use soleus_io::osim::{read_document, upgrade};
use soleus_io::setup::moco::{MocoInverseSetup, MocoTrackSetup};
use soleus_io::setup::{
    AnalysisKind, AnalysisSetup, AnalyzeSetup, ForwardSetup, IkTask, ImuInverseKinematicsSetup,
    ImuPlacerSetup, InverseDynamicsSetup, InverseKinematicsSetup, ManualScale, MarkerPlacer, ModelScaler,
    ScaleSetup, Setup, read, read_scale_set, write_scale_set,
};
use std::path::{Path, PathBuf};

/// The setup of an XML file; `None` if it holds none.
fn setup(bytes: &[u8]) -> Option<Setup> {
    let (document, mut log) = read_document(bytes, "setup.xml");
    let mut document = document?;
    upgrade(&mut document, &mut log);
    read(&document, &mut log)
}

fn tool(class: &str, inside: &str) -> Setup {
    let text = format!("<OpenSimDocument Version=\"40600\"><{class}>{inside}</{class}></OpenSimDocument>");
    setup(text.as_bytes()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn identity_defaults_are_those_of_an_empty_file() {
    let cases = [
        ("InverseKinematicsTool", Setup::InverseKinematics(InverseKinematicsSetup::default())),
        ("InverseDynamicsTool", Setup::InverseDynamics(InverseDynamicsSetup::default())),
        ("ForwardTool", Setup::Forward(Box::<ForwardSetup>::default())),
        ("AnalyzeTool", Setup::Analyze(Box::<AnalyzeSetup>::default())),
        ("ScaleTool", Setup::Scale(Box::<ScaleSetup>::default())),
        ("IMUPlacer", Setup::ImuPlacer(ImuPlacerSetup::default())),
        ("IMUInverseKinematicsTool", Setup::ImuInverseKinematics(ImuInverseKinematicsSetup::default())),
        ("MocoInverse", Setup::MocoInverse(Box::<MocoInverseSetup>::default())),
        ("MocoTrack", Setup::MocoTrack(Box::<MocoTrackSetup>::default())),
    ];
    for (class, wanted) in cases {
        assert_eq!(tool(class, ""), wanted, "{class}");
        // An object without fields says the same in JSON.
        let json = serde_json::to_value(&wanted).unwrap_or_default();
        let key = json.as_object().and_then(|o| o.keys().next().cloned()).unwrap_or_default();
        let empty: Setup =
            serde_json::from_value(serde_json::json!({ key: {} })).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(empty, wanted, "{class}");
    }
    let Setup::Scale(s) = tool("ScaleTool", "<ModelScaler/><MarkerPlacer/>") else { panic!("no scaling") };
    assert_eq!((s.scaler, s.placer), (Some(ModelScaler::default()), Some(MarkerPlacer::default())));
    let tasks = "<IKTaskSet><objects><IKMarkerTask/><IKCoordinateTask/></objects></IKTaskSet>";
    let Setup::InverseKinematics(s) = tool("InverseKinematicsTool", tasks) else { panic!("no kinematics") };
    let usual = [IkTask::Marker(Default::default()), IkTask::Coordinate(Default::default())];
    assert_eq!(s.tasks, usual);
}

/// Analyses by their class, with everything left out: the same from XML and from JSON.
#[test]
fn identity_usual_analyses() {
    for (class, key) in [
        ("Kinematics", "kinematics"),
        ("BodyKinematics", "body_kinematics"),
        ("PointKinematics", "point_kinematics"),
        ("MuscleAnalysis", "muscle_analysis"),
        ("JointReaction", "joint_reaction"),
        ("ForceReporter", "force_reporter"),
        ("StaticOptimization", "static_optimization"),
        ("InducedAccelerations", "induced_accelerations"),
        ("OutputReporter", "output_reporter"),
    ] {
        let set = format!("<AnalysisSet><objects><{class}/></objects></AnalysisSet>");
        let Setup::Analyze(s) = tool("AnalyzeTool", &set) else { panic!("no analyses") };
        let json = serde_json::json!({ key: {} });
        let kind: AnalysisKind = serde_json::from_value(json).unwrap_or_else(|e| panic!("{key}: {e}"));
        assert_eq!(s.analyses[0].kind, kind, "{class}");
        let usual = AnalysisSetup { name: class.into(), line: 1, kind, ..AnalysisSetup::default() };
        assert_eq!(s.analyses, [usual]);
    }
}

#[test]
fn identity_infinite_times_survive() {
    let setup = InverseKinematicsSetup { time_range: [f64::NEG_INFINITY, 0.5], ..Default::default() };
    let json = serde_json::to_string(&setup).unwrap_or_default();
    assert!(json.contains("\"time_range\":[\"-Infinity\",0.5]"), "{json}");
    assert_eq!(serde_json::from_str::<InverseKinematicsSetup>(&json).ok().as_ref(), Some(&setup));
    // TOML has words of its own.
    let toml = toml::from_str::<InverseKinematicsSetup>("time_range = [-inf, 0.5]\n");
    assert_eq!(toml.ok().as_ref(), Some(&setup));
    let wrong = toml::from_str::<InverseKinematicsSetup>("time_rang = [0, 1]\n");
    assert!(wrong.is_err_and(|e| e.message().contains("unknown field `time_rang`")));
}

#[test]
fn identity_factors_written_and_read() {
    let scales = [
        ManualScale { segment: "pelvis".into(), apply: true, scales: [1.0 / 3.0, 1.05, 0.9] },
        ManualScale { segment: "femur <r>".into(), apply: false, scales: [1e-7, 2.0, 1.0] },
    ];
    let text = write_scale_set("subject & co", &scales);
    let (document, mut log) = read_document(text.as_bytes(), "scale.xml");
    let found = document.and_then(|d| read_scale_set(&d, &mut log));
    assert_eq!(found.as_deref(), Some(&scales[..]), "{text}{log:?}");
}

/// Every setup of the reference data is the same after it was written as JSON and read.
#[soleus_testing::reference_test]
fn identity_setups_survive_json() {
    fn walk(folder: &Path, list: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => walk(&path, list),
                Some("xml" | "omoco") => list.push(path),
                _ => {}
            }
        }
    }
    let folder = crate::common::reference();
    let mut files = Vec::new();
    walk(&folder, &mut files);
    let mut count = 0;
    for path in files {
        let Some(setup) = std::fs::read(&path).ok().and_then(|bytes| setup(&bytes)) else { continue };
        let json = serde_json::to_string(&setup).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let again: Setup = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // Elements are XML in JSON, which has no numbers of lines.
        let json_again = serde_json::to_string(&again).unwrap_or_default();
        assert!(json == json_again, "{}", path.display());
        let has_elements = match &setup {
            Setup::MocoStudy(s) => s.model.is_some() || s.external_loads.is_some(),
            Setup::Analyze(s) => !s.tool.analyses.is_empty() || !s.tool.controllers.is_empty(),
            Setup::Forward(s) => !s.tool.analyses.is_empty() || !s.tool.controllers.is_empty(),
            Setup::Cmc(s) => !s.tracking.tool.analyses.is_empty() || !s.tracking.tool.controllers.is_empty(),
            Setup::Rra(s) => !s.tracking.tool.analyses.is_empty() || !s.tracking.tool.controllers.is_empty(),
            Setup::MocoInverse(s) => s.tool.model.is_some(),
            Setup::MocoTrack(s) => s.tool.model.is_some(),
            _ => false,
        };
        assert!(has_elements || setup == again, "{}", path.display());
        count += 1;
    }
    assert!(count >= 40, "{count} setups");
}
