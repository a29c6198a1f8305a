//! Standing and falling, by closed forms.

use super::falling::stability_index;

#[test]
fn analytic_stability_index() {
    assert_eq!(stability_index(None), 1.0);
    assert!((stability_index(Some(1.0)) - (1.0 - (-1.0_f64).exp())).abs() < 1e-15);
}
