//! Type of the elements of a table.

/// Type of the elements of a [`Table`](super::Table), by OpenSim's `DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A number (`double`).
    Scalar,
    /// A direction: three numbers of norm 1 (`UnitVec3`).
    UnitVec3,
    /// An orientation: w, x, y, z (`Quaternion`).
    Quaternion,
    /// Angular, then linear components (`SpatialVec`).
    SpatialVec,
    /// A vector of this many numbers, at least 2 (`Vec2`, `Vec3`, …).
    Vec(u8),
}

impl Element {
    /// Number of components.
    pub fn components(self) -> usize {
        match self {
            Element::Scalar => 1,
            Element::UnitVec3 => 3,
            Element::Quaternion => 4,
            Element::SpatialVec => 6,
            Element::Vec(n) => usize::from(n),
        }
    }

    /// The name in the line `DataType=` of a file.
    pub fn name(self) -> String {
        match self {
            Element::Scalar => "double".to_string(),
            Element::UnitVec3 => "UnitVec3".to_string(),
            Element::Quaternion => "Quaternion".to_string(),
            Element::SpatialVec => "SpatialVec".to_string(),
            Element::Vec(n) => format!("Vec{n}"),
        }
    }

    /// The element with a name in a line `DataType=`.
    pub fn from_name(name: &str) -> Option<Element> {
        match name {
            "double" => Some(Element::Scalar),
            "UnitVec3" => Some(Element::UnitVec3),
            "Quaternion" => Some(Element::Quaternion),
            "SpatialVec" => Some(Element::SpatialVec),
            _ => match name.strip_prefix("Vec")?.parse() {
                Ok(n @ 2..=99) => Some(Element::Vec(n)),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_names_lead_back() {
        for e in
            [Element::Scalar, Element::UnitVec3, Element::Quaternion, Element::SpatialVec, Element::Vec(3)]
        {
            assert_eq!(Element::from_name(&e.name()), Some(e));
        }
        assert_eq!(Element::from_name("Vec1"), None);
        assert_eq!(Element::from_name("Vec"), None);
    }
}
