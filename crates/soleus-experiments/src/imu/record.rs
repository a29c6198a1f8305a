//! Inertial records of one cycle, and what was measured beside them.

use crate::desk;
use soleus::Error;
use soleus_io::mat::{self, MatTable, Value};
use std::path::Path;

/// One channel over the cycle: mean and variance over many cycles.
#[derive(Clone, Debug)]
pub struct Channel {
    /// `acc`, `gyro`, `angle`, `GRF`, `moment`.
    pub kind: String,
    /// Segment or joint.
    pub name: String,
    /// Place on the segment, m.
    pub position: [f64; 3],
    /// Direction on the segment.
    pub direction: [f64; 3],
    /// At equal steps of the cycle, its end left out.
    pub mean: Vec<f64>,
    /// The same.
    pub variance: Vec<f64>,
}

/// A record.
#[derive(Clone, Debug)]
pub struct Recording {
    /// kg.
    pub mass: f64,
    /// m.
    pub height: f64,
    /// m/s.
    pub speed: f64,
    /// Of a cycle, s.
    pub duration: f64,
    /// All channels.
    pub channels: Vec<Channel>,
}

impl Recording {
    /// Reads a file of the BioMAC toolbox.
    pub fn read(path: &Path) -> Result<Recording, Error> {
        let bytes = desk::read(path)?;
        let bad = |message: String| Error::content(path, 0, "", message, "");
        let file = mat::read(&bytes).map_err(|e| bad(e.to_string()))?;
        let person = file.variables.iter().find(|v| v.0 == "dataStruct").map(|v| &v.1);
        let of_person = |name: &str| {
            let value = person.and_then(|p| p.field(name)).and_then(Value::numbers);
            value.and_then(|v| v.first().copied()).ok_or_else(|| bad(format!("`{name}` is missing")))
        };
        let table = file.tables.iter().find(|t| t.column("mean").is_some() && t.column("segment").is_some());
        let table = table.ok_or_else(|| bad("the sensor table is missing".into()))?;
        let channels: Vec<Channel> = (0..table.rows).filter_map(|r| channel(table, r)).collect();
        let single = |kind: &str| {
            let found = channels.iter().find(|c| c.kind == kind).and_then(|c| c.mean.first().copied());
            found.ok_or_else(|| bad(format!("the sensor table has no row of type `{kind}`")))
        };
        Ok(Recording {
            mass: of_person("participantMass")?,
            height: of_person("participantHeight")?,
            speed: single("speed")?,
            duration: single("dur")?,
            channels,
        })
    }

    /// A measured course.
    pub fn find(&self, kind: &str, name: &str) -> Option<&Channel> {
        self.channels.iter().find(|c| c.kind == kind && c.name == name)
    }
}

fn channel(table: &MatTable, row: usize) -> Option<Channel> {
    let text = |column: &str| table.cell(column, row)?.text().map(ToString::to_string);
    let numbers = |column: &str| table.cell(column, row)?.numbers().map(<[f64]>::to_vec);
    // Three numbers in each row, stored column by column if the table's column is one array.
    let three = |column: &str| {
        let list = match table.column(column)? {
            Value::Numbers { values, .. } => {
                (0..3).map(|k| values.get(row + k * table.rows).copied()).collect::<Option<Vec<f64>>>()?
            }
            _ => numbers(column)?,
        };
        <[f64; 3]>::try_from(list).ok()
    };
    Some(Channel {
        kind: text("type")?,
        name: text("name")?,
        position: three("position").unwrap_or([f64::NAN; 3]),
        direction: three("direction").unwrap_or([f64::NAN; 3]),
        mean: numbers("mean")?,
        variance: numbers("var")?,
    })
}
