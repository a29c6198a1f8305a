//! Measured loads as listed in a file: columns of tables, and where they act.

use crate::id::FrameId;

/// An `ExternalLoads` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalLoads {
    /// Name in the file.
    pub name: String,
    /// `datafile`, as in the file: the table of all forces without their own.
    pub datafile: Option<String>,
    /// The forces in file order.
    pub forces: Vec<ExternalForceSource>,
}

/// One `ExternalForce`: where it acts, and its columns. With the data of the table it becomes a
/// [`crate::force::ExternalForce`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalForceSource {
    /// Name in the file.
    pub name: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// `appliesForce`. Default true.
    pub enabled: bool,
    /// `applied_to_body`.
    pub applied_to_body: FrameId,
    /// `applied_to_body` as written in the file; used in column labels.
    pub applied_to_body_label: String,
    /// `force_expressed_in_body`. Default ground.
    pub force_expressed_in_body: FrameId,
    /// `point_expressed_in_body`. Default ground.
    pub point_expressed_in_body: FrameId,
    /// `force_identifier`: prefix of the columns of the force, followed by x, y, z (or 1, 2, 3).
    pub force_identifier: Option<String>,
    /// `point_identifier` for the point of application.
    pub point_identifier: Option<String>,
    /// `torque_identifier`.
    pub torque_identifier: Option<String>,
    /// `data_source_name`: the table, unless `datafile` of the loads is given.
    pub data_source_name: Option<String>,
}
