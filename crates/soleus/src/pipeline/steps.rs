//! The steps of a pipeline; each is a request.

use super::{Ended, INVERSE, Run, SENSOR_ERRORS};
use crate::analysis::{AnalysisOutput, Analyze, MotionKind};
use crate::artifact::{Artifact, Outcome};
use crate::consistent_motion::Reconcile;
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::table::{Take, lowpass_of_motion, read_in_order};
use crate::inputs::{model, setup};
use crate::inverse_dynamics::InverseDynamics;
use crate::inverse_kinematics::{InverseKinematics, KinematicsOutput, PlaceSensors, SensorKinematics};
use crate::load_assignment::{AssignLoads, COMPLETE_FROM, COMPLETE_TO, data_file, is_table};
use crate::muscle_control::{ComputedMuscleControl, MassCenter, ResidualReduction, Tracking};
use crate::optimal_control::changes::ModelChanges;
use crate::optimal_control::tool::Trial as OptimizedTrial;
use crate::optimal_control::{Inverse, SolveOptions};
use crate::residual_elimination::{GaitCycle, ResidualElimination};
use crate::scaling::{FactorSettings, PlacingSettings, Scaling, ScalingOutput};
use crate::simulation::SimulationOutput;
use crate::source::Source;
use soleus_io::pipeline::{Scale, Trial};
use soleus_io::setup::{AnalysisKind, AnalysisSetup, Setup};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use std::path::{Path, PathBuf};

/// What lies on either side of the wanted time and still shows in it, as a number of periods of the cutoff frequency. A Butterworth
/// filter of third order forgets as exp(−π f t); after six periods a millionth of a hundredth is left.
const FILTER_MEMORY_PERIODS: f64 = 6.0;

/// At least so much is taken on either side, s: splines through the coordinates need a dozen frames, and with one margin for all usual
/// filters another cutoff leaves the angles as they are.
const LEAST_MARGIN_S: f64 = 1.0;

impl Run<'_> {
    /// The model of the subject.
    pub(super) fn scale(&mut self) -> Result<PathBuf, Ended> {
        let out = self.results.join("subject.osim");
        let (settings, home, file) =
            (self.pipeline.scale.clone().unwrap_or_default(), self.home.clone(), self.file.clone());
        let output = ScalingOutput {
            factors: Some(self.results.join("scale_factors.xml")),
            model: Some(out.clone()),
            pose: Some(self.results.join("static_pose.mot")),
            ..ScalingOutput::default()
        };
        self.step("scale", &settings, |cx| {
            Scaling { output, ..scaling(cx, &settings, &home, &file)? }.run(cx)
        })?;
        Ok(out)
    }

    /// The model with a frame for each inertial sensor.
    pub(super) fn place_sensors(&mut self, model: &Path) -> Result<PathBuf, Ended> {
        let s = self.pipeline.imu.clone().unwrap_or_default();
        let Some(calibration) = s.calibration.as_ref().map(|c| self.at(c)) else {
            return Ok(model.to_path_buf());
        };
        let out = self.results.join("subject_with_sensors.osim");
        let request = PlaceSensors {
            model: model.into(),
            orientations: calibration.into(),
            sensor_to_ground: s.rotations_deg.map(f64::to_radians),
            base: s.base,
            heading_axis: s.heading_axis,
            output: Some(out.clone()),
            is_derived: true,
            asked_in: Some(self.asked()),
        };
        self.step("place sensors", &request, |cx| request.run(cx))?;
        Ok(out)
    }

    /// All steps of a trial.
    pub(super) fn trial(&mut self, trial: &Trial, model: &Path) -> Result<(), Ended> {
        let folder = self.results.join(&trial.name);
        let angles = self.angles(trial, model, &folder)?;
        let motion = self.smooth(trial, model, angles, &folder)?;
        let trial = &self.loads(trial, model, &motion, &folder)?;
        let (trial, model, motion) = &self.reconcile(trial, model, motion, &folder)?;
        let motion = self.eliminate(trial, model, motion.clone(), &folder)?;
        let (model, motion) = self.reduce(trial, model, motion, &folder)?;
        self.moments(trial, &model, &motion, &folder)?;
        self.muscles(trial, &model, &motion, &folder)?;
        self.control(trial, &model, &motion, &folder)?;
        self.excitations(trial, &model, &motion, &folder)
    }

    /// The trial with loads as an ExternalLoads file: plates of a table are assigned to feet.
    fn loads(&mut self, trial: &Trial, model: &Path, motion: &Path, folder: &Path) -> Result<Trial, Ended> {
        let Some(table) = trial.loads.as_ref().map(|l| self.at(l)).filter(|l| is_table(l)) else {
            return Ok(trial.clone());
        };
        let file = folder.join("loads.xml");
        let output = Some(file.clone());
        let request = AssignLoads { model: model.into(), motion: motion.into(), loads: table.into(), output };
        self.step(&format!("{} loads", trial.name), &request, |cx| request.run(cx))?;
        // Joint moments mean nothing while a foot is on the ground beside the plates.
        let data = Source::File(data_file(&file));
        let [mut from, mut to] = [trial.from, trial.to];
        if from.is_none()
            && to.is_none()
            && let Ok(table) = read_in_order(&self.cx.with_monitor(&Silent), &data, Take::Forces)
        {
            let number = |key: &str| table.metadata_value(key).and_then(|v| v.parse::<f64>().ok());
            [from, to] = [number(COMPLETE_FROM), number(COMPLETE_TO)];
        }
        // Names of a pipeline are taken from its folder; the results may be anywhere.
        Ok(Trial { loads: Some(self.cx.files.absolute(&file)), from, to, ..trial.clone() })
    }

    /// The trial, model and motion that agree with each other, if that is asked for.
    fn reconcile(
        &mut self,
        trial: &Trial,
        model: &Path,
        motion: PathBuf,
        folder: &Path,
    ) -> Result<(Trial, PathBuf, PathBuf), Ended> {
        let pipeline = self.pipeline;
        let (Some(s), Some(loads)) = (&pipeline.reconcile, &trial.loads) else {
            return Ok((trial.clone(), model.to_path_buf(), motion));
        };
        let usual = Reconcile::default();
        let [file, changed, changed_loads] =
            ["reconciled.mot", "reconciled.osim", "reconciled_loads.xml"].map(|f| folder.join(f));
        let request = Reconcile {
            model: model.into(),
            markers: trial.markers.as_ref().map(|m| self.at(m).into()),
            task_file: trial.tasks.as_ref().or(pipeline.ik.tasks.as_ref()).map(|t| self.at(t)),
            // Sensors have no markers to keep near to.
            motion: trial.orientations.as_ref().map(|_| motion.into()),
            loads: Some(self.at(loads)),
            cutoff_hz: s.cutoff_hz.unwrap_or(usual.cutoff_hz),
            residual_sd: s.residual_sd,
            mass_sd: s.mass_sd.unwrap_or(usual.mass_sd),
            mass_center_sd: s.mass_center_sd.unwrap_or(usual.mass_center_sd),
            load_offset_sd: s.load_offset_sd.unwrap_or(usual.load_offset_sd),
            load_gain_sd: s.load_gain_sd.unwrap_or(usual.load_gain_sd),
            load_delay_sd: s.load_delay_sd.unwrap_or(usual.load_delay_sd),
            marker_offset_sd: s.marker_offset_sd.unwrap_or(usual.marker_offset_sd),
            from: trial.from,
            to: trial.to,
            output: Some(file.clone()),
            model_output: Some(changed.clone()),
            loads_output: Some(changed_loads.clone()),
            ..usual
        };
        self.step(&format!("{} reconcile", trial.name), &request, |cx| request.run(cx))?;
        Ok((Trial { loads: Some(changed_loads), ..trial.clone() }, changed, file))
    }

    /// The motion without residuals, if that is asked for.
    fn eliminate(
        &mut self,
        trial: &Trial,
        model: &Path,
        motion: PathBuf,
        folder: &Path,
    ) -> Result<PathBuf, Ended> {
        let (Some(s), Some(loads)) = (&self.pipeline.rea, &trial.loads) else { return Ok(motion) };
        let file = folder.join("rea.mot");
        let request = ResidualElimination {
            model: model.into(),
            motion: motion.into(),
            loads: Some(self.at(loads)),
            cycle: match s.cycle.as_deref() {
                Some("half") => GaitCycle::Half,
                Some("whole") => GaitCycle::Whole,
                None | Some("none") => GaitCycle::None,
                Some(other) => {
                    let message = format!("`{other}` is not a part of a gait cycle");
                    let e = Error::content(&self.asked(), 0, "rea.cycle", message, "half, whole or none");
                    return self
                        .step(&format!("{} rea", trial.name), s, |_| Err::<Smoothed, _>(e))
                        .map(|()| file);
                }
            },
            from: trial.from,
            to: trial.to,
            output: Some(file.clone()),
            ..ResidualElimination::default()
        };
        self.step(&format!("{} rea", trial.name), &request, |cx| request.run(cx))?;
        Ok(file)
    }

    /// The motion and the model with smaller residuals, if that is asked for.
    fn reduce(
        &mut self,
        trial: &Trial,
        model: &Path,
        motion: PathBuf,
        folder: &Path,
    ) -> Result<(PathBuf, PathBuf), Ended> {
        let pipeline = self.pipeline;
        let (Some(s), Some(loads)) = (&pipeline.rra, &trial.loads) else {
            return Ok((model.to_path_buf(), motion));
        };
        let changed = folder.join("adjusted.osim");
        let tracking = Tracking {
            model: model.into(),
            motion: motion.into(),
            loads: Some(self.at(loads)),
            force_sets: s.actuators.iter().map(|f| self.at(f)).collect(),
            residuals: s.residuals.map_or(Vec::new(), |r| r.to_vec()),
            reserves: s.reserves.into_iter().collect(),
            task_file: s.tasks.as_ref().map(|t| self.at(t)),
            from: trial.from,
            to: trial.to,
            output: SimulationOutput { folder: Some(folder.join("rra")), name: Some(trial.name.clone()) },
            ..Tracking::default()
        };
        let mass_center = s.mass_center.clone().map(|body| MassCenter {
            body,
            range: None,
            change_masses: s.change_masses,
            output: Some(changed.clone()),
        });
        let model = if mass_center.is_some() { changed } else { model.to_path_buf() };
        let request = ResidualReduction { tracking, window: None, mass_center, find_weights: 0 };
        self.step(&format!("{} rra", trial.name), &request, |cx| request.run(cx))?;
        Ok((model, folder.join("rra").join(format!("{}_Kinematics_q.sto", trial.name))))
    }

    /// Excitations that drive the model along the motion, if they are asked for.
    fn control(&mut self, trial: &Trial, model: &Path, motion: &Path, folder: &Path) -> Result<(), Ended> {
        let pipeline = self.pipeline;
        let Some(s) = &pipeline.cmc else { return Ok(()) };
        let usual = ComputedMuscleControl::default();
        let request = ComputedMuscleControl {
            tracking: Tracking {
                model: model.into(),
                motion: motion.into(),
                loads: trial.loads.as_ref().map(|l| self.at(l)),
                force_sets: s.actuators.iter().map(|f| self.at(f)).collect(),
                residuals: s.residuals.map_or(Vec::new(), |r| r.to_vec()),
                reserves: s.reserves.into_iter().collect(),
                task_file: s.tasks.as_ref().map(|t| self.at(t)),
                limits: s.limits.as_ref().map(|l| self.at(l)),
                from: trial.from,
                to: trial.to,
                output: SimulationOutput { folder: Some(folder.join("cmc")), name: Some(trial.name.clone()) },
                ..Tracking::default()
            },
            window: s.window.unwrap_or(usual.window),
            smoothness: s.smoothness.unwrap_or(usual.smoothness),
            ..usual
        };
        self.step(&format!("{} cmc", trial.name), &request, |cx| request.run(cx))
    }

    /// Excitations of least effort that produce the motion exactly, if they are asked for.
    fn excitations(
        &mut self,
        trial: &Trial,
        model: &Path,
        motion: &Path,
        folder: &Path,
    ) -> Result<(), Ended> {
        let Some(s) = &self.pipeline.inverse else { return Ok(()) };
        let changes = ModelChanges {
            loads: trial.loads.as_ref().map(|l| self.at(l)),
            residuals: s.residuals.map_or(Vec::new(), |r| r.to_vec()),
            reserves: s.reserves.into_iter().collect(),
            rigid_tendons: !s.elastic_tendons,
            degroote_fregly: true,
            ..ModelChanges::default()
        };
        let request = Inverse {
            trial: OptimizedTrial {
                model: model.into(),
                changes,
                from: trial.from,
                to: trial.to,
                mesh_interval: s.mesh_interval,
                asked_in: Some(self.asked()),
                ..OptimizedTrial::default()
            },
            kinematics: motion.into(),
            options: SolveOptions { solution: Some(folder.join(INVERSE)), ..SolveOptions::default() },
            ..Inverse::default()
        };
        self.step(&format!("{} inverse", trial.name), &request, |cx| {
            // A motion that was tracked begins and ends a little inside the trial.
            let table = read_in_order(cx, &Source::File(motion.to_path_buf()), Take::Markers)?;
            let mut request = request.clone();
            if let (Some(first), Some(last)) = (table.times().first(), table.times().last()) {
                let t = &mut request.trial;
                [t.from, t.to] = [t.from.map(|x| x.max(*first)), t.to.map(|x| x.min(*last))];
            }
            request.run(cx)
        })
    }

    /// First and last time of a trial, and what lies on either side and still shows between them.
    fn wide_range(&self, trial: &Trial) -> [Option<f64>; 2] {
        let memory = self.pipeline.filter.as_ref().map_or(0.0, |f| FILTER_MEMORY_PERIODS / f.lowpass_hz);
        let margin = memory.max(LEAST_MARGIN_S);
        [trial.from.map(|t| t - margin), trial.to.map(|t| t + margin)]
    }

    /// Joint angles of a trial, from markers or sensors, with what the filter needs on either side.
    fn angles(&mut self, trial: &Trial, model: &Path, folder: &Path) -> Result<PathBuf, Ended> {
        let name = format!("{} ik", trial.name);
        let [from, to] = self.wide_range(trial);
        let angles = folder.join("ik.mot");
        let output = KinematicsOutput {
            motion: Some(angles.clone()),
            fixed_digits: false,
            is_derived: true,
            ..KinematicsOutput::default()
        };
        if let Some(file) = trial.orientations.as_ref().map(|o| self.at(o)) {
            let sensors = self.pipeline.imu.clone().unwrap_or_default();
            let request = SensorKinematics {
                model: model.into(),
                orientations: file.into(),
                sensor_to_ground: sensors.rotations_deg.map(f64::to_radians),
                weights: sensors.weights.into_iter().collect(),
                from,
                to,
                output: KinematicsOutput { errors: Some(folder.join(SENSOR_ERRORS)), ..output },
            };
            self.step(&name, &request, |cx| request.run(cx))?;
            return Ok(angles);
        }
        let errors = folder.join(format!("{}_ik_marker_errors.sto", trial.name));
        let request = InverseKinematics {
            model: model.into(),
            markers: self.at(trial.markers.as_deref().unwrap_or(Path::new(""))).into(),
            task_file: trial.tasks.as_ref().or(self.pipeline.ik.tasks.as_ref()).map(|t| self.at(t)),
            from,
            to,
            output: KinematicsOutput { marker_errors: Some(errors), ..output },
            asked_in: Some(self.asked()),
            ..InverseKinematics::default()
        };
        self.step(&name, &request, |cx| request.run(cx))?;
        Ok(angles)
    }

    /// The same angles, smooth.
    fn smooth(
        &mut self,
        trial: &Trial,
        model: &Path,
        angles: PathBuf,
        folder: &Path,
    ) -> Result<PathBuf, Ended> {
        let Some(filter) = self.pipeline.filter.clone() else { return Ok(angles) };
        let file = folder.join("filtered.mot");
        let [from, to] = [trial.from, trial.to];
        self.step(&format!("{} filter", trial.name), &(&filter, from, to), |cx| {
            let table = read_in_order(cx, &Source::File(angles.clone()), Take::Markers)?;
            let model = model::read(cx, &model.into())?;
            let table = lowpass_of_motion(&angles, &model, &table, filter.lowpass_hz, "change lowpass_hz")?;
            tell_margins(cx, &angles, &table, [from, to], FILTER_MEMORY_PERIODS / filter.lowpass_hz);
            Ok(Smoothed { table, file: file.clone() })
        })?;
        Ok(file)
    }

    /// Joint moments.
    fn moments(&mut self, trial: &Trial, model: &Path, motion: &Path, folder: &Path) -> Result<(), Ended> {
        if self.pipeline.id.is_none() && trial.loads.is_none() {
            return Ok(());
        }
        let exclude = self.pipeline.id.as_ref().and_then(|d| d.exclude.clone());
        let request = InverseDynamics {
            model: model.into(),
            motion: motion.into(),
            loads: trial.loads.as_ref().map(|l| self.at(l)),
            exclude: exclude.unwrap_or(InverseDynamics::default().exclude),
            from: trial.from,
            to: trial.to,
            output: Some(folder.join("id.sto")),
            asked_in: Some(self.asked()),
            ..InverseDynamics::default()
        };
        self.step(&format!("{} id", trial.name), &request, |cx| request.run(cx))
    }

    /// Muscle forces, and what they do to the joints.
    fn muscles(&mut self, trial: &Trial, model: &Path, motion: &Path, folder: &Path) -> Result<(), Ended> {
        let pipeline = self.pipeline;
        let Some(so) = &pipeline.so else { return Ok(()) };
        let name = format!("{} so", trial.name);
        let request = Analyze {
            model: model.into(),
            motion: motion.into(),
            motion_kind: MotionKind::Coordinates,
            force_sets: so.actuators.iter().map(|f| self.at(f)).collect(),
            loads: trial.loads.as_ref().map(|l| self.at(l)),
            residuals: so.residuals.map_or(Vec::new(), |r| r.to_vec()),
            reserves: so.reserves.into_iter().collect(),
            from: trial.from,
            to: trial.to,
            analyses: vec![analysis(
                "StaticOptimization",
                AnalysisKind::StaticOptimization {
                    use_model_force_set: true,
                    exponent: so.exponent.unwrap_or(2.0),
                    use_muscle_physiology: so.physiology.unwrap_or(true),
                },
            )],
            output: AnalysisOutput { folder: Some(folder.to_path_buf()), name: Some(trial.name.clone()) },
            asked_in: Some(self.asked()),
            ..Analyze::default()
        };
        self.step(&name, &request, |cx| request.run(cx))?;
        let Some(jr) = &pipeline.jr else { return Ok(()) };
        let forces = folder.join(format!("{}_StaticOptimization_force.sto", trial.name));
        let kind = AnalysisKind::JointReaction {
            forces_file: Some(forces.display().to_string()),
            joints: jr.joints.clone().unwrap_or_else(|| vec!["ALL".into()]),
            on_bodies: vec![jr.on.clone().unwrap_or_else(|| "child".into())],
            in_frames: vec![jr.frame.clone().unwrap_or_else(|| "ground".into())],
        };
        let request = Analyze { analyses: vec![analysis("JointReaction", kind)], ..request };
        self.step(&format!("{} jr", trial.name), &request, |cx| request.run(cx))
    }
}

/// An analysis of every row.
fn analysis(name: &str, kind: AnalysisKind) -> AnalysisSetup {
    AnalysisSetup { name: name.to_string(), line: 0, on: true, step_interval: 1, in_degrees: true, kind }
}

/// The scaling that a pipeline asks for: a setup file, or its parts.
fn scaling(cx: &Context, s: &Scale, home: &Path, file: &Path) -> Result<Scaling, Error> {
    let at = |f: &Option<PathBuf>| f.as_ref().map(|f| home.join(f));
    if let Some(path) = at(&s.setup) {
        let Setup::Scale(job) = setup::read(cx, &path)? else {
            return Err(Error::content(&path, 0, "", "the file contains no ScaleTool", ""));
        };
        let mut request = Scaling::from_setup(&path, &job)?;
        if let Some(model) = at(&s.model) {
            request.model = model.into();
        }
        return Ok(request);
    }
    let model = at(&s.model).unwrap_or_default();
    let usual = match at(&s.markers) {
        Some(markers) => Scaling::of_static_trial(model.clone(), markers).between(s.from, s.to),
        None => Scaling::default(),
    };
    Ok(Scaling {
        model: model.into(),
        marker_set: at(&s.marker_set),
        mass: s.mass,
        height: s.height,
        map: s.map.iter().map(|(lab, own)| [lab.clone(), own.clone()]).collect(),
        factors: Some(FactorSettings {
            measurement_file: at(&s.measurements),
            preserve_mass_distribution: s.preserve_mass_distribution,
            ..usual.factors.unwrap_or_default()
        }),
        placing: (usual.placing.filter(|_| !s.keep_markers))
            .map(|placing| PlacingSettings { task_file: at(&s.tasks), ..placing }),
        asked_in: Some(file.to_path_buf()),
        ..Scaling::default()
    })
}

/// Says how many samples the filter had on either side of the wanted time, and warns if they are too few.
fn tell_margins(cx: &Context, file: &Path, table: &Table, range: [Option<f64>; 2], memory: f64) {
    let times = table.times();
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
    let [from, to] = [range[0].unwrap_or(first), range[1].unwrap_or(last)];
    let before = times.iter().filter(|t| **t < from).count();
    let after = times.iter().filter(|t| **t > to).count();
    cx.note(format!("the filter had {before} samples before {from:.3} s and {after} after {to:.3} s"));
    // A trial that is used from end to end has nothing more; one that is cut was cut too close.
    let short = |cut: bool, left: f64| cut && left < 0.5 * memory;
    if short(range[0].is_some(), from - first) || short(range[1].is_some(), last - to) {
        let message = format!("the filter needs {memory:.2} s on either side, but the trial is shorter");
        cx.warn(file, message, "angles and moments near that end are less accurate");
    }
}

/// A motion after the filter.
struct Smoothed {
    table: Table,
    file: PathBuf,
}

impl Outcome for Smoothed {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        vec![Artifact { is_derived: true, ..Artifact::table(&self.file, &self.table, Digits::Shortest) }]
    }

    fn write(&self, cx: &Context) -> Result<(), Error> {
        self.artifacts().iter().try_for_each(|a| a.write(cx))
    }
}
