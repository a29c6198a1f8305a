//! Units of length.

use super::Table;

/// Meters in one of a unit of length: `m`, `mm`, `cm`, `in`, …, in any case.
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
    /// Every number, but for the times, becomes f of it.
    pub fn map(&mut self, f: impl Fn(f64) -> f64) {
        for x in self.columns.iter_mut().flatten() {
            *x = f(*x);
        }
    }

    /// A table of lengths (markers) in meters, by the unit in its metadata; `None` if it names no unit of length.
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
