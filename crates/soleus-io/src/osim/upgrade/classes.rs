//! Class names: the ones that changed, and the families that share an upgrade.

use soleus_model::Element;

use super::Upgrade;

/// Present name of a class that OpenSim still reads under an old name.
/// Source: the `renameType` calls of OpenSim 4.6.
fn renamed(tag: &str) -> Option<&'static str> {
    Some(match tag {
        "ActuatorSet" => "ForceSet",
        "MuscleWrap" => "PathWrap",
        "MuscleWrapSet" => "PathWrapSet",
        "MusclePoint" => "PathPoint",
        "MuscleViaPoint" => "ConditionalPathPoint",
        "MovingMusclePoint" => "MovingPathPoint",
        "MusclePointSet" => "PathPointSet",
        "MuscleMetabolicPowerProbeUmberger2010" => "Umberger2010MuscleMetabolicsProbe",
        "MuscleMetabolicPowerProbeUmberger2010_MetabolicMuscleParameter" => {
            "Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameter"
        }
        "MuscleMetabolicPowerProbeUmberger2010_MetabolicMuscleParameterSet" => {
            "Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameterSet"
        }
        "NaturalCubicSpline" => "SimmSpline",
        "natCubicSpline" => "SimmSpline",
        "GeneralizedForce" => "CoordinateActuator",
        "Schutte1993Muscle" => "Schutte1993Muscle_Deprecated",
        "Delp1990Muscle" => "Delp1990Muscle_Deprecated",
        _ => return None,
    })
}

/// Names that are also words for other things; they are classes only as members of a list.
fn renamed_in_list(tag: &str) -> Option<&'static str> {
    match tag {
        "Force" => Some("PointActuator"),
        "Torque" => Some("TorqueActuator"),
        _ => None,
    }
}

/// Gives every element of a renamed class its present name.
pub fn rename(root: &mut Element, _: &mut Upgrade<'_>) {
    rename_below(root);
}

fn rename_below(e: &mut Element) {
    // OpenSim looks for samples in `defaults` under present names only. Under an old name they
    // have no effect, and must not gain one here.
    let samples = e.tag == "defaults";
    let in_list = matches!(e.tag.as_str(), "objects" | "components");
    for child in e.children_mut() {
        let tag = child.tag.as_str();
        let found = renamed(tag).or_else(|| renamed_in_list(tag).filter(|_| in_list));
        if let Some(new) = found.filter(|_| !samples) {
            child.tag = new.to_string();
        }
        rename_below(child);
    }
}

/// Whether the class is a joint. Classes of plug-ins follow the same habit of naming.
pub fn is_joint(tag: &str) -> bool {
    // `Joint` alone was the list around a body's joint; the other two are tracking tasks.
    tag.ends_with("Joint") && !matches!(tag, "Joint" | "CMC_Joint" | "SMC_Joint")
}

/// Whether the class is a muscle.
pub fn is_muscle(tag: &str) -> bool {
    tag.ends_with("Muscle") || tag.ends_with("Muscle_Deprecated")
}

/// Whether the class is an actuator: something a controller can drive.
pub fn is_actuator(tag: &str) -> bool {
    is_muscle(tag) || tag.ends_with("Actuator") || tag == "ClutchedPathSpring"
}

/// Whether the class is a wrap object.
pub fn is_wrap_object(tag: &str) -> bool {
    matches!(tag, "WrapCylinder" | "WrapSphere" | "WrapEllipsoid" | "WrapTorus")
}

/// Whether the class is a contact geometry.
pub fn is_contact_geometry(tag: &str) -> bool {
    matches!(
        tag,
        "ContactHalfSpace"
            | "ContactSphere"
            | "ContactMesh"
            | "ContactCylinder"
            | "ContactEllipsoid"
            | "ContactTorus"
    )
}

/// Whether the class is a point of a muscle path.
pub fn is_path_point(tag: &str) -> bool {
    matches!(tag, "PathPoint" | "ConditionalPathPoint" | "MovingPathPoint")
}

/// Whether the class links two frames at given locations on them.
pub fn is_two_frame_linker(tag: &str) -> bool {
    matches!(
        tag,
        "WeldConstraint" | "BushingForce" | "FunctionBasedBushingForce" | "ExpressionBasedBushingForce"
    )
}

/// Whether members of the class are components: since 4.0 they all have a name, free of white
/// space.
pub fn is_component(tag: &str) -> bool {
    is_joint(tag)
        || is_actuator(tag)
        || is_wrap_object(tag)
        || is_contact_geometry(tag)
        || is_path_point(tag)
        || tag.ends_with("Constraint")
        || tag.ends_with("Controller")
        || tag.ends_with("Probe")
        || (tag.ends_with("Force") && tag != "Force")
        || tag.ends_with("Spring")
        || tag.ends_with("Ligament")
        || matches!(
            tag,
            "Model"
                | "Body"
                | "Ground"
                | "Coordinate"
                | "Marker"
                | "Station"
                | "GeometryPath"
                | "PathWrap"
                | "BodySet"
                | "JointSet"
                | "ConstraintSet"
                | "ForceSet"
                | "MarkerSet"
                | "ContactGeometrySet"
                | "ControllerSet"
                | "ProbeSet"
                | "ComponentSet"
                | "WrapObjectSet"
        )
}
