//! `Kinematics`: coordinates, speeds and accelerations.

use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI_OR_DEGREES, coordinates};
use soleus_model::{Model, angles};

/// Coordinates, speeds and accelerations; angles in degrees if requested.
#[derive(Clone, Debug)]
pub struct Kinematics {
    /// Mobility of each coordinate, and the factor to its unit.
    columns: Vec<(usize, f64)>,
    tables: [Recorder; 3],
}

impl Kinematics {
    /// For the named coordinates; `all` for all coordinates.
    pub fn new(
        model: &Model,
        system: &soleus_dynamics::System,
        names: &[String],
        in_degrees: bool,
    ) -> Result<Self, AnalysisError> {
        let list = coordinates(model, names)?;
        let labels: Vec<String> = list.iter().map(|&c| model.coordinates[c].name.clone()).collect();
        let columns = list.iter().map(|&c| {
            let factor = if in_degrees { angles::degrees_of(&model.coordinates[c]) } else { 1.0 };
            (system.tree.mobility_of_coordinate[c], factor)
        });
        let table = |name: &str| Recorder::new(name, SI_OR_DEGREES, labels.clone()).in_degrees(in_degrees);
        Ok(Kinematics {
            columns: columns.collect(),
            tables: [table("Coordinates"), table("Speeds"), table("Accelerations")],
        })
    }
}

impl Analysis for Kinematics {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let values = [&now.x.q, &now.x.u, &now.ws.udot];
        for (table, values) in self.tables.iter_mut().zip(values) {
            let at = |&(m, factor): &(usize, f64)| values.get(m).map_or(f64::NAN, |v| v * factor);
            table.push(now.x.time, self.columns.iter().map(at));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let [q, u, dudt] = self.tables;
        Ok(vec![
            Output { suffix: "_dudt".to_string(), table: dudt.table()? },
            Output { suffix: "_u".to_string(), table: u.table()? },
            Output { suffix: "_q".to_string(), table: q.table()? },
        ])
    }
}
