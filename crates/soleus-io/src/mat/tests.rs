use super::*;
use soleus_testing::{reference_test, shared};

fn word(v: u32) -> [u8; 4] {
    v.to_le_bytes()
}

/// An element, filled up to eight bytes.
fn element(code: u32, bytes: &[u8]) -> Vec<u8> {
    let mut e = [&word(code)[..], &word(bytes.len() as u32), bytes].concat();
    e.resize(e.len().next_multiple_of(8), 0);
    e
}

fn array(class: u8, dims: [i32; 2], name: &str, rest: &[Vec<u8>]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|d| d.to_le_bytes()).collect();
    let flags = [&[class, 0, 0, 0][..], &word(0)].concat();
    let parts = [element(6, &flags), element(5, &dims), element(1, name.as_bytes()), rest.concat()].concat();
    element(14, &parts)
}

fn numbers(name: &str, dims: [i32; 2], values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    array(6, dims, name, &[element(9, &bytes)])
}

fn text(name: &str, t: &str) -> Vec<u8> {
    let units: Vec<u8> = t.encode_utf16().flat_map(u16::to_le_bytes).collect();
    array(4, [1, t.len() as i32], name, &[element(17, &units)])
}

fn file(objects: u64, elements: &[Vec<u8>]) -> Vec<u8> {
    let mut head = b"MATLAB 5.0 MAT-file".to_vec();
    head.resize(116, b' ');
    head.extend(objects.to_le_bytes());
    head.extend([0, 1, b'I', b'M']);
    [head, elements.concat()].concat()
}

#[test]
fn analytic_arrays_of_every_kind() {
    let cells = array(1, [1, 2], "c", &[text("", "hip"), numbers("", [1, 1], &[2.0])]);
    let names = b"a\0\0\0\0\0\0\0b\0\0\0\0\0\0\0";
    let structure = array(
        2,
        [1, 1],
        "s",
        &[element(5, &8i32.to_le_bytes()), element(1, names), numbers("", [1, 1], &[7.0]), text("", "x")],
    );
    // A short element: two bytes within the tag.
    let short = array(9, [1, 2], "u", &[[&word(2 << 16 | 2)[..], &[3, 4, 0, 0]].concat()]);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&numbers("p", [2, 1], &[1.5, -2.0]), 6);
    let packed = [&word(15)[..], &word(packed.len() as u32), &packed].concat();
    let f = read(&file(0, &[cells, structure, short, packed])).unwrap();
    let names: Vec<&str> = f.variables.iter().map(|v| v.0.as_str()).collect();
    assert_eq!(names, ["c", "s", "u", "p"]);
    let value = |i: usize| &f.variables[i].1;
    assert_eq!(value(0).cells().unwrap()[0].text(), Some("hip"));
    assert_eq!(value(1).field("a").unwrap().numbers(), Some(&[7.0][..]));
    assert_eq!(value(1).field("b").unwrap().text(), Some("x"));
    assert_eq!(value(2).numbers(), Some(&[3.0, 4.0][..]));
    assert_eq!(*value(3), Value::Numbers { dims: vec![2, 1], values: vec![1.5, -2.0] });
}

/// A table as MATLAB keeps it: an object in place, its parts in a wrapper at the end.
#[test]
fn analytic_table() {
    let one = |v: f64| numbers("", [1, 1], &[v]);
    let column = array(1, [2, 1], "", &[text("", "knee"), text("", "hip")]);
    let data = array(1, [1, 2], "", &[column, numbers("", [2, 1], &[0.1, 0.2])]);
    let names = array(1, [1, 2], "", &[text("", "name"), text("", "value")]);
    let none = array(1, [0, 0], "", &[]);
    let properties = array(2, [1, 1], "", &[element(5, &1i32.to_le_bytes()), element(1, &[])]);
    let parts = [one(0.0), one(0.0), data, one(2.0), one(2.0), none, one(2.0), names, properties];
    let wrapped = array(1, [9, 1], "", &parts);
    let opaque = |class: &str, inner: Vec<u8>| {
        let flags = [&[17, 0, 0, 0][..], &word(0)].concat();
        let list =
            [element(6, &flags), element(1, b""), element(1, b"MCOS"), element(1, class.as_bytes()), inner];
        element(14, &list.concat())
    };
    let mut names = b"MCOS".to_vec();
    names.resize(8, 0);
    let structure = array(
        2,
        [1, 1],
        "",
        &[element(5, &8i32.to_le_bytes()), element(1, &names), opaque("FileWrapper__", wrapped)],
    );
    let inner = [vec![0, 1, b'I', b'M', 0, 0, 0, 0], structure].concat();
    let hidden = array(9, [1, inner.len() as i32], "", &[element(2, &inner)]);
    let object = opaque("table", numbers("", [1, 1], &[1.0]));
    let at = (HEADER + object.len()) as u64;
    let f = read(&file(at, &[object, hidden])).unwrap();
    assert_eq!(f.variables[0].1, Value::Object("table".into()));
    assert_eq!((f.tables.len(), f.tables[0].rows), (1, 2));
    assert_eq!(f.tables[0].cell("name", 1).unwrap().text(), Some("hip"));
    assert_eq!(f.tables[0].column("value").unwrap().numbers(), Some(&[0.1, 0.2][..]));
}

/// Every cut and every changed byte gives an answer or an error, never a panic.
#[test]
fn identity_damaged_files_are_refused() {
    let cells = array(1, [1, 2], "c", &[text("", "hip"), numbers("", [1, 2], &[2.0, 3.0])]);
    let whole = file(0, &[cells]);
    assert!(read(&whole).is_ok());
    for k in 0..whole.len() {
        let _ = read(&whole[..k]);
        for bit in [0x01, 0x40, 0xff] {
            let mut changed = whole.clone();
            changed[k] ^= bit;
            let _ = read(&changed);
        }
    }
    assert_eq!(read(b"hello"), Err(MatError::NoMat));
    let mut hdf5 = whole.clone();
    hdf5[125] = 2;
    assert_eq!(read(&hdf5), Err(MatError::Hdf5));
}

/// The inertial records that state estimation uses.
#[reference_test("data/gait2d")]
fn identity_records_of_one_walk() {
    let bytes = std::fs::read(shared!("data/gait2d/biomac/P01_normwalking.mat")).unwrap();
    let f = read(&bytes).unwrap();
    let person = &f.variables[0].1;
    assert_eq!(person.field("participantMass").unwrap().numbers(), Some(&[73.0][..]));
    assert_eq!(f.tables.iter().map(|t| t.rows).collect::<Vec<_>>(), [3, 52]);
    let t = &f.tables[1];
    let speed = (0..t.rows).find(|&r| t.cell("type", r).and_then(Value::text) == Some("speed")).unwrap();
    let speed = t.cell("mean", speed).unwrap().numbers().unwrap()[0];
    assert!((speed - 1.292).abs() < 1e-3, "{speed}");
}
