//! Arrow's C data interface (arrow.apache.org/docs/format/CDataInterface.html): tables given to polars, pandas, DuckDB and pyarrow, and taken
//! from them, without a dependency on any of them. Numbers of our tables are not copied.

use crate::error::make;
use crate::table::PyTable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyCapsuleMethods, PyList, PyString};
use soleus::Table;
use soleus::engine::math::table::Element;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: a stream is handed over as a whole, and used by one at a time, as the interface asks.
unsafe impl Send for Stream {}

/// The numbers or words of a column.
enum Data {
    /// Of the table that owns the columns: the place of the column, or the times without one.
    Shared(Option<usize>),
    Numbers(Vec<f64>),
    Text(Vec<i64>, Vec<u8>),
    /// Bits, the lowest first.
    Booleans(Vec<u8>),
}

/// What a stream gives: one batch of all rows.
struct Batch {
    rows: usize,
    columns: Vec<(CString, Data)>,
    metadata: Vec<u8>,
    owner: Option<Arc<Table>>,
}

impl Batch {
    fn buffers(&self, i: usize) -> Vec<*const c_void> {
        let numbers = |list: &[f64]| vec![null(), list.as_ptr().cast()];
        match (&self.columns[i].1, &self.owner) {
            (Data::Shared(Some(c)), Some(t)) => numbers(&t.columns()[*c]),
            (Data::Shared(None), Some(t)) => numbers(t.times()),
            (Data::Shared(_), None) => vec![null(), null()],
            (Data::Numbers(list), _) => numbers(list),
            (Data::Text(offsets, bytes), _) => vec![null(), offsets.as_ptr().cast(), bytes.as_ptr().cast()],
            (Data::Booleans(bits), _) => vec![null(), bits.as_ptr().cast()],
        }
    }

    fn format(&self, i: usize) -> &'static CStr {
        match &self.columns[i].1 {
            Data::Shared(_) | Data::Numbers(_) => c"g",
            Data::Text(..) => c"U",
            Data::Booleans(_) => c"b",
        }
    }
}

/// Keys and values as the interface writes them.
fn metadata(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = (pairs.len() as i32).to_ne_bytes().to_vec();
    for text in pairs.iter().flat_map(|(k, v)| [k, v]) {
        bytes.extend((text.len() as i32).to_ne_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// What a schema of ours keeps.
struct SchemaRoom {
    children: Vec<*mut Schema>,
    _batch: Arc<Batch>,
}

/// What an array of ours keeps.
struct ArrayRoom {
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    _batch: Arc<Batch>,
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: called once, with a schema that `schema_of` made and nobody released.
    unsafe {
        let room = Box::from_raw((*schema).private_data.cast::<SchemaRoom>());
        for &child in &room.children {
            // A consumer may have taken a child: then it is marked as released.
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: called once, with an array that `array_of` made and nobody released.
    unsafe {
        let room = Box::from_raw((*array).private_data.cast::<ArrayRoom>());
        for &child in &room.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

/// The schema of a column, or of the whole.
fn schema_of(batch: &Arc<Batch>, column: Option<usize>) -> Schema {
    let children: Vec<*mut Schema> = match column {
        Some(_) => Vec::new(),
        None => {
            (0..batch.columns.len()).map(|i| Box::into_raw(Box::new(schema_of(batch, Some(i))))).collect()
        }
    };
    let mut room = Box::new(SchemaRoom { children, _batch: batch.clone() });
    Schema {
        format: column.map_or(c"+s", |i| batch.format(i)).as_ptr(),
        name: column.map_or(c"".as_ptr(), |i| batch.columns[i].0.as_ptr()),
        metadata: if column.is_none() { batch.metadata.as_ptr().cast() } else { null() },
        flags: 0,
        n_children: room.children.len() as i64,
        children: room.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(room).cast(),
    }
}

/// The array of a column, or of the whole.
fn array_of(batch: &Arc<Batch>, column: Option<usize>) -> Array {
    let children: Vec<*mut Array> = match column {
        Some(_) => Vec::new(),
        None => (0..batch.columns.len()).map(|i| Box::into_raw(Box::new(array_of(batch, Some(i))))).collect(),
    };
    let buffers = column.map_or(vec![null()], |i| batch.buffers(i));
    let mut room = Box::new(ArrayRoom { buffers, children, _batch: batch.clone() });
    Array {
        length: batch.rows as i64,
        null_count: 0,
        offset: 0,
        n_buffers: room.buffers.len() as i64,
        n_children: room.children.len() as i64,
        buffers: room.buffers.as_mut_ptr(),
        children: room.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(room).cast(),
    }
}

/// What a stream of ours keeps: the batch, and whether it was given.
struct StreamRoom {
    batch: Arc<Batch>,
    is_given: bool,
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the interface gives us our own stream, and room for a schema.
    unsafe {
        let room = &*(*stream).private_data.cast::<StreamRoom>();
        out.write(schema_of(&room.batch, None));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: as above. An array of zeros is one that was released, which ends the stream.
    unsafe {
        let room = &mut *(*stream).private_data.cast::<StreamRoom>();
        if std::mem::replace(&mut room.is_given, true) {
            out.write(std::mem::zeroed());
        } else {
            out.write(array_of(&room.batch, None));
        }
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: called once, with our own stream.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamRoom>()));
        (*stream).release = None;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A consumer that took the stream over has marked it as released.
        if let Some(release) = self.release {
            // SAFETY: it was not released.
            unsafe { release(self) }
        }
    }
}

const NAME: &CStr = c_str!("arrow_array_stream");

fn capsule(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyCapsule>> {
    let room = Box::new(StreamRoom { batch: Arc::new(batch), is_given: false });
    let stream = Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(room).cast(),
    };
    PyCapsule::new_with_value(py, stream, NAME)
}

fn c_name(name: &str) -> PyResult<CString> {
    CString::new(name).map_err(|_| PyValueError::new_err("a column name contains a zero byte"))
}

/// Begins the keys of a table's header among those of a schema.
const HEADER: &str = "soleus.header.";

/// The stream of a table: times and a column for each number.
pub fn stream_of_table<'py>(py: Python<'py>, table: &Arc<Table>) -> PyResult<Bound<'py, PyCapsule>> {
    let names = match table.element() {
        Element::Scalar => table.labels().to_vec(),
        e => {
            let parts = 1..=e.components();
            table.labels().iter().flat_map(|l| parts.clone().map(move |c| format!("{l}_{c}"))).collect()
        }
    };
    let mut columns = vec![(c_name("time")?, Data::Shared(None))];
    for (i, name) in names.iter().enumerate() {
        columns.push((c_name(name)?, Data::Shared(Some(i))));
    }
    let degrees = match table.in_degrees {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    let element = table.element().name();
    let mut pairs = vec![("soleus.name", table.name.as_str()), ("soleus.element", &element)];
    if !degrees.is_empty() {
        pairs.push(("soleus.inDegrees", degrees));
    }
    let header: Vec<(String, &str)> =
        table.metadata.iter().map(|(k, v)| (format!("{HEADER}{k}"), v.as_str())).collect();
    pairs.extend(header.iter().map(|(k, v)| (k.as_str(), *v)));
    let metadata = metadata(&pairs);
    capsule(py, Batch { rows: table.rows(), columns, metadata, owner: Some(table.clone()) })
}

/// The stream of columns: lists of numbers, of words, or of true and false, all of one length.
#[pyfunction]
pub fn stream_of_columns<'py>(
    py: Python<'py>,
    columns: Vec<(String, Bound<'py, PyList>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let rows = columns.first().map_or(0, |(_, list)| list.len());
    let mut made = Vec::with_capacity(columns.len());
    for (name, list) in &columns {
        if list.len() != rows {
            return Err(PyValueError::new_err(format!(
                "column `{name}` has {} rows, not {rows}",
                list.len()
            )));
        }
        let is_text = list.iter().any(|x| x.is_instance_of::<PyString>());
        let data = if is_text {
            let (mut offsets, mut bytes) = (vec![0], Vec::new());
            for item in list {
                let word = if item.is_none() { String::new() } else { item.str()?.to_str()?.to_string() };
                bytes.extend(word.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            Data::Text(offsets, bytes)
        } else if rows > 0 && list.iter().all(|x| x.is_instance_of::<PyBool>()) {
            let mut bits = vec![0u8; rows.div_ceil(8)];
            for (i, item) in list.iter().enumerate() {
                bits[i / 8] |= u8::from(item.extract::<bool>()?) << (i % 8);
            }
            Data::Booleans(bits)
        } else {
            let number = |x: Bound<'_, PyAny>| if x.is_none() { Ok(f64::NAN) } else { x.extract() };
            Data::Numbers(list.iter().map(number).collect::<PyResult<_>>()?)
        };
        made.push((c_name(name)?, data));
    }
    capsule(py, Batch { rows, columns: made, metadata: metadata(&[]), owner: None })
}

/// A schema or an array of somebody else, released when it is no longer needed.
struct Foreign<T>(T, unsafe fn(&mut T));

impl<T> Drop for Foreign<T> {
    fn drop(&mut self) {
        // SAFETY: ours since it was given, and released here alone.
        unsafe { (self.1)(&mut self.0) }
    }
}

unsafe fn drop_schema(s: &mut Schema) {
    if let Some(release) = s.release {
        // SAFETY: it was not released.
        unsafe { release(s) }
    }
}

unsafe fn drop_array(a: &mut Array) {
    if let Some(release) = a.release {
        // SAFETY: it was not released.
        unsafe { release(a) }
    }
}

/// A table of anything that has Arrow's capsule interface: a column of times, and columns of numbers.
pub fn table_of(source: &Bound<'_, PyAny>, time: &str, degrees: Option<bool>) -> PyResult<PyTable> {
    let py = source.py();
    let Ok(method) = source.getattr("__arrow_c_stream__") else {
        let what = source.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a {what} has no `__arrow_c_stream__`; polars, pandas and pyarrow do"
        )));
    };
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(NAME))?.as_ptr().cast::<Stream>();
    let wrong = |message: String| make(py, "table", &message, Vec::new(), None);

    // SAFETY: the capsule holds a stream by its name, and lives until the end of this function; the stream's functions are called
    // as the interface asks, one at a time.
    let read = unsafe {
        let (Some(get_schema), Some(get_next)) = ((*stream).get_schema, (*stream).get_next) else {
            return Err(wrong("the stream was already consumed".to_string()));
        };
        let failed = |code: c_int| {
            let text = (*stream).get_last_error.map_or(null(), |f| f(stream));
            let text = if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            };
            wrong(format!("the stream failed ({code}): {text}"))
        };
        let mut schema = Foreign(std::mem::zeroed::<Schema>(), drop_schema);
        match get_schema(stream, &mut schema.0) {
            0 => {}
            code => return Err(failed(code)),
        }
        let mut columns: Vec<Read> = Vec::new();
        for i in 0..schema.0.n_children as usize {
            let child = *schema.0.children.add(i);
            let name = CStr::from_ptr((*child).name).to_string_lossy().into_owned();
            let format = CStr::from_ptr((*child).format).to_string_lossy().into_owned();
            if !(*child).dictionary.is_null() || !FORMATS.contains(&format.as_str()) {
                return Err(wrong(format!(
                    "column `{name}` does not contain numbers (Arrow format `{format}`)"
                )));
            }
            columns.push(Read { name, format, values: Vec::new() });
        }
        loop {
            let mut array = Foreign(std::mem::zeroed::<Array>(), drop_array);
            match get_next(stream, &mut array.0) {
                0 => {}
                code => return Err(failed(code)),
            }
            if array.0.release.is_none() {
                break;
            }
            for (i, column) in columns.iter_mut().enumerate() {
                let child = &**array.0.children.add(i);
                append(child, array.0.offset as usize, array.0.length as usize, column);
            }
        }
        let pairs = pairs_of(schema.0.metadata);
        (columns, pairs)
    };
    let (mut columns, pairs) = read;
    let Some(at) = columns.iter().position(|c| c.name == time) else {
        return Err(wrong(format!("no time column is called `{time}`; choose another one with time=")));
    };
    let times = columns.remove(at).values;
    let (labels, values) = columns.into_iter().map(|c| (c.name, c.values)).unzip();
    let mut table = Table::new(Element::Scalar, labels, times, values).map_err(|e| wrong(e.to_string()))?;
    let said = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    table.name = said("soleus.name").unwrap_or("").to_string();
    table.in_degrees = degrees.or(said("soleus.inDegrees").map(|v| v == "yes"));
    let header = pairs.iter().filter_map(|(k, v)| Some((k.strip_prefix(HEADER)?.to_string(), v.clone())));
    table.metadata = header.collect();
    // Vectors came as a column for each component. If somebody took some of them away, columns stay what they are.
    let packed = said("soleus.element")
        .filter(|e| *e == Element::Vec(3).name())
        .and_then(|_| table.packed().ok())
        .filter(|packed| packed.element() == Element::Vec(3));
    Ok(packed.unwrap_or(table).into())
}

/// A column as it is read.
struct Read {
    name: String,
    format: String,
    values: Vec<f64>,
}

/// Numbers of all sizes.
const FORMATS: [&str; 10] = ["g", "f", "l", "L", "i", "I", "s", "S", "c", "C"];

/// Appends the numbers of a part; what is missing is NaN.
///
/// # Safety
/// The array must be valid and of the column's format.
unsafe fn append(a: &Array, first: usize, count: usize, column: &mut Read) {
    // SAFETY: arrays of numbers have two buffers, which bits say what is missing, and the numbers, as long as offset and length ask.
    unsafe {
        let (valid, data) = (*a.buffers, *a.buffers.add(1));
        for k in first + a.offset as usize..first + a.offset as usize + count {
            let is_there = valid.is_null() || (*valid.cast::<u8>().add(k / 8) >> (k % 8)) & 1 == 1;
            column.values.push(match column.format.as_str() {
                _ if !is_there => f64::NAN,
                "g" => *data.cast::<f64>().add(k),
                "f" => f64::from(*data.cast::<f32>().add(k)),
                "l" => *data.cast::<i64>().add(k) as f64,
                "L" => *data.cast::<u64>().add(k) as f64,
                "i" => f64::from(*data.cast::<i32>().add(k)),
                "I" => f64::from(*data.cast::<u32>().add(k)),
                "s" => f64::from(*data.cast::<i16>().add(k)),
                "S" => f64::from(*data.cast::<u16>().add(k)),
                "c" => f64::from(*data.cast::<i8>().add(k)),
                _ => f64::from(*data.cast::<u8>().add(k)),
            });
        }
    }
}

/// Keys and values of a schema.
///
/// # Safety
/// The pointer must be null, or what the interface says of metadata.
unsafe fn pairs_of(metadata: *const c_char) -> Vec<(String, String)> {
    if metadata.is_null() {
        return Vec::new();
    }
    let mut list = Vec::new();
    let mut at = metadata.cast::<u8>();
    // SAFETY: counts and lengths are whole numbers of four bytes before what they count.
    unsafe {
        let pairs = at.cast::<i32>().read_unaligned();
        at = at.add(4);
        let mut text = || {
            let n = at.cast::<i32>().read_unaligned().max(0) as usize;
            let bytes = std::slice::from_raw_parts(at.add(4), n);
            at = at.add(4 + n);
            String::from_utf8_lossy(bytes).into_owned()
        };
        for _ in 0..pairs {
            let key = text();
            list.push((key, text()));
        }
    }
    list
}
