//! Bounds of a study: as given in the file, otherwise derived from the model.

use super::pair;
use crate::error::Error;
use regex_lite::Regex;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::Variable;
use soleus_control::{Bounds, Problem};
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::Actor;
use soleus_io::study::{self, VariableInfo};
use std::path::Path;

/// Sets the bounds of all variables.
pub fn apply(path: &Path, s: &study::Problem, base: &ModelProblem, p: &mut Problem) -> Result<(), Error> {
    let default_time = [f64::NEG_INFINITY, f64::INFINITY];
    p.initial_time = pair(s.initial_time.unwrap_or([0.0, 0.0]));
    p.final_time = pair(s.final_time.unwrap_or(default_time));
    p.parameters = s.parameters.iter().map(|q| Variable::new(q.name.clone(), pair(q.bounds))).collect();
    for m in &mut p.multipliers {
        *m = Variable::new(m.name.clone(), pair(s.multiplier_bounds));
    }
    set(path, s.replace_entries, &s.controls, &mut p.controls)?;
    // States that a component knows the range of; those of muscles follow their excitation.
    let n = base.num_coordinates();
    for f in &base.system.forces {
        let names: Vec<&str> = match &f.actor {
            Actor::Muscle(m) => m.state_names().to_vec(),
            Actor::Force(c) => c.state_names().to_vec(),
        };
        for (k, name) in names.into_iter().enumerate() {
            let i = 2 * n + f.states.start + k;
            let bounds = match name {
                "activation" if s.bound_activation_from_excitation && !f.controls.is_empty() => {
                    p.controls[f.controls.start].bounds
                }
                "normalized_tendon_force" => Bounds::new(0.0, 5.0),
                _ => continue,
            };
            p.states[i] = Variable::new(p.states[i].name.clone(), bounds);
        }
    }
    set(path, s.replace_entries, &s.states, &mut p.states)?;
    rates(s, base, p);
    Ok(())
}

/// Applies infos to the variables they name; patterns come first. An info changes what it names, or, with `replace`, takes back all that
/// others said of the variable.
fn set(path: &Path, replace: bool, infos: &[VariableInfo], variables: &mut [Variable]) -> Result<(), Error> {
    let suggested: Vec<Bounds> = variables.iter().map(|v| v.bounds).collect();
    // What was said of the ends of each variable so far.
    let mut ends: Vec<[Option<Bounds>; 2]> = vec![[None; 2]; variables.len()];
    for info in infos {
        let pattern = if info.is_pattern { Some(regex(path, info.line, &info.name)?) } else { None };
        let mut found = false;
        for (k, v) in variables.iter_mut().enumerate() {
            let fits = pattern.as_ref().map_or(is_called(&v.name, &info.name), |p| p.is_match(&v.name));
            if fits {
                found = true;
                if replace {
                    (v.bounds, ends[k]) = (suggested[k], [None; 2]);
                }
                v.bounds = info.bounds.map_or(v.bounds, pair);
                for (end, own) in ends[k].iter_mut().zip([info.initial, info.last]) {
                    *end = own.map(pair).or(*end);
                }
                v.initial = ends[k][0].unwrap_or(v.bounds);
                v.last = ends[k][1].unwrap_or(v.bounds);
            }
        }
        let several = variables.iter().filter(|v| is_called(&v.name, &info.name)).count() > 1;
        if several && !info.is_pattern {
            let message = format!("`{}` matches several variables", info.name);
            return Err(Error::content(path, info.line, "", message, "give more of its path"));
        }
        if !found && !info.is_pattern {
            let near = soleus_model::nearest_name(&info.name, variables.iter().map(|v| v.name.as_str()), 2);
            let hint = near.map_or(String::new(), |n| format!("the nearest name is `{n}`"));
            let message = format!("no variable is called `{}`", info.name);
            return Err(Error::content(path, info.line, "", message, &hint));
        }
    }
    Ok(())
}

/// Whether a name refers to a variable: its path, or the end of it, `knee/value` for `/jointset/knee/knee/value`.
pub fn is_called(path: &str, name: &str) -> bool {
    path == name
        || (!name.starts_with('/') && path.strip_suffix(name).is_some_and(|before| before.ends_with('/')))
}

/// A regular expression that must match the whole name.
pub fn regex(path: &Path, line: u32, pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|e| Error::content(path, line, "", format!("the pattern `{pattern}` is not valid: {e}"), ""))
}

/// Rates are bounded where Moco makes them variables: in implicit modes.
fn rates(s: &study::Problem, base: &ModelProblem, p: &mut Problem) {
    let n = base.num_coordinates();
    if s.solver.implicit {
        p.dynamics.rate_bounds[n..2 * n].fill(pair(s.solver.implicit_multibody_acceleration_bounds));
    }
    for i in implicit_states(base) {
        p.dynamics.rate_bounds[i] = pair(s.solver.implicit_auxiliary_derivative_bounds);
    }
}

/// States whose rates are variables in Moco: tendon forces of muscles with implicit tendon dynamics.
pub fn implicit_states(base: &ModelProblem) -> Vec<usize> {
    let n = base.num_coordinates();
    let mut list = Vec::new();
    for f in &base.system.forces {
        let Actor::Muscle(m) = &f.actor else { continue };
        let CompiledMuscle::DeGrooteFregly2016(dgf) = &**m else { continue };
        if dgf.wants_implicit() {
            let k = m.state_names().iter().position(|&s| s == "normalized_tendon_force");
            list.extend(k.map(|k| 2 * n + f.states.start + k));
        }
    }
    list
}
