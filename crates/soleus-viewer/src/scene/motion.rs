//! Converts a table of coordinates to states of a model.

use soleus_dynamics::{State, System};
use soleus_math::table::{Element, Table};
use soleus_model::angles;
use soleus_model::model::Model;

/// Why a table is not a motion of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// The columns are vectors or quaternions.
    #[error("the columns of the table are not numbers")]
    NotNumbers,
    /// No column belongs to the model.
    #[error("none of the columns is a coordinate of the model; it has {}", known.join(", "))]
    NoCoordinates {
        /// Some coordinates of the model.
        known: Vec<String>,
    },
    /// No row is complete.
    #[error("every row of the table has gaps")]
    NoRows,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Value { mobility: usize, unit: f64 },
    Speed { mobility: usize, unit: f64 },
    Aux(usize),
}

/// A table read as states of a model.
///
/// Columns are found by the name of the coordinate (`knee_angle_r`, its speed `knee_angle_r_u`), by path
/// (`/jointset/knee_r/knee_angle_r/value`, `…/speed`, `/forceset/soleus_r/activation`) and by the names of OpenSim 3
/// (`knee_r/knee_angle_r`, `soleus_r.activation`). Rotations are in degrees if the table says so. States without a
/// column keep the model's default values.
#[derive(Clone, Debug)]
pub struct Motion<'a> {
    table: &'a Table,
    slots: Vec<(usize, Slot)>,
    /// Rows without gaps.
    rows: Vec<usize>,
    /// Coordinates without a column.
    pub at_default: Vec<String>,
    /// Number of rows with gaps, which are left out.
    pub gaps: usize,
    /// Whether there are columns of speeds.
    pub has_speeds: bool,
    /// Whether there are columns of activations.
    pub has_activations: bool,
}

impl<'a> Motion<'a> {
    /// Finds the columns.
    ///
    /// # Errors
    ///
    /// If no column is a coordinate of the model, or no row is complete.
    pub fn new(model: &Model, system: &System, table: &'a Table) -> Result<Self, MotionError> {
        if table.element() != Element::Scalar {
            return Err(MotionError::NotNumbers);
        }
        let mut slots = Vec::new();
        let mut at_default = Vec::new();
        for (c, &mobility) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            if mobility == usize::MAX {
                continue;
            }
            let unit = angles::unit_of(table, c);
            let joint = c.path.rsplit('/').nth(1).unwrap_or_default();
            let value = [
                format!("{}/value", c.path),
                c.path.clone(),
                c.name.clone(),
                format!("{joint}/{}", c.name),
                format!("{joint}/{}/value", c.name),
            ];
            let speed = [
                format!("{}/speed", c.path),
                format!("{}_u", c.name),
                format!("{joint}/{}/speed", c.name),
                format!("{joint}/{}_u", c.name),
            ];
            match find(table, &value) {
                Some(i) => slots.push((i, Slot::Value { mobility, unit })),
                None => at_default.push(c.name.clone()),
            }
            slots.extend(find(table, &speed).map(|i| (i, Slot::Speed { mobility, unit })));
        }
        if slots.is_empty() {
            let mut known: Vec<String> = model.coordinates.iter().take(6).map(|c| c.name.clone()).collect();
            if model.coordinates.len() > known.len() {
                known.push("…".to_string());
            }
            return Err(MotionError::NoCoordinates { known });
        }
        for (z, name) in system.aux_names.iter().enumerate() {
            let mut parts = name.rsplit('/');
            let (state, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let names = [name.clone(), format!("{owner}/{state}"), format!("{owner}.{state}")];
            slots.extend(find(table, &names).map(|i| (i, Slot::Aux(z))));
        }
        let whole = |r: &usize| {
            table.times()[*r].is_finite() && slots.iter().all(|(i, _)| table.columns()[*i][*r].is_finite())
        };
        let rows: Vec<usize> = (0..table.rows()).filter(whole).collect();
        if rows.is_empty() {
            return Err(MotionError::NoRows);
        }
        let is_activation =
            |s: &(usize, Slot)| matches!(s.1, Slot::Aux(z) if system.aux_names[z].ends_with("/activation"));
        Ok(Motion {
            at_default,
            gaps: table.rows() - rows.len(),
            has_speeds: slots.iter().any(|s| matches!(s.1, Slot::Speed { .. })),
            has_activations: slots.iter().any(is_activation),
            table,
            slots,
            rows,
        })
    }

    /// Times of the rows without gaps, s.
    pub fn times(&self) -> Vec<f64> {
        self.rows.iter().map(|&r| self.table.times()[r]).collect()
    }

    /// Sets a state to row `i` of [`times`](Self::times); states without a column are not changed.
    pub fn read(&self, i: usize, x: &mut State<f64>) {
        let Some(&row) = self.rows.get(i) else { return };
        x.time = self.table.times()[row];
        for &(column, slot) in &self.slots {
            let v = self.table.columns()[column][row];
            match slot {
                Slot::Value { mobility, unit } => x.q[mobility] = v * unit,
                Slot::Speed { mobility, unit } => x.u[mobility] = v * unit,
                Slot::Aux(z) => x.z[z] = v,
            }
        }
    }

    /// Indices into [`times`](Self::times) for a maximum frame rate: the first, the last, and those nearest to even
    /// steps in between.
    pub fn thinned(&self, frames_per_second: f64) -> Vec<usize> {
        thinned(&self.times(), frames_per_second)
    }
}

/// Activations of muscles in a separate table, such as results of static optimization: columns by name or path of the
/// muscle. They are interpolated linearly and constant beyond the ends.
#[derive(Clone, Debug)]
pub struct Activations<'a> {
    table: &'a Table,
    /// Column and state.
    columns: Vec<(usize, usize)>,
}

impl<'a> Activations<'a> {
    /// Finds the columns; `None` if there are none.
    pub fn new(model: &Model, system: &System, table: &'a Table) -> Option<Self> {
        let mut columns = Vec::new();
        for (f, s) in model.forces.iter().zip(&system.forces) {
            let Some(z) = s.states.clone().find(|&z| system.aux_names[z].ends_with("/activation")) else {
                continue;
            };
            let (path, name) = (&f.path, &f.name);
            let names = [
                format!("{path}/activation"),
                path.clone(),
                name.clone(),
                format!("{name}.activation"),
                format!("{name}.excitation"),
            ];
            columns.extend(find(table, &names).map(|c| (c, z)));
        }
        let usable = table.element() == Element::Scalar && table.rows() > 0 && !columns.is_empty();
        usable.then_some(Activations { table, columns })
    }

    /// Sets the activations of a state at its time.
    pub fn read(&self, x: &mut State<f64>) {
        let times = self.table.times();
        let after = times.partition_point(|&t| t < x.time).min(times.len() - 1);
        let before = after.saturating_sub(1);
        let step = times[after] - times[before];
        let share = if step > 0.0 { ((x.time - times[before]) / step).clamp(0.0, 1.0) } else { 1.0 };
        for &(c, z) in &self.columns {
            let y = &self.table.columns()[c];
            x.z[z] = y[before] + share * (y[after] - y[before]);
        }
    }
}

/// Place of the first column with one of the names, the first name first.
fn find(table: &Table, names: &[String]) -> Option<usize> {
    names.iter().find_map(|n| table.index_of(n))
}

fn thinned(times: &[f64], frames_per_second: f64) -> Vec<usize> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Vec::new() };
    let steps = ((last - first) * frames_per_second).ceil();
    if !(steps < times.len() as f64 - 1.0) || !(steps >= 1.0) {
        return (0..times.len()).collect();
    }
    let mut kept: Vec<usize> = Vec::new();
    for k in 0..=steps as usize {
        let t = first + (last - first) * k as f64 / steps;
        let after = times.partition_point(|&x| x < t).min(times.len() - 1);
        let before = after.saturating_sub(1);
        let nearest = if t - times[before] < times[after] - t { before } else { after };
        if kept.last().is_none_or(|&l| l < nearest) {
            kept.push(nearest);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_long_motions_are_thinned() {
        let times: Vec<f64> = (0..=1000).map(|i| f64::from(i) * 0.001).collect();
        let kept = thinned(&times, 50.0);
        assert_eq!((kept.len(), kept[0], kept[1], *kept.last().unwrap()), (51, 0, 20, 1000));
        // What is slow enough stays as it is, and so does what has no duration.
        assert_eq!(thinned(&times, 1000.0).len(), 1001);
        assert_eq!(thinned(&times, 1e9).len(), 1001);
        assert_eq!(thinned(&[0.0; 5], 50.0), [0, 1, 2, 3, 4]);
        assert_eq!(thinned(&[], 50.0), [0usize; 0]);
        // Uneven steps: none twice, the ends always.
        assert_eq!(thinned(&[0.0, 0.01, 0.02, 0.9, 0.95, 1.0], 2.0), [0, 3, 5]);
    }
}
