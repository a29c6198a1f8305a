use crate::models::leg;
use soleus::{Context, Jacobians, Memory, Outcome};

/// ∂f/∂x along a direction is the difference of residuals at states a little apart, with rates and multipliers held.
#[test]
fn deriv_columns_by_differences() {
    let files = leg();
    let cx = Context::new(&files);
    let request = Jacobians {
        model: "leg.osim".into(),
        parameters: vec!["/bodyset/*/mass".into()],
        ..Default::default()
    };
    let found = request.run(&cx).unwrap();
    let s = &found.states[0];
    assert_eq!(found.parameters.len(), 4);
    // The hip is the first column.
    let h = 1e-6;
    let residual = |dq: f64| {
        let mut state = soleus::evaluation::NamedState::default().with("hip_flexion", s.x[0] + dq, 0.0);
        state.xdot = Some(s.xdot.clone());
        Jacobians { states: vec![state].into(), ..request.clone() }.run(&cx).unwrap().states[0]
            .residual
            .clone()
    };
    let (plus, minus) = (residual(h), residual(-h));
    let dx = &s.jacobian.dx;
    let mut column = vec![0.0; dx.rows];
    (dx.start[0]..dx.start[1]).for_each(|k| column[dx.row[k]] = dx.value[k]);
    let size = column.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (exact, (a, b)) in column.iter().zip(plus.iter().zip(&minus)) {
        // Truncation h², roundoff ε·size/h.
        assert!((exact - (a - b) / (2.0 * h)).abs() < 1e-7 * size, "{exact} {}", (a - b) / (2.0 * h));
    }
}

#[test]
fn issue_21_nothing_is_written_when_a_folder_is_missing() {
    use soleus::Disk;
    let folder = std::env::temp_dir().join(format!("soleus-jacobian-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = Disk::new();
    let cx = Context::new(&files);
    let model = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/leg_swing.osim");
    let request = Jacobians {
        model: model.into(),
        output: Some(folder.join("out.json")),
        picture: Some(folder.join("no/such/folder.svg")),
        ..Default::default()
    };
    let e = request.run(&cx).unwrap().write(&cx).unwrap_err();
    assert!(e.to_string().contains("does not exist"), "{e}");
    assert!(!folder.join("out.json").exists(), "one of two files was written");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn analytic_parameters_that_the_model_does_not_have() {
    let files: Memory = leg();
    let cx = Context::new(&files);
    let request = Jacobians {
        model: "leg.osim".into(),
        parameters: vec!["/bodyset/*/colour".into()],
        ..Default::default()
    };
    let said = request.run(&cx).unwrap_err().to_string();
    assert!(said.contains("no parameter of the model matches `/bodyset/*/colour`"), "{said}");
    let names = request.parameter_names(&cx).unwrap();
    assert!(names.iter().any(|n| n == "/forceset/soleus/optimal_fiber_length"), "{names:?}");
}
