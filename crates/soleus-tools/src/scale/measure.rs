//! Distances between markers, on the model and on the subject.

use super::{Error, Factors, default_pose, for_poses};
use soleus_math::{Table, Vec3};
use soleus_model::Model;

/// Marker pairs whose distance determines the size of bodies: `Measurement`.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Name of the measurement.
    pub name: String,
    /// Names of the markers.
    pub pairs: Vec<[String; 2]>,
    /// Scaled bodies, and the axes along which they are scaled.
    pub bodies: Vec<(String, [bool; 3])>,
}

/// Result of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Name of the measurement.
    pub name: String,
    /// Mean ratio of subject to model over the pairs; `None` if a marker is missing.
    pub factor: Option<f64>,
    /// Distances on the model and on the subject, m, pair by pair.
    pub distances: Vec<[f64; 2]>,
    /// Markers that are not in the model.
    pub not_in_model: Vec<String>,
    /// Markers that are not in the data, or not visible in the time range.
    pub not_in_data: Vec<String>,
    /// Bodies that are not in the model.
    pub unknown_bodies: Vec<String>,
}

/// Sets scale factors from measurements in a static trial (`markers` in meters), averaged over the frames in `range`,
/// s: mean over the pairs of
///
///   (mean distance on the subject) / (distance on the model in its default pose)
///
/// A measurement with a marker that is missing in model or data is left out, and the marker is reported. Frames in
/// which a marker of a pair is missing are ignored for that pair.
pub fn measure(
    model: &Model,
    markers: &Table,
    range: [f64; 2],
    measurements: &[Measurement],
    factors: &mut Factors,
) -> Result<Vec<Measured>, Error> {
    let (system, ws) = default_pose(&for_poses(model, |_| false))?;
    let on_model = |name: &str| {
        let i = model.markers.iter().position(|m| m.name == name)?;
        let m = &system.markers[i];
        Some(ws.kin.X_GB[m.body] * m.p_BS)
    };
    let rows = Average::Around.rows(markers.times(), range)?;

    let mut list = Vec::new();
    for m in measurements {
        let mut found = Measured { name: m.name.clone(), ..Measured::default() };
        for [a, b] in &m.pairs {
            for name in [a, b] {
                if on_model(name).is_none() {
                    found.not_in_model.push(name.clone());
                }
                if markers.index_of(name).is_none() {
                    found.not_in_data.push(name.clone());
                }
            }
            let (Some(pa), Some(pb)) = (on_model(a), on_model(b)) else { continue };
            let (Some(ia), Some(ib)) = (markers.index_of(a), markers.index_of(b)) else { continue };
            let (mut sum, mut count) = (0.0, 0.0);
            for row in rows.clone() {
                let d = (markers.vec3(row, ib) - markers.vec3(row, ia)).norm();
                if d.is_finite() {
                    sum += d;
                    count += 1.0;
                }
            }
            if count == 0.0 {
                let seen = |i: usize| rows.clone().any(|r| markers.vec3(r, i).norm_sq().is_finite());
                found
                    .not_in_data
                    .extend([(a, ia), (b, ib)].iter().filter(|(_, i)| !seen(*i)).map(|(n, _)| (*n).clone()));
                continue;
            }
            found.distances.push([(pa - pb).norm(), sum / count]);
        }
        if !m.pairs.is_empty() && found.distances.len() == m.pairs.len() {
            let sum: f64 = found.distances.iter().map(|[model, subject]| subject / model).sum();
            let factor = sum / m.pairs.len() as f64;
            for (body, axes) in &m.bodies {
                if !factors.set(model, body, axes.map(|a| a.then_some(factor))) {
                    found.unknown_bodies.push(body.clone());
                }
            }
            found.factor = Some(factor);
        }
        list.push(found);
    }
    Ok(list)
}

/// Which frames are used for a time range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// From the last frame at or before its start to the first at or after its end.
    Around,
    /// Frames within the range.
    Within,
}

impl Average {
    /// Rows of a time range; at least one.
    pub fn rows(self, times: &[f64], [from, to]: [f64; 2]) -> Result<std::ops::Range<usize>, Error> {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Err(Error::NoFrames { first: f64::NAN, last: f64::NAN, from, to });
        };
        // OpenSim's slack for the end of the range.
        const SLACK_S: f64 = 1e-16;
        let rows = match self {
            Average::Around => {
                let start = times.partition_point(|t| *t <= from).saturating_sub(1);
                let end = times.iter().skip(start).position(|t| *t >= to - SLACK_S);
                start..end.map_or(times.len(), |e| start + e + 1)
            }
            Average::Within => times.partition_point(|t| *t < from)..times.partition_point(|t| *t <= to),
        };
        if !(from <= to) || rows.is_empty() {
            return Err(Error::NoFrames { first, last, from, to });
        }
        Ok(rows)
    }

    /// Mean position of each marker over these rows; not finite if it is never visible.
    pub fn places(self, markers: &Table, range: [f64; 2]) -> Result<Vec<Vec3<f64>>, Error> {
        let rows = self.rows(markers.times(), range)?;
        let mean = |i: usize| {
            let (mut sum, mut count) = (Vec3::zero(), 0.0);
            for p in rows.clone().map(|r| markers.vec3(r, i)).filter(|p| p.norm_sq().is_finite()) {
                sum += p;
                count += 1.0;
            }
            sum * (1.0 / count)
        };
        Ok((0..markers.labels().len()).map(mean).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_frames_of_a_range() {
        let t = [0.0, 0.1, 0.2, 0.3, 0.4];
        assert_eq!(Average::Around.rows(&t, [0.1, 0.25]).unwrap(), 1..4);
        assert_eq!(Average::Within.rows(&t, [0.1, 0.25]).unwrap(), 1..3);
        assert_eq!(Average::Around.rows(&t, [-1.0, -1.0]).unwrap(), 0..1);
        assert_eq!(Average::Around.rows(&t, [0.35, 9.0]).unwrap(), 3..5);
        assert!(Average::Within.rows(&t, [0.31, 0.39]).is_err());
        assert!(Average::Around.rows(&t, [0.3, 0.1]).is_err());
        assert!(Average::Around.rows(&[], [0.0, 1.0]).is_err());
    }
}
