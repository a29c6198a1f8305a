//! Tables as Parquet files: a column `time` and one of doubles for each scalar column, name, unit and angles in the file's
//! metadata. Without compression, so that every reader takes them.

use parquet::basic::{Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::Diagnostics;
use std::sync::Arc;

/// The file; vectors become columns of their components.
pub fn write(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let flat = table.flattened();
    let field = |name: &str| {
        let made = Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::REQUIRED);
        made.build().map(Arc::new)
    };
    let names = std::iter::once("time").chain(flat.labels().iter().map(String::as_str));
    let fields: Result<Vec<_>, _> = names.map(field).collect();
    let schema = Type::group_type_builder("table").with_fields(fields?).build()?;

    let mut known = vec![KeyValue::new("name".to_string(), flat.name.clone())];
    if let Some(degrees) = flat.in_degrees {
        known.push(KeyValue::new("inDegrees".to_string(), String::from(if degrees { "yes" } else { "no" })));
    }
    known.extend(flat.metadata.iter().map(|(k, v)| KeyValue::new(k.clone(), v.clone())));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(known)).build();

    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let columns = std::iter::once(flat.times()).chain(flat.columns().iter().map(Vec::as_slice));
    for values in columns {
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
        }
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

/// Reads a file of doubles with a column `time`; columns of other types are named and left out.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    let mut log = Diagnostics::new(file);
    let table = match read_columns(bytes, &mut log) {
        Ok(table) => table,
        Err(e) => {
            log.error(0, "", format!("the file cannot be read as Parquet: {e}"), "");
            None
        }
    };
    (table, log)
}

fn read_columns(bytes: &[u8], log: &mut Diagnostics) -> Result<Option<Table>, ParquetError> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
    for (i, c) in schema.columns().iter().enumerate() {
        if c.physical_type() != Physical::DOUBLE {
            log.warn(0, "", format!("column `{}` holds no doubles; it is left out", c.name()), "");
            continue;
        }
        let mut values = Vec::new();
        for g in 0..reader.num_row_groups() {
            let group = reader.get_row_group(g)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            if let ColumnReader::DoubleColumnReader(mut column) = group.get_column_reader(i)? {
                let mut levels = Vec::new();
                let mut part = Vec::new();
                let optional = c.max_def_level() > 0;
                column.read_records(rows, optional.then_some(&mut levels), None, &mut part)?;
                if optional {
                    // A missing value is not a number.
                    let mut given = part.into_iter();
                    let full = c.max_def_level();
                    values.extend(
                        levels
                            .iter()
                            .map(|l| if *l == full { given.next().unwrap_or(f64::NAN) } else { f64::NAN }),
                    );
                } else {
                    values.extend(part);
                }
            }
        }
        columns.push((c.name().to_string(), values));
    }
    let Some(time) = columns.iter().position(|(n, _)| n.eq_ignore_ascii_case("time")) else {
        log.error(0, "", "no column is called `time`", "");
        return Ok(None);
    };
    let (_, times) = columns.remove(time);
    let (labels, values) = columns.into_iter().unzip();
    let mut table = match Table::new(Element::Scalar, labels, times, values) {
        Ok(t) => t,
        Err(e) => {
            log.error(0, "", e.to_string(), "");
            return Ok(None);
        }
    };
    for KeyValue { key, value } in
        reader.metadata().file_metadata().key_value_metadata().into_iter().flatten()
    {
        let value = value.clone().unwrap_or_default();
        match key.as_str() {
            "name" => table.name = value,
            "inDegrees" => table.in_degrees = Some(value == "yes"),
            _ => table.set_metadata(key, value),
        }
    }
    Ok(Some(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_what_is_written_is_read() {
        let labels = vec!["a".to_string(), "b c".to_string()];
        let mut t =
            Table::new(Element::Scalar, labels, vec![0.0, 0.1], vec![vec![1.5, f64::NAN], vec![-2e300, 0.1]])
                .unwrap();
        t.name = "walk".into();
        t.in_degrees = Some(true);
        t.set_metadata("Units", "mm");
        let bytes = write(&t).unwrap();
        let (back, log) = read(&bytes, "a.parquet");
        let back = back.unwrap();
        assert!(log.list.is_empty());
        assert_eq!((back.labels(), back.times(), &back.name), (t.labels(), t.times(), &t.name));
        assert_eq!((back.in_degrees, back.metadata_value("Units")), (Some(true), Some("mm")));
        assert_eq!(back.columns()[1], t.columns()[1]);
        assert!(back.columns()[0][1].is_nan());
        assert!(read(&bytes[..bytes.len() / 2], "cut.parquet").1.has_errors());
        assert!(read(b"", "empty.parquet").1.has_errors());
    }
}
