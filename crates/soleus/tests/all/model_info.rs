use crate::models::{leg, pendulum};
use soleus::{Context, Memory, ModelInfo, Outcome};

#[test]
fn identity_masses_add_up() {
    let files = leg();
    let about =
        ModelInfo { model: "leg.osim".into(), ..Default::default() }.run(&Context::new(&files)).unwrap();
    // The same sum in the same order.
    assert_eq!(about.mass, about.bodies.iter().map(|b| b.mass).sum::<f64>());
    assert_eq!((about.muscles.len(), about.coordinates.len()), (8, 3));
    assert!(about.artifacts().is_empty(), "no file was asked for");
    let v: serde_json::Value = serde_json::from_str(&about.to_json()).unwrap();
    assert_eq!(v["coordinates"][0]["path"], "/jointset/hip/hip_flexion");
}

/// A name that clears the screen, or makes what follows red, is shown and not obeyed.
#[test]
fn issue_21_control_characters_are_spelled_out() {
    let files = Memory::new().with("p.osim", pendulum("red\u{9b}31m\u{202e}", ("2", "0.1"), ""));
    let about =
        ModelInfo { model: "p.osim".into(), ..Default::default() }.run(&Context::new(&files)).unwrap();
    let text = about.to_text();
    assert!(text.starts_with("red\\u{9b}31m\\u{202e}\n"), "{text:?}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    assert!(about.name.contains('\u{9b}'), "the data stay what they are");
}
