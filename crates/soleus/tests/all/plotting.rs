use crate::models::table;
use soleus::{Collected, Context, Files, Memory, Outcome, PlotTable};

#[test]
fn analytic_columns_by_pattern() {
    let labels = ["hip", "knee_r", "knee_l"];
    let t = table(&labels, vec![0.0, 1.0], vec![vec![0.0, 1.0]; 3]);
    let files = Memory::new();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = PlotTable {
        table: t.into(),
        columns: vec!["knee_*".into()],
        output: Some("knees.svg".into()),
        ..Default::default()
    };
    let drawn = request.run(&cx).unwrap();
    assert_eq!(drawn.plot.lines.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["knee_r", "knee_l"]);
    drawn.write(&cx).unwrap();
    assert!(files.read("knees.svg".as_ref()).unwrap().starts_with(b"<svg "));
    let said = PlotTable { columns: vec!["ankle".into()], ..request }.run(&cx).unwrap_err().to_string();
    assert!(said.contains("no column matches `ankle`; there are hip, knee_r, knee_l"), "{said}");
}
