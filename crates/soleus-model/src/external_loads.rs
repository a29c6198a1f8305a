//! Measured loads as a file lists them: which columns of which table act where.

use crate::id::FrameId;

/// An `ExternalLoads` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalLoads {
    /// Name as the file gives it.
    pub name: String,
    /// `datafile`, as the file gives it: the table of all forces that do not find their own.
    pub datafile: Option<String>,
    /// The forces in file order.
    pub forces: Vec<ExternalForceSource>,
}

/// One `ExternalForce`: where it acts, and the columns that hold it. With the table's columns it
/// becomes a [`crate::force::ExternalForce`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalForceSource {
    /// Name as the file gives it.
    pub name: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// `appliesForce`. Default true.
    pub enabled: bool,
    /// `applied_to_body`.
    pub applied_to_body: FrameId,
    /// `applied_to_body` as the file spells it; it goes into column labels.
    pub applied_to_body_label: String,
    /// `force_expressed_in_body`. Default ground.
    pub force_expressed_in_body: FrameId,
    /// `point_expressed_in_body`. Default ground.
    pub point_expressed_in_body: FrameId,
    /// `force_identifier`: the columns of the force are this followed by x, y, z (or 1, 2, 3).
    pub force_identifier: Option<String>,
    /// `point_identifier`, of the point of application.
    pub point_identifier: Option<String>,
    /// `torque_identifier`.
    pub torque_identifier: Option<String>,
    /// `data_source_name`: the table, unless `datafile` of the loads is given.
    pub data_source_name: Option<String>,
}
