//! DAS3 against the numbers of its authors' tests; needs the stored model.

use super::*;
use soleus_dynamics::system::Actor;

fn das3() -> Option<Das3> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/das3/derived"));
    if !folder.exists() {
        println!("skipped: ../shared not found");
        return None;
    }
    Some(read(folder).unwrap())
}

/// The stored equilibrium is one: force balances to rounding, moments to rounding of the forces in them.
#[test]
fn identity_stored_equilibrium_is_at_rest() {
    let Some(d) = das3() else { return };
    assert_eq!((states(&d), muscles(&d)), (298, 138));
    let (motion, balance) = rest::residuals(&d, &d.equilibrium);
    assert!(balance < 1e-12, "{balance}");
    assert!(motion < 1e-5, "{motion}");
}

/// Every force is enabled, and the first 138 are muscles.
#[test]
fn analytic_order_of_forces() {
    let Some(d) = das3() else { return };
    assert!(d.system.forces.iter().all(|f| f.enabled));
    assert!(d.system.forces[..138].iter().all(|f| matches!(f.actor, Actor::Muscle(_))));
    assert_eq!(d.system.forces.len(), 138 + 1 + 2 + 11 + 1);
}
