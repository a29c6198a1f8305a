//! Path constraints of a study.

use super::formulas::{self, Setting};
use super::outputs::{frame, scalar};
use super::pair;
use crate::context::Context;
use crate::error::Error;
use soleus_control::PathConstraint;
use soleus_control::goal::{self, Projection, Shape, TimeBounds};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::PointVariable;
use soleus_io::study::{self, FunctionBounds, PathConstraintKind};
use soleus_math::vec3;
use std::path::Path;

/// All path constraints of a study.
pub fn build(
    cx: &Context,
    path: &Path,
    s: &study::Problem,
    base: &ModelProblem,
) -> Result<Vec<PathConstraint>, Error> {
    let mut list = Vec::new();
    let is_formula = |c: &study::PathConstraint| matches!(c.kind, PathConstraintKind::Formula { .. });
    let has_formula = s.path_constraints.iter().any(is_formula);
    let setting = if has_formula { Setting::new(cx, path, s, base)? } else { Setting::default() };
    for c in &s.path_constraints {
        if let PathConstraintKind::Formula { formula, bounds } = &c.kind {
            list.extend(formulas::constraint(path, (c.line, &c.name), base, &setting, formula, bounds)?);
            continue;
        }
        let refuse = |message: String| Error::content(path, c.line, &c.name, message, "");
        list.extend(one(c, base).map_err(refuse)?);
    }
    list.extend(formulas::controllers(path, base)?);
    Ok(list)
}

fn one(c: &study::PathConstraint, base: &ModelProblem) -> Result<Vec<PathConstraint>, String> {
    let (name, system) = (c.name.as_str(), &base.system);
    match &c.kind {
        PathConstraintKind::ControlBound { paths, bounds } => {
            let list = variables(paths, &base.controls, PointVariable::Control)?;
            Ok(goal::variable_bounds(name, system, &list, &time_bounds(bounds)?))
        }
        PathConstraintKind::StateBound { paths, bounds } => {
            let list = variables(paths, &base.states, PointVariable::State)?;
            Ok(goal::variable_bounds(name, system, &list, &time_bounds(bounds)?))
        }
        PathConstraintKind::OutputBound { output, bounds } => {
            let (quantities, scalar) = scalar(base, output, Shape::Plain)?;
            Ok(goal::output_bounds(name, system, &quantities, &scalar, &time_bounds(bounds)?))
        }
        PathConstraintKind::Output { output, bounds } => {
            let (quantities, scalar) = scalar(base, output, Shape::Plain)?;
            Ok(vec![goal::output_constraint(name, system, quantities, scalar, pair(*bounds))])
        }
        PathConstraintKind::Formula { .. } => Ok(Vec::new()),
        PathConstraintKind::FrameDistance { pairs, projection, vector } => {
            let mut list = Vec::new();
            for p in pairs {
                let [least, greatest] = p.distance;
                if !(least >= 0.0 && least <= greatest) {
                    return Err(format!("distances from {least} m to {greatest} m are not valid"));
                }
                list.push(([frame(base, &p.frames[0])?, frame(base, &p.frames[1])?], p.distance));
            }
            Ok(goal::frame_distance(name, system, &list, projected(projection, *vector)?))
        }
    }
}

/// The projection of a difference, by Moco's name.
pub fn projected(word: &str, [x, y, z]: [f64; 3]) -> Result<Projection, String> {
    let direction = vec3(x, y, z);
    match word {
        "none" => Ok(Projection::None),
        "vector" | "plane" if !(direction.norm() > 0.0) => {
            Err(format!("the projection onto a {word} needs a `projection_vector`"))
        }
        "vector" => Ok(Projection::Vector(direction.normalized())),
        "plane" => Ok(Projection::Plane(direction.normalized())),
        other => Err(format!("unknown projection `{other}`")),
    }
}

fn variables(
    paths: &[String],
    names: &[String],
    of: fn(usize) -> PointVariable,
) -> Result<Vec<PointVariable>, String> {
    let find = |p: &String| {
        let near = soleus_model::nearest_name(p, names.iter().map(String::as_str), 2);
        let near = near.map_or(String::new(), |n| format!("; the nearest name is `{n}`"));
        let i = formulas::position(names, p);
        i.map(of).ok_or_else(|| format!("`{p}` matches no variable, or several{near}"))
    };
    paths.iter().map(find).collect()
}

pub fn time_bounds(b: &FunctionBounds) -> Result<TimeBounds, String> {
    if b.lower.is_none() && b.upper.is_none() {
        return Err("there is neither a lower nor an upper bound".into());
    }
    if b.equality_with_lower && (b.lower.is_none() || b.upper.is_some()) {
        return Err("equality needs a lower bound and no upper bound".into());
    }
    Ok(TimeBounds { lower: b.lower.clone(), upper: b.upper.clone(), equal: b.equality_with_lower })
}
