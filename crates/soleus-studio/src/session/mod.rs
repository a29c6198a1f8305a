//! What is open, and what a page may ask of it.

mod change;
mod cycles;
mod handles;
mod model;
mod motion;
mod parts;
mod table;

use crate::message::{Answer, Block, bytes_of, failed, told};
use crate::tools;
use model::OpenModel;
use motion::OpenMotion;
use serde_json::{Map, Value, json};
use soleus::files::Files;
use soleus::{Collected, Context, Error};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Models and motions that are open. Answers messages one after the other.
pub struct Session {
    files: Arc<dyn Files + Send>,
    /// Names of the files that a page sees.
    names: Vec<PathBuf>,
    models: Vec<OpenModel>,
    motions: Vec<OpenMotion>,
}

/// Why a message has no answer.
#[derive(Debug)]
pub enum Refusal {
    /// The library says so.
    Failed(Error),
    /// The message makes no sense.
    Wrong(String),
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Self {
        Refusal::Failed(e)
    }
}

impl Refusal {
    /// As JSON.
    pub fn value(&self) -> Value {
        match self {
            Refusal::Failed(e) => failed(e),
            Refusal::Wrong(message) => json!({ "error": message, "kind": "Input", "diagnostics": [] }),
        }
    }
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Wrong(message.into()))
}

/// The fields of a message.
struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    fn text(&self, key: &str) -> Result<&'a str, Refusal> {
        match self.0.get(key).and_then(Value::as_str) {
            Some(text) => Ok(text),
            None => wrong(format!("the message has no text `{key}`")),
        }
    }

    fn optional_text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn index(&self, key: &str) -> Result<usize, Refusal> {
        match self.0.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()) {
            Some(n) => Ok(n),
            None => wrong(format!("the message has no number `{key}`")),
        }
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.0.get(key).and_then(Value::as_array).into_iter().flatten()
    }

    fn texts(&self, key: &str) -> Vec<&'a str> {
        self.list(key).filter_map(Value::as_str).collect()
    }

    /// Numbers by name.
    fn numbers(&self, key: &str) -> impl Iterator<Item = (&'a String, f64)> + use<'a> {
        let map: Option<&'a Map<String, Value>> = self.0.get(key).and_then(Value::as_object);
        map.into_iter().flatten().filter_map(|(k, v)| Some((k, v.as_f64()?)))
    }
}

impl Session {
    /// Nothing open, with these files to open; `names` are those that a page sees.
    pub fn new(files: Arc<dyn Files + Send>, names: Vec<PathBuf>) -> Self {
        Session { files, names, models: Vec::new(), motions: Vec::new() }
    }

    /// The files.
    pub fn files(&self) -> &Arc<dyn Files + Send> {
        &self.files
    }

    /// Answers a message. What was odd about inputs comes with the answer.
    pub fn answer(&mut self, method: &str, fields: &Value, block: &[u8]) -> Result<Answer, Refusal> {
        let monitor = Collected::default();
        let files = self.files.clone();
        let cx = Context::new(&*files).with_monitor(&monitor);
        let mut answer = self.dispatch(&cx, method, &Fields(fields), block)?;
        let (diagnostics, notes) = (monitor.diagnostics(), monitor.notes());
        if let Value::Object(map) = &mut answer.value {
            if !diagnostics.is_empty() {
                map.insert("diagnostics".to_string(), diagnostics.iter().map(told).collect());
            }
            if !notes.is_empty() {
                map.insert("notes".to_string(), notes.into());
            }
        }
        Ok(answer)
    }

    fn dispatch(&mut self, cx: &Context, method: &str, f: &Fields, block: &[u8]) -> Result<Answer, Refusal> {
        match method {
            "put" => self.put(f, block),
            "files" => Ok(self.listed()),
            "read" => self.read(cx, f),
            "open_model" => self.open_model(cx, f),
            "scene" => self.scene(cx, f),
            "pose" => self.pose(f),
            "values" => self.values(f),
            "curve" => self.curve(f),
            "properties" => self.properties(f),
            "set" => self.set(f),
            "add" => self.add_part(cx, f),
            "remove" => self.remove_part(f),
            "restore" => self.restore(f),
            "handles" => self.handles(f),
            "move" => self.move_handle(f),
            #[cfg(feature = "prediction")]
            "walker" => self.walker(),
            "cycles" => cycles::over_gait(cx, f),
            "write_model" => self.write_model(f),
            "difference" => self.difference(f),
            "open_motion" => self.open_motion(cx, f),
            "frames" => self.frames(f),
            "markers" => table::markers(cx, f),
            "table" => table::numbers(cx, f),
            "tools" => Ok(tools::described().into()),
            "same" => Ok(tools::same(f.text("tool")?, f.0.get("request").unwrap_or(&Value::Null)).into()),
            _ => wrong(format!("there is no method `{method}`")),
        }
    }

    /// Adds files: `files` are names and places in the block.
    fn put(&mut self, f: &Fields, block: &[u8]) -> Result<Answer, Refusal> {
        for file in f.list("files") {
            let (name, bytes) = (file.get("name").and_then(Value::as_str), file.get("bytes"));
            let (Some(name), Some(bytes)) = (name, bytes.and_then(|b| bytes_of(b, block))) else {
                return wrong("a file needs a name and bytes");
            };
            self.add(Path::new(name), bytes)?;
        }
        Ok(self.listed())
    }

    /// Adds a file.
    pub fn add(&mut self, name: &Path, bytes: &[u8]) -> Result<(), Error> {
        self.files.write(name, bytes).map_err(|e| Error::write(&*self.files, name, e))?;
        if !self.names.iter().any(|n| n == name) {
            self.names.push(name.to_path_buf());
        }
        Ok(())
    }

    /// Names of the files that a page sees, and where programs of the machine find them.
    fn listed(&self) -> Answer {
        let list: Vec<Value> = self.names.iter().map(|n| json!(n.to_string_lossy())).collect();
        json!({ "files": list }).into()
    }

    /// The model whose walk is predicted, put among the files.
    #[cfg(feature = "prediction")]
    fn walker(&mut self) -> Result<Answer, Refusal> {
        let text = soleus::prediction::model_text();
        self.add(Path::new(tools::WALKER), text.as_bytes())?;
        Ok(json!({ "file": tools::WALKER, "text": text }).into())
    }

    fn read(&self, cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
        let file = Path::new(f.text("file")?);
        // Other files are for the engine, not for the page.
        if !self.names.iter().any(|n| n == file) {
            return wrong(format!("{} was not opened", file.display()));
        }
        let bytes = cx.read(file)?;
        let mut block = Block::default();
        let place = block.bytes(&bytes);
        Ok(Answer { value: json!({ "bytes": place }), block })
    }

    fn model(&self, f: &Fields) -> Result<&OpenModel, Refusal> {
        match self.models.get(f.index("model")?) {
            Some(model) => Ok(model),
            None => wrong("this model is not open"),
        }
    }
}
