//! Operators on the model.

use super::{Class, Field, Kind};

const BOUND: Field = row!("bound" => Number, "", "none", "controls lie between −bound and bound");
const SKIP: Field =
    row!("skip_actuated" => Boolean, "", "true", "skip coordinates that already have an actuator");

/// Fields that all operators have.
pub(in crate::study::file) const OPERATOR: &[Field] =
    &[row!("type" => Text, "", "required", "one of the types below")];

/// Operators on the model.
pub(in crate::study::file) const OPERATORS: &[Class] = &[
    Class {
        name: "add_external_loads",
        class: "ModOpAddExternalLoads",
        fields: &[row!("file" => File, "", "required", "an XML file with ExternalLoads")],
        help: "apply measured forces to the model",
    },
    Class {
        name: "add_reserves",
        class: "ModOpAddReserves",
        fields: &[
            row!("optimal_force" => Number, "N, N·m", "1", "force at a control of 1"),
            BOUND,
            SKIP,
            row!("skip_residuals" => Boolean, "", "false",
                "skip coordinates between ground and the first body"),
        ],
        help: "add an actuator to every coordinate",
    },
    Class {
        name: "add_residuals",
        class: "ModOpAddResiduals",
        fields: &[
            row!("rotational_force" => Number, "N·m", "1", "moment at a control of 1"),
            row!("translational_force" => Number, "N", "1", "force at a control of 1"),
            BOUND,
            SKIP,
        ],
        help: "add actuators between ground and the model",
    },
    Class { name: "remove_muscles", class: "ModOpRemoveMuscles", fields: &[], help: "remove all muscles" },
    Class {
        name: "replace_joints_with_welds",
        class: "ModOpReplaceJointsWithWelds",
        fields: &[row!("joints" => Texts, "", "required", "paths of the joints")],
        help: "replace joints by welds",
    },
    Class {
        name: "ignore_activation_dynamics",
        class: "ModOpIgnoreActivationDynamics",
        fields: &[],
        help: "ignore activation dynamics",
    },
    Class {
        name: "ignore_tendon_compliance",
        class: "ModOpIgnoreTendonCompliance",
        fields: &[],
        help: "make tendons rigid",
    },
    Class {
        name: "scale_max_isometric_force",
        class: "ModOpScaleMaxIsometricForce",
        fields: &[row!("factor" => Number, "", "1", "factor for all muscles")],
        help: "scale maximum isometric forces",
    },
    Class {
        name: "replace_muscles_with_path_actuators",
        class: "ModOpReplaceMusclesWithPathActuators",
        fields: &[],
        help: "replace muscles by path actuators",
    },
    Class {
        name: "replace_muscles_with_degroote_fregly_2016",
        class: "ModOpReplaceMusclesWithDeGrooteFregly2016",
        fields: &[],
        help: "replace muscles by De Groote–Fregly muscles",
    },
    Class {
        name: "replace_paths",
        class: "ModOpReplacePathsWithFunctionBasedPaths",
        fields: &[row!("file" => File, "", "required", "FunctionBasedPaths, as `soleus fit-paths` writes")],
        help: "replace muscle paths by polynomials",
    },
    Class {
        name: "tendon_compliance_dynamics_mode",
        class: "ModOpTendonComplianceDynamicsModeDGF",
        fields: &[row!("mode" => Text, "", "explicit", "`explicit` or `implicit`")],
        help: "tendon dynamics of De Groote–Fregly muscles",
    },
    Class {
        name: "ignore_passive_fiber_forces",
        class: "ModOpIgnorePassiveFiberForcesDGF",
        fields: &[],
        help: "ignore passive fiber forces",
    },
    Class {
        name: "passive_fiber_strain",
        class: "ModOpPassiveFiberStrainAtOneNormForceDGF",
        fields: &[row!("strain" => Number, "", "0.6", "strain at maximum isometric force")],
        help: "set the passive fiber stiffness",
    },
    Class {
        name: "scale_active_fiber_force_curve_width",
        class: "ModOpScaleActiveFiberForceCurveWidthDGF",
        fields: &[row!("factor" => Number, "", "1", "factor for all muscles")],
        help: "scale the width of the active force–length curve",
    },
    Class {
        name: "fiber_damping",
        class: "ModOpFiberDampingDGF",
        fields: &[row!("damping" => Number, "", "0", "damping of all muscles")],
        help: "set the fiber damping",
    },
    Class {
        name: "slope",
        class: "",
        fields: &[row!("degrees" => Number, "degrees", "0", "positive is uphill")],
        help: "slope along x: gravity is rotated, so that coordinates and contacts are those of level ground",
    },
    Class {
        name: "prescribe_coordinates",
        class: "ModOpPrescribeCoordinateValues",
        fields: &[row!("reference" => Reference, "", "required", "coordinates over time")],
        help: "prescribe coordinates from a table",
    },
    Class {
        name: "prescribe_functions",
        class: "ModOpPrescribeCoordinateValues",
        fields: &[row!("functions" => Functions, "rad, m", "required", "by path of the coordinate")],
        help: "prescribe coordinates by functions of time",
    },
    Class {
        name: "replace_paths_inline",
        class: "ModOpReplacePathsWithFunctionBasedPaths",
        fields: &[row!("paths" => XmlList, "", "required",
            "FunctionBasedPaths, named after the paths of forces")],
        help: "the same as `replace_paths`, without a file",
    },
];
