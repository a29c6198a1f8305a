use soleus::{Collected, Context, Files, Memory, ModelInfo, Outcome, Upgrade};

const OLD: &[u8] = include_bytes!("../../../../examples/pendulum_v3.osim");

#[test]
fn identity_an_old_file_says_the_same_in_the_newest_form() {
    let files = Memory::new().with("old.osim", OLD);
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = Upgrade { file: "old.osim".into(), output: Some("new.osim".into()) };
    let upgraded = request.run(&cx).unwrap();
    assert_eq!((upgraded.version_before, upgraded.document.version), (30000, 40600));
    upgraded.write(&cx).unwrap();
    assert!(told.notes()[0].contains("version 30000 -> 40600"));
    let about = |model: &str| {
        let found = ModelInfo { model: model.into(), ..Default::default() }.run(&cx).unwrap();
        (found.mass, found.coordinates.len(), found.joints.len())
    };
    assert_eq!(about("old.osim"), about("new.osim"));
    // A file of the newest version is written back as it is.
    let again = Upgrade { file: "new.osim".into(), output: Some("again.osim".into()) };
    again.run(&cx).unwrap().write(&cx).unwrap();
    assert_eq!(files.read("new.osim".as_ref()).unwrap(), files.read("again.osim".as_ref()).unwrap());
}
