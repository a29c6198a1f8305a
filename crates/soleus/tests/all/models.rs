//! Models and tables of the tests.

use soleus::Memory;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;

/// Three pin joints and eight muscles.
pub const LEG: &[u8] = include_bytes!("../../../../models/leg_swing.osim");

/// Files in memory: the leg.
pub fn leg() -> Memory {
    Memory::new().with("leg.osim", LEG)
}

/// A table of numbers.
pub fn table(labels: &[&str], times: Vec<f64>, columns: Vec<Vec<f64>>) -> Table {
    Table::new(Element::Scalar, labels.iter().map(|l| l.to_string()).collect(), times, columns).unwrap()
}

/// A pendulum: a body of 2 kg whose mass center hangs 0.5 m below its hinge, with more XML in its force set.
pub fn pendulum(name: &str, mass_and_inertia: (&str, &str), forces: &str) -> String {
    let (mass, inertia) = mass_and_inertia;
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40600"><Model name="{name}"><Ground name="ground"/>
<BodySet name="bodyset"><objects><Body name="rod"><mass>{mass}</mass><mass_center>0 -0.5 0</mass_center>
<inertia>{inertia} {inertia} {inertia} 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><PinJoint name="hinge"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/rod</socket_child_frame><coordinates><Coordinate name="angle"/></coordinates></PinJoint></objects></JointSet>
<ForceSet name="forceset"><objects>{forces}</objects></ForceSet></Model></OpenSimDocument>"#
    )
}
