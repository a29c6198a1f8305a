use super::*;
use soleus_math::Table;
use soleus_math::table::Element;

fn table() -> Table {
    let labels = vec!["a".to_string(), "b c".to_string()];
    let columns = vec![vec![1.5, f64::NAN, 0.25], vec![-2e300, 0.1, 5e-324]];
    let mut t = Table::new(Element::Scalar, labels, vec![0.0, 0.1, 0.2], columns).unwrap();
    t.name = "walk".into();
    t.in_degrees = Some(true);
    t.set_metadata("Units", "mm");
    t
}

#[test]
fn identity_what_is_written_is_read() {
    let t = table();
    let (back, log) = read(&write(&t), "a.parquet");
    let back = back.unwrap();
    assert!(log.list.is_empty(), "{:?}", log.list);
    assert_eq!((back.labels(), back.times(), &back.name), (t.labels(), t.times(), &t.name));
    assert_eq!((back.in_degrees, back.metadata_value("Units")), (Some(true), Some("mm")));
    assert_eq!(back.columns()[1], t.columns()[1]);
    assert_eq!((back.columns()[0][0], back.columns()[0][2]), (1.5, 0.25));
    assert!(back.columns()[0][1].is_nan());
}

#[test]
fn identity_tables_without_rows_and_long_ones() {
    let empty = Table::new(Element::Scalar, vec!["a".into()], Vec::new(), vec![Vec::new()]).unwrap();
    let (back, log) = read(&write(&empty), "a.parquet");
    assert!(log.list.is_empty(), "{:?}", log.list);
    assert_eq!(back.unwrap().rows(), 0);
    // More than a page.
    let times: Vec<f64> = (0..(1 << 20) + 5).map(f64::from).collect();
    let long = Table::new(Element::Scalar, Vec::new(), times.clone(), Vec::new()).unwrap();
    assert_eq!(read(&write(&long), "a.parquet").0.unwrap().times(), times);
    // More columns than a short list has.
    let labels: Vec<String> = (0..300).map(|k| format!("column {k}")).collect();
    let wide = Table::new(Element::Scalar, labels, vec![0.5], vec![vec![2.5]; 300]).unwrap();
    assert_eq!(read(&write(&wide), "a.parquet").0.unwrap().columns(), wide.columns());
}

#[test]
fn identity_any_damage_is_answered() {
    let good = write(&table());
    for cut in 0..good.len() {
        assert!(read(&good[..cut], "cut.parquet").1.has_errors(), "{cut}");
    }
    // Any byte to any of a few values: an answer, whichever it is.
    for at in 0..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] = value;
            let (table, log) = read(&bad, "bad.parquet");
            assert!(table.is_some() || log.has_errors());
        }
    }
}

#[test]
fn analytic_runs_and_packed_groups() {
    // The examples of the format's own description: 0 to 7 in three bits each, and a run of 4s.
    let packed = [0b0000_0011, 0b1000_1000, 0b1100_0110, 0b1111_1010];
    assert_eq!(levels::read(&packed, 3, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(levels::read(&[10, 4], 3, 5).unwrap(), [4; 5]);
    assert_eq!(levels::read(&[10, 4, 3, 0b1000_1000], 3, 6).unwrap()[..5], [4; 5]);
    assert!(levels::read(&[10], 3, 5).is_err() && levels::read(&[0, 4], 3, 5).is_err());
    assert_eq!(levels::read(&[6], 0, 3).unwrap(), [0; 3]);
}

#[test]
fn analytic_snappy() {
    // Eleven bytes as they are; then a copy of ten from eleven back; then one that reaches into itself.
    let mut packed = vec![26, 10 << 2];
    packed.extend(b"hello world");
    packed.extend([9 << 2 | 2, 11, 0, 1 | 1 << 2, 1]);
    assert_eq!(snappy::unpack(&packed).unwrap(), b"hello worldhello worllllll");
    for cut in 0..packed.len() {
        assert!(snappy::unpack(&packed[..cut]).is_err(), "{cut}");
    }
    assert!(snappy::unpack(&[200, 1, 0, 0]).is_err());
    assert!(snappy::unpack(&[4, 1, 9]).is_err(), "a copy from before the beginning");
}
