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

/// Words are skipped by the reader; numbers where there are some come back, and gaps as gaps. `scripts/check-python` reads such a file by Arrow.
#[test]
fn identity_columns_with_gaps_and_words() {
    let numbers: Vec<f64> = (0..500).map(f64::from).collect();
    let gaps: Vec<Option<f64>> =
        (0..500).map(|i| (i % 7 != 3 && i > 200).then_some(0.1 * f64::from(i))).collect();
    let words: Vec<String> = (0..500).map(|i| format!("{i} é")).collect();
    let columns = [
        ("time", super::Column::Numbers(&numbers)),
        ("some", super::Column::Measured(&gaps)),
        ("words", super::Column::Words(&words)),
    ];
    let bytes = super::write_columns(&columns, &[]);
    let (table, log) = read(&bytes, "a.parquet");
    let table = table.unwrap_or_else(|| panic!("{:?}", log.list));
    let some = table.column("some").unwrap();
    assert_eq!(some.len(), 500);
    for (read, wrote) in some.iter().zip(&gaps) {
        assert!(wrote.map_or(read.is_nan(), |w| w == *read), "{read} {wrote:?}");
    }
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

/// A file of `columns` required doubles that claims `rows` rows; each column begins at `place`, if there is one.
fn claims(rows: i64, columns: usize, body: &[u8], place: Option<i64>) -> Vec<u8> {
    let mut w = thrift::Writer::default();
    w.open();
    w.i32(1, 1);
    w.structs(2, columns + 1);
    w.open();
    w.text(4, "table");
    w.i32(5, columns as i32);
    w.close();
    for k in 0..columns {
        w.open();
        w.i32(1, physical::DOUBLE as i32);
        w.i32(3, 0);
        w.text(4, &if k == 0 { "time".to_string() } else { format!("c{k}") });
        w.close();
    }
    w.i64(3, rows);
    w.structs(4, usize::from(place.is_some()));
    if let Some(place) = place {
        w.open();
        w.structs(1, columns);
        for _ in 0..columns {
            w.open();
            w.open_field(3);
            w.i32(1, physical::DOUBLE as i32);
            w.i32(4, 0);
            w.i64(5, rows);
            w.i64(9, place);
            w.close();
            w.close();
        }
        w.close();
    }
    w.close();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(body);
    bytes.extend(&w.bytes);
    bytes.extend((w.bytes.len() as u32).to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

#[test]
fn issue_16_a_small_file_is_no_large_table() {
    // Seen: 42 kB became 2.6 GB.
    for (rows, columns) in [(167_536, 1001), (i64::MAX, 2), (1 << 40, 1)] {
        let (table, log) = read(&claims(rows, columns, &[], None), "bomb.parquet");
        assert!(table.is_none());
        let message = &log.list[0].message;
        assert!(message.contains(&format!("it declares {rows} rows of {columns} columns")), "{message}");
    }
    assert!(read(&claims(-1, 2, &[], None), "bomb.parquet").1.has_errors());
}

#[test]
fn issue_16_columns_do_not_share_pages() {
    let page = write(&Table::new(Element::Scalar, Vec::new(), vec![0.5; 100], Vec::new()).unwrap());
    let (table, log) = read(&claims(100, 1, &page[4..], Some(4)), "one.parquet");
    assert_eq!(table.unwrap().times(), [0.5; 100], "{:?}", log.list);
    let (table, log) = read(&claims(100, 50, &page[4..], Some(4)), "many.parquet");
    assert!(table.is_none() && log.list[0].message.contains("overlap"), "{:?}", log.list);
}

#[test]
fn analytic_gzip() {
    // A block as it is, with a name, a comment and extra bytes before it.
    let mut packed = vec![0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3, 2, 0, 9, 9];
    packed.extend(b"name\0comment\0\x12\x34");
    packed.extend([1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c']);
    assert_eq!(*unpack::unpack(2, &packed, Some(3), 100).unwrap(), *b"abc");
    for cut in 0..packed.len() {
        assert!(unpack::unpack(2, &packed[..cut], Some(3), 100).is_err(), "{cut}");
    }
    assert!(unpack::unpack(2, &packed, Some(2), 100).is_err(), "another length than claimed");
    assert!(unpack::unpack(2, &packed, Some(200), 100).is_err(), "more than the values need");
    assert!(unpack::unpack(2, &packed, None, 100).is_err());
}

/// A frame of Zstandard (RFC 8878): blocks of one byte repeated, each of up to 128 kB.
#[cfg(feature = "zstd")]
fn zstandard_frame(blocks: usize, size: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    for k in 1..=blocks {
        let header = size << 3 | 1 << 1 | u32::from(k == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'a');
    }
    frame
}

#[cfg(feature = "zstd")]
#[test]
fn analytic_zstandard() {
    let packed = zstandard_frame(3, 5);
    assert_eq!(*unpack::unpack(6, &packed, Some(15), 100).unwrap(), [b'a'; 15]);
    for cut in 0..packed.len() {
        assert!(unpack::unpack(6, &packed[..cut], Some(15), 100).is_err(), "{cut}");
    }
    assert!(unpack::unpack(6, &packed, Some(14), 100).is_err());
    let two: Vec<u8> = packed.iter().chain(&packed).copied().collect();
    assert_eq!(unpack::unpack(6, &two, Some(30), 100).unwrap().len(), 30, "two frames");
    // 4 kB that would be 131 MB.
    assert!(unpack::unpack(6, &zstandard_frame(1000, 128 << 10), Some(80), 100).is_err());
}

#[cfg(feature = "zstd")]
#[test]
fn identity_a_file_of_polars() {
    // Written by polars 1 with its defaults: Zstandard, dictionaries, gaps, whole numbers, and a column of words.
    let (table, log) = read(include_bytes!("../../../tests/data/polars.parquet"), "polars.parquet");
    let table = table.unwrap();
    assert_eq!(table.labels(), ["angle", "few", "gap", "whole"]);
    assert!(log.list.len() == 1 && log.list[0].message.contains("`word`"), "{:?}", log.list);
    for k in 0..40 {
        let x = k as f64;
        let row = [x * 0.37 - 3.0, f64::from(k % 3), x + 0.5, x * x - 7.0];
        assert_eq!(table.times()[k as usize], x / 10.0);
        for (c, wanted) in row.into_iter().enumerate() {
            let found = table.columns()[c][k as usize];
            assert!(if c == 2 && k % 4 == 1 { found.is_nan() } else { found == wanted }, "{c} {k}: {found}");
        }
    }
}

#[cfg(not(feature = "zstd"))]
#[test]
fn analytic_without_zstandard_it_is_said() {
    let (_, log) = read(include_bytes!("../../../tests/data/polars.parquet"), "polars.parquet");
    assert!(log.list.iter().any(|d| d.hint.contains("built without Zstandard")), "{:?}", log.list);
}
