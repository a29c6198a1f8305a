//! `soleus pipeline`: all steps from static trial to joint reactions, for all trials of a study.

mod cache;
pub mod study;
mod summary;

use crate::failure::Failure;
use crate::load::Warnings;
use crate::tables::{self, Take};
use crate::{analyze, id, ik, imu, load, scale, setup, tool_model};
use cache::{Cache, Digest, digest};
use clap::Args;
use soleus_io::setup::{
    AnalysisKind, AnalysisSetup, AnalyzeSetup, ImuInverseKinematicsSetup, ImuPlacerSetup,
    InverseDynamicsSetup, InverseKinematicsSetup, Setup, ToolSetup,
};
use soleus_io::table::sto::{self, Digits};
use soleus_math::signal::lowpass;
use std::path::{Path, PathBuf};
use study::{Study, Trial};

/// Arguments of `soleus pipeline`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus pipeline walking.toml\n\n\
    with walking.toml:\n\n  \
    [scale]\n  model = \"gait2354.osim\"\n  marker_set = \"markers.xml\"\n  markers = \"static.trc\"\n  \
    measurements = \"scale_setup.xml\"\n  tasks = \"scale_setup.xml\"\n  mass = 72.6\n\n  \
    [ik]\n  tasks = \"ik_tasks.xml\"\n\n  \
    [filter]\n  lowpass_hz = 6\n\n  \
    [so]\n  reserves = 1\n  residuals = [10, 50]\n\n  \
    [jr]\n  joints = [\"knee_r\", \"knee_l\"]\n\n  \
    [[trials]]\n  name = \"walk1\"\n  markers = \"walk1.trc\"\n  loads = \"walk1_grf.xml\"\n\n\
    Results are written to a folder `results` beside the study file, with a page summary.html. A second run does only\n\
    what has changed. A trial of inertial sensors has `orientations = \"walk1_imu.sto\"` in place of markers; a table [imu] with\n\
    `calibration`, `base`, `heading_axis`, `rotations_deg` and `weights` tells how they sit on the model.")]
pub struct Arguments {
    /// Study file (.toml)
    study: PathBuf,
    /// Do everything again
    #[arg(long)]
    again: bool,
}

/// Angles between sensors and model, in the folder of a trial.
const SENSOR_ERRORS: &str = "ik.mot_orientationErrors.sto";

/// What came of a step.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the step.
    pub step: String,
    /// Done, unchanged, or why not.
    pub result: Result<&'static str, String>,
}

/// Runs all steps; a trial that fails leaves the others alone.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let study = Study::read(&a.study)?;
    let folder = a.study.parent().unwrap_or(Path::new("")).to_path_buf();
    let absolute = std::path::absolute(&folder).unwrap_or(folder);
    let results = absolute.join(study.out.clone().unwrap_or_else(|| "results".into()));
    let mut run = Run {
        cache: Cache::new(&results),
        file: a.study.clone(),
        folder: absolute,
        results,
        again: a.again,
        outcomes: Vec::new(),
        first_failure: None,
    };
    setup::make_folder(&run.results)?;
    let mut model = match &study.model {
        Some(file) => Some(run.at(file)),
        None => run.scale(&study),
    };
    // What is odd about the model is said once, for all trials.
    if let Some(Err(e)) = model.as_deref().map(load::model) {
        run.fail("model", e);
        model = None;
    }
    if let Some(model) = &model {
        // Sensors are placed once; the model is the same for trials with markers.
        let with_sensors = match study.trials.iter().any(|t| t.orientations.is_some()) {
            true => run.place_sensors(&study, model),
            false => None,
        };
        for trial in &study.trials {
            let model = match (&trial.orientations, &with_sensors) {
                (Some(_), Some(m)) => m,
                (Some(_), None) => continue,
                (None, _) => model,
            };
            // What went wrong is kept and told at the end.
            let _ = run.trial(&study, trial, model);
        }
    }
    let name = study
        .name
        .clone()
        .unwrap_or_else(|| a.study.file_stem().map_or("study".into(), |n| n.to_string_lossy().into_owned()));
    let page = summary::page(&name, &study, &run.results, model.as_deref(), &run.outcomes);
    let file = run.results.join("summary.html");
    load::write_whole(&file, &page)?;
    eprintln!("summary: {}", file.display());
    let failed = run.outcomes.iter().filter(|o| o.result.is_err());
    run.first_failure
        .map_or(Ok(()), |(first, code)| Err(Failure::Steps { count: failed.count(), first, code }))
}

/// A run of a study.
struct Run {
    /// The study.
    file: PathBuf,
    folder: PathBuf,
    results: PathBuf,
    cache: Cache,
    again: bool,
    outcomes: Vec<Outcome>,
    /// Its step and exit code.
    first_failure: Option<(String, u8)>,
}

/// A step failed; why is in the run.
struct Failed;

impl Run {
    /// A file as the study names it.
    fn at(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    /// Does a step unless it is remembered. The input is `settings` and `files`; `work` returns the files it wrote.
    fn step(
        &mut self,
        name: &str,
        settings: &str,
        files: &[&Path],
        work: impl FnOnce() -> Result<Vec<PathBuf>, Failure>,
    ) -> Result<(), Failed> {
        let input = match digest(&format!("{name} {settings}"), files) {
            Ok(d) => d,
            Err(e) => return Err(self.fail(name, e)),
        };
        self.known_or_done(name, input, work)
    }

    fn known_or_done(
        &mut self,
        name: &str,
        input: Digest,
        work: impl FnOnce() -> Result<Vec<PathBuf>, Failure>,
    ) -> Result<(), Failed> {
        let result = if !self.again && self.cache.has(name, input) {
            eprintln!("{name}: unchanged");
            "unchanged"
        } else {
            self.cache.forget(name);
            eprintln!("{name}:");
            let done = work().and_then(|output| self.cache.remember(name, input, &output));
            if let Err(e) = done {
                return Err(self.fail(name, e));
            }
            eprintln!("{name}: done\n");
            "done"
        };
        self.outcomes.push(Outcome { step: name.to_string(), result: Ok(result) });
        Ok(())
    }

    fn fail(&mut self, name: &str, e: Failure) -> Failed {
        let e = e.named_in(&self.file);
        eprintln!("{e}\n{name}: failed\n");
        self.outcomes.push(Outcome { step: name.to_string(), result: Err(e.to_string()) });
        self.first_failure.get_or_insert((name.to_string(), e.exit_code()));
        Failed
    }

    /// The model of the subject.
    fn scale(&mut self, study: &Study) -> Option<PathBuf> {
        let s = study.scale.clone()?;
        let out = self.results.join("subject.osim");
        let pose = self.results.join("static_pose.mot");
        let factors = self.results.join("scale_factors.xml");
        let given = [&s.setup, &s.model, &s.markers, &s.marker_set, &s.measurements, &s.tasks];
        let files: Vec<PathBuf> = given.into_iter().flatten().map(|f| self.at(f)).collect();
        let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let text = |p: &Path| p.display().to_string();
        let (folder, file) = (self.folder.clone(), self.file.clone());
        let settings = format!("{s:?}");
        let written = [out.clone(), factors.clone(), pose.clone()];
        let done = self.step("scale", &settings, &inputs, || {
            let (path, job) = match &s.setup {
                Some(file) => {
                    let path = folder.join(file);
                    let Setup::Scale(job) = setup::read(&path)? else {
                        let message = "the file holds no ScaleTool".to_string();
                        return Err(Failure::content(&path, 0, "", message, ""));
                    };
                    (path, *job)
                }
                None => (file, scale::Parts::of(&s, &folder)?.setup()),
            };
            let mut job = job;
            if let (Some(model), true) = (&s.model, s.setup.is_some()) {
                job.model_file = Some(text(&folder.join(model)));
            }
            if let Some(scaler) = &mut job.scaler {
                scaler.output_model_file = Some(text(&out));
                scaler.output_scale_file = Some(text(&factors));
            }
            if let Some(placer) = &mut job.placer {
                placer.output_model_file = Some(text(&out));
                placer.output_motion_file = Some(text(&pose));
                placer.output_marker_file = None;
            }
            let _ = std::fs::remove_file(&pose);
            scale::run_setup(&path, &job, false)?;
            Ok(written.into_iter().filter(|f| f.is_file()).collect())
        });
        done.ok().map(|()| self.results.join("subject.osim"))
    }

    /// The model with a frame for each inertial sensor.
    fn place_sensors(&mut self, study: &Study, model: &Path) -> Option<PathBuf> {
        let s = study.imu.clone().unwrap_or_default();
        let Some(calibration) = s.calibration.as_ref().map(|c| self.at(c)) else {
            return Some(model.to_path_buf());
        };
        let out = self.results.join("subject_with_sensors.osim");
        let text = |p: &Path| p.display().to_string();
        let setup = ImuPlacerSetup {
            model_file: Some(text(model)),
            base_imu_label: s.base.clone(),
            base_heading_axis: s.heading_axis.clone(),
            sensor_to_opensim_rotations: s.rotations_deg.map(f64::to_radians),
            orientation_file: Some(text(&calibration)),
            output_model_file: Some(text(&out)),
        };
        let path = self.file.clone();
        let done = self.step("place sensors", &format!("{setup:?}"), &[model, &calibration], || {
            imu::run_placer(&path, &setup)?;
            Ok(vec![out.clone()])
        });
        done.ok().map(|()| self.results.join("subject_with_sensors.osim"))
    }

    /// Joint angles of a trial, from markers or sensors.
    fn angles(
        &mut self,
        study: &Study,
        trial: &Trial,
        model: &Path,
        folder: &Path,
    ) -> Result<PathBuf, Failed> {
        let path = self.file.clone();
        let text = |p: &Path| p.display().to_string();
        let range = [trial.from.unwrap_or(f64::NEG_INFINITY), trial.to.unwrap_or(f64::INFINITY)];
        let step = format!("{} ik", trial.name);
        let angles = folder.join("ik.mot");
        if let Some(file) = trial.orientations.as_ref().map(|o| self.at(o)) {
            let sensors = study.imu.clone().unwrap_or_default();
            let setup = ImuInverseKinematicsSetup {
                name: trial.name.clone(),
                model_file: Some(text(model)),
                results_directory: text(folder),
                sensor_to_opensim_rotations: sensors.rotations_deg.map(f64::to_radians),
                orientations_file: Some(text(&file)),
                weights: sensors.weights.into_iter().collect(),
                time_range: range,
                report_errors: true,
                output_motion_file: Some("ik.mot".to_string()),
            };
            let settings = format!("{:?} {:?} {range:?}", setup.sensor_to_opensim_rotations, setup.weights);
            self.step(&step, &settings, &[model, &file], || {
                imu::run_setup(&path, &setup)?;
                Ok(vec![angles.clone(), folder.join(SENSOR_ERRORS)])
            })?;
            return Ok(angles);
        }
        let markers = self.at(trial.markers.as_deref().unwrap_or(Path::new("")));
        let tasks = trial.tasks.as_ref().or(study.ik.tasks.as_ref()).map(|t| self.at(t));
        let inputs: Vec<&Path> =
            [Some(model), Some(markers.as_path()), tasks.as_deref()].into_iter().flatten().collect();
        self.step(&step, &format!("{range:?}"), &inputs, || {
            let s = InverseKinematicsSetup {
                name: trial.name.clone(),
                model_file: Some(text(model)),
                results_directory: text(folder),
                constraint_weight: f64::INFINITY,
                accuracy: 1e-5,
                tasks: Vec::new(),
                task_file: tasks.as_deref().map(text),
                marker_file: Some(text(&markers)),
                coordinate_file: None,
                time_range: range,
                report_errors: true,
                output_motion_file: Some(text(&angles)),
                report_marker_locations: false,
            };
            ik::run_setup(&path, &s, Warnings::Told)?;
            Ok(vec![angles.clone(), folder.join(format!("{}_ik_marker_errors.sto", trial.name))])
        })?;
        Ok(angles)
    }

    /// All steps of a trial.
    fn trial(&mut self, study: &Study, trial: &Trial, model: &Path) -> Result<(), Failed> {
        let folder = self.results.join(&trial.name);
        let path = self.file.clone();
        let text = |p: &Path| p.display().to_string();
        let loads = trial.loads.as_ref().map(|l| self.at(l));
        let name = |step: &str| format!("{} {step}", trial.name);
        let angles = self.angles(study, trial, model, &folder)?;

        // The same, smooth.
        let mut motion = angles.clone();
        if let Some(filter) = &study.filter {
            let smooth = folder.join("filtered.mot");
            self.step(&name("filter"), &filter.lowpass_hz.to_string(), &[&angles], || {
                let table = tables::read_in_order(&angles, Take::Markers)?;
                let table = lowpass(&table, filter.lowpass_hz)
                    .map_err(|e| Failure::content(&angles, 0, "", e.to_string(), "change lowpass_hz"))?;
                load::write_whole(&smooth, &sto::write(&table, Digits::Shortest))?;
                Ok(vec![smooth.clone()])
            })?;
            motion = smooth;
        }

        // Joint moments.
        let with_loads: Vec<&Path> =
            [Some(model), Some(motion.as_path()), loads.as_deref()].into_iter().flatten().collect();
        if study.id.is_some() || loads.is_some() {
            let excluded = study.id.as_ref().and_then(|d| d.exclude.clone());
            let excluded = excluded.unwrap_or_else(|| vec!["muscles".into(), "actuators".into()]);
            self.step(&name("id"), &format!("{excluded:?}"), &with_loads, || {
                let s = InverseDynamicsSetup {
                    name: trial.name.clone(),
                    model_file: Some(text(model)),
                    results_directory: text(&folder),
                    time_range: [f64::NEG_INFINITY, f64::INFINITY],
                    forces_to_exclude: excluded.clone(),
                    external_loads_file: loads.as_deref().map(text),
                    coordinates_file: Some(text(&motion)),
                    lowpass_cutoff_frequency_for_coordinates: -1.0,
                    output_gen_force_file: "id.sto".into(),
                    joints_to_report_body_forces: Vec::new(),
                    output_body_forces_file: "joint_loads.sto".into(),
                };
                id::run_setup(&path, &s, false, Warnings::Told)?;
                Ok(vec![folder.join("id.sto")])
            })?;
        }

        // Muscle forces, and what they do to the joints.
        let Some(so) = &study.so else { return Ok(()) };
        let actuators: Vec<PathBuf> = so.actuators.iter().map(|f| self.at(f)).collect();
        let helpers = tool_model::helpers(so.residuals.as_ref().map_or(&[], |r| r), so.reserves.as_slice());
        let mut inputs = with_loads.clone();
        inputs.extend(actuators.iter().map(PathBuf::as_path));
        let analysis = |kind: AnalysisKind, analysis: &str| {
            let times = tables::read_in_order(&motion, Take::Markers)?;
            let end = |t: Option<&f64>| t.copied().unwrap_or(0.0);
            Ok::<_, Failure>(AnalyzeSetup {
                tool: ToolSetup {
                    name: trial.name.clone(),
                    model_file: Some(text(model)),
                    replace_force_set: false,
                    force_set_files: actuators.iter().map(|f| text(f)).collect(),
                    results_directory: text(&folder),
                    initial_time: end(times.times().first()),
                    final_time: end(times.times().last()),
                    solve_for_equilibrium: false,
                    maximum_steps: 20000.0,
                    maximum_step: 1.0,
                    minimum_step: 1e-8,
                    error_tolerance: 1e-5,
                    analyses: Vec::new(),
                    controllers: Vec::new(),
                    external_loads_file: loads.as_deref().map(text),
                },
                analyses: vec![AnalysisSetup {
                    name: analysis.to_string(),
                    line: 0,
                    on: true,
                    step_interval: 1,
                    in_degrees: true,
                    kind,
                }],
                states_file: None,
                coordinates_file: Some(text(&motion)),
                speeds_file: None,
                lowpass_cutoff_frequency_for_coordinates: -1.0,
            })
        };
        let forces = folder.join(format!("{}_StaticOptimization_force.sto", trial.name));
        self.step(&name("so"), &format!("{so:?}"), &inputs, || {
            let kind = AnalysisKind::StaticOptimization {
                use_model_force_set: true,
                exponent: so.exponent.unwrap_or(2.0),
                use_muscle_physiology: so.physiology.unwrap_or(true),
            };
            let setup = analysis(kind, "StaticOptimization")?;
            analyze::run_setup(&path, &setup, &helpers, false, Warnings::Told)?;
            let activation = folder.join(format!("{}_StaticOptimization_activation.sto", trial.name));
            Ok(vec![activation, forces.clone()])
        })?;
        let Some(jr) = &study.jr else { return Ok(()) };
        inputs.push(&forces);
        self.step(&name("jr"), &format!("{jr:?} {helpers:?}"), &inputs, || {
            let kind = AnalysisKind::JointReaction {
                forces_file: Some(text(&forces)),
                joints: jr.joints.clone().unwrap_or_else(|| vec!["ALL".into()]),
                on_bodies: vec![jr.on.clone().unwrap_or_else(|| "child".into())],
                in_frames: vec![jr.frame.clone().unwrap_or_else(|| "ground".into())],
            };
            let setup = analysis(kind, "JointReaction")?;
            analyze::run_setup(&path, &setup, &helpers, false, Warnings::Told)?;
            Ok(vec![folder.join(format!("{}_JointReaction_ReactionLoads.sto", trial.name))])
        })
    }
}
