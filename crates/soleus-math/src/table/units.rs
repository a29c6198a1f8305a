//! Units of length.

use super::Table;

/// Size of a length unit in meters: `m`, `mm`, `cm`, `in`, …, ignoring case.
pub fn meters_per(unit: &str) -> Option<f64> {
    match unit.trim().to_ascii_lowercase().as_str() {
        "m" | "meter" | "meters" | "metre" | "metres" => Some(1.0),
        "dm" => Some(0.1),
        "cm" | "centimeters" | "centimetres" => Some(0.01),
        "mm" | "millimeters" | "millimetres" => Some(0.001),
        "um" | "µm" => Some(1e-6),
        "in" | "inch" | "inches" => Some(0.0254),
        "ft" | "feet" => Some(0.3048),
        _ => None,
    }
}

impl Table {
    /// Applies f to every number except the times.
    pub fn map(&mut self, f: impl Fn(f64) -> f64) {
        for x in self.columns.iter_mut().flatten() {
            *x = f(*x);
        }
    }

    /// A table of lengths (markers) in meters, by the unit in its metadata; `None` if there is no length unit.
    pub fn in_meters(&self) -> Option<Table> {
        let factor = meters_per(self.metadata_value("Units")?)?;
        let mut t = self.clone();
        if factor != 1.0 {
            t.map(|x| x * factor);
        }
        t.set_metadata("Units", "m");
        Some(t)
    }
}
