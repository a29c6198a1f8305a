//! Operators on the model.

use super::{Class, Field, Kind};

const BOUND: Field = row!("bound" => Number, "", "none", "controls lie between −bound and bound");
const SKIP: Field =
    row!("skip_actuated" => Boolean, "", "true", "coordinates that have an actuator get none");

/// Fields that all operators have.
pub(in crate::study::file) const OPERATOR: &[Field] =
    &[row!("type" => Text, "", "needed", "one of those below")];

/// Operators on the model.
pub(in crate::study::file) const OPERATORS: &[Class] = &[
    Class {
        name: "add_external_loads",
        class: "ModOpAddExternalLoads",
        fields: &[row!("file" => File, "", "needed", "an XML file with ExternalLoads")],
        help: "measured forces act on the model",
    },
    Class {
        name: "add_reserves",
        class: "ModOpAddReserves",
        fields: &[
            row!("optimal_force" => Number, "N, N·m", "1", "force at a control of 1"),
            BOUND,
            SKIP,
            row!("skip_residuals" => Boolean, "", "false",
                "coordinates between ground and the first body get none"),
        ],
        help: "an actuator for every coordinate",
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
        help: "actuators between ground and the model",
    },
    Class { name: "remove_muscles", class: "ModOpRemoveMuscles", fields: &[], help: "takes all muscles out" },
    Class {
        name: "replace_joints_with_welds",
        class: "ModOpReplaceJointsWithWelds",
        fields: &[row!("joints" => Texts, "", "needed", "paths of the joints")],
        help: "joints that do not move",
    },
    Class {
        name: "ignore_activation_dynamics",
        class: "ModOpIgnoreActivationDynamics",
        fields: &[],
        help: "activations are excitations",
    },
    Class {
        name: "ignore_tendon_compliance",
        class: "ModOpIgnoreTendonCompliance",
        fields: &[],
        help: "tendons are rigid",
    },
    Class {
        name: "scale_max_isometric_force",
        class: "ModOpScaleMaxIsometricForce",
        fields: &[row!("factor" => Number, "", "1", "for all muscles")],
        help: "stronger or weaker muscles",
    },
    Class {
        name: "replace_muscles_with_path_actuators",
        class: "ModOpReplaceMusclesWithPathActuators",
        fields: &[],
        help: "plain forces along the paths of muscles",
    },
    Class {
        name: "replace_muscles_with_degroote_fregly_2016",
        class: "ModOpReplaceMusclesWithDeGrooteFregly2016",
        fields: &[],
        help: "smooth muscles made for optimal control",
    },
    Class {
        name: "replace_paths",
        class: "ModOpReplacePathsWithFunctionBasedPaths",
        fields: &[row!("file" => File, "", "needed", "FunctionBasedPaths, as `soleus fit-paths` writes")],
        help: "polynomials in place of muscle paths",
    },
    Class {
        name: "tendon_compliance_dynamics_mode",
        class: "ModOpTendonComplianceDynamicsModeDGF",
        fields: &[row!("mode" => Text, "", "explicit", "`explicit` or `implicit`")],
        help: "which equation De Groote–Fregly muscles solve",
    },
    Class {
        name: "ignore_passive_fiber_forces",
        class: "ModOpIgnorePassiveFiberForcesDGF",
        fields: &[],
        help: "fibers resist no stretch",
    },
    Class {
        name: "passive_fiber_strain",
        class: "ModOpPassiveFiberStrainAtOneNormForceDGF",
        fields: &[row!("strain" => Number, "", "0.6", "at maximal isometric force")],
        help: "how stiff fibers are",
    },
    Class {
        name: "scale_active_fiber_force_curve_width",
        class: "ModOpScaleActiveFiberForceCurveWidthDGF",
        fields: &[row!("factor" => Number, "", "1", "for all muscles")],
        help: "wider or narrower force–length curves",
    },
    Class {
        name: "fiber_damping",
        class: "ModOpFiberDampingDGF",
        fields: &[row!("damping" => Number, "", "0", "for all muscles")],
        help: "damping of fibers",
    },
    Class {
        name: "slope",
        class: "",
        fields: &[row!("degrees" => Number, "degrees", "0", "above zero is uphill")],
        help: "a slope along x: gravity is turned, so that coordinates and contacts stay those of level ground",
    },
    Class {
        name: "prescribe_coordinates",
        class: "ModOpPrescribeCoordinateValues",
        fields: &[row!("reference" => Reference, "", "needed", "coordinates over time")],
        help: "coordinates follow a table",
    },
    Class {
        name: "prescribe_functions",
        class: "ModOpPrescribeCoordinateValues",
        fields: &[row!("functions" => Functions, "rad, m", "needed", "by path of the coordinate")],
        help: "coordinates follow functions of time",
    },
    Class {
        name: "replace_paths_inline",
        class: "ModOpReplacePathsWithFunctionBasedPaths",
        fields: &[row!("paths" => XmlList, "", "needed",
            "FunctionBasedPaths, named after the paths of forces")],
        help: "the same as `replace_paths`, without a file",
    },
];
