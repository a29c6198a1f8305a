//! The forms of the tools are made of the request types: their fields, kinds and comments.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A type of the library as its source has it.
#[derive(Default)]
struct Type {
    about: String,
    fields: Vec<(String, String, String, bool)>,
    variants: Vec<(String, String)>,
    rename_all: String,
}

/// Reads the structs and enums of a source. Sources are formatted by rustfmt, so that lines tell.
fn read(text: &str, types: &mut BTreeMap<String, Type>) {
    let mut help: Vec<&str> = Vec::new();
    let (mut rename, mut flatten, mut skip) = (String::new(), false, false);
    let mut open: Option<(String, bool)> = None;
    let mut field_name = None;
    for line in text.lines() {
        let code = line.trim();
        if let Some(text) = code.strip_prefix("///") {
            help.push(text.trim());
            continue;
        }
        if code.starts_with("#[") {
            flatten |= code.contains("flatten");
            skip |= code.contains("serde(skip");
            if let Some(at) = code.find("rename_all = \"") {
                rename = code[at + 14..].split('"').next().unwrap().to_string();
            } else if let Some(at) = code.find("rename = \"") {
                field_name = Some(code[at + 10..].split('"').next().unwrap().to_string());
            }
            continue;
        }
        // The first paragraph: what follows are notes and examples for programmers.
        let about = help.split(|l| l.is_empty()).next().unwrap_or_default().join(" ");
        if let Some((name, is_enum)) = &open {
            if line == "}" {
                open = None;
            } else if *is_enum && line.starts_with("    ") && !line.starts_with("     ") {
                let variant: String = code.chars().take_while(|c| c.is_alphanumeric()).collect();
                if !variant.is_empty() && (code.ends_with(',') || code.ends_with('{')) {
                    types.get_mut(name).unwrap().variants.push((variant, about));
                }
            } else if let (false, Some((field, kind))) =
                (*is_enum, code.strip_prefix("pub ").and_then(|c| c.split_once(": ")))
            {
                let field = field_name.take().unwrap_or(field.trim_start_matches("r#").to_string());
                if !skip {
                    let kind = kind.trim_end_matches(',').to_string();
                    types.get_mut(name).unwrap().fields.push((field, kind, about, flatten));
                }
            }
        } else {
            let begun = [("pub struct ", false), ("pub enum ", true)];
            if let Some((rest, is_enum)) = begun.iter().find_map(|(p, e)| Some((line.strip_prefix(p)?, *e))) {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                // A request without fields ends at once.
                let is_unit = line.trim_end_matches(';').ends_with(&name) && line.ends_with(';');
                if (line.ends_with('{') || is_unit) && !types.contains_key(&name) {
                    types.insert(
                        name.clone(),
                        Type { about, rename_all: std::mem::take(&mut rename), ..Type::default() },
                    );
                    open = Some((name, is_enum)).filter(|_| !is_unit);
                }
            }
            rename.clear();
        }
        help.clear();
        (flatten, skip, field_name) = (false, false, None);
    }
}

fn sources(folder: &Path, list: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, list);
        } else if path.extension().is_some_and(|e| e == "rs") {
            list.push(path);
        }
    }
}

/// How a form asks for a value of a type.
fn kind(rust: &str, types: &BTreeMap<String, Type>) -> Value {
    let inner = |prefix: &str| rust.strip_prefix(prefix).and_then(|r| r.strip_suffix('>'));
    if let Some(t) = inner("Option<") {
        let mut value = kind(t, types);
        value["optional"] = true.into();
        return value;
    }
    if let Some(t) = inner("Vec<") {
        return json!({ "kind": "list", "of": kind(t, types) });
    }
    if let Some((of, _)) = rust.strip_prefix('[').and_then(|r| r.split_once(';')) {
        return json!({ "kind": "list", "of": kind(of.trim(), types) });
    }
    match rust {
        "f64" => json!({ "kind": "number" }),
        "usize" | "u64" | "u32" => json!({ "kind": "integer" }),
        "bool" => json!({ "kind": "boolean" }),
        "String" => json!({ "kind": "text" }),
        "ModelSource" => json!({ "kind": "file", "for": "model" }),
        "Source<Table>" | "Source<Columns>" => json!({ "kind": "file", "for": "table" }),
        "PathBuf" | "StudySource" => json!({ "kind": "file" }),
        name => match types.get(name) {
            Some(t) if !t.fields.is_empty() => json!({ "kind": "group", "type": name }),
            Some(t) if !t.variants.is_empty() => json!({ "kind": "choice", "type": name }),
            _ => json!({ "kind": "json" }),
        },
    }
}

/// The same spelling as serde's.
fn renamed(name: &str, rule: &str) -> String {
    let separator = match rule {
        "kebab-case" => '-',
        "snake_case" => '_',
        "lowercase" => return name.to_lowercase(),
        _ => return name.to_string(),
    };
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(separator);
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Fields of a type, those of flattened ones among them.
fn fields(name: &str, types: &BTreeMap<String, Type>, used: &mut Vec<String>) -> Vec<Value> {
    let mut list = Vec::new();
    for (field, rust, help, flatten) in &types[name].fields {
        if *flatten && types.contains_key(rust) {
            list.extend(fields(rust, types, used));
            continue;
        }
        let kind = kind(rust, types);
        let mut at = &kind;
        while at["kind"] == "list" {
            at = &at["of"];
        }
        used.extend(at["type"].as_str().map(String::from));
        list.push(json!({ "name": field, "help": help, "type": kind }));
    }
    list
}

fn forms() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["soleus", "soleus-tools", "soleus-io", "soleus-model", "soleus-control"] {
        sources(&root.join(folder).join("src"), &mut files);
    }
    let mut types = BTreeMap::new();
    for file in files {
        read(&fs::read_to_string(file).unwrap(), &mut types);
    }
    let mut wanted: Vec<String> =
        soleus_studio::tools::requests().iter().map(|(t, _)| t.to_string()).collect();
    let mut out = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if out.contains_key(&name) {
            continue;
        }
        let t = &types[&name];
        let mut value = Map::new();
        value.insert("about".to_string(), t.about.clone().into());
        if t.variants.is_empty() {
            value.insert("fields".to_string(), fields(&name, &types, &mut wanted).into());
        } else {
            let variants = t.variants.iter().map(|(v, help)| json!([renamed(v, &t.rename_all), help]));
            value.insert("choices".to_string(), variants.collect());
        }
        out.insert(name, Value::Object(value));
    }
    json!(out)
}

/// Every request of the library has a form: whatever is public and runs in a context. There are no exceptions.
#[test]
fn identity_every_request_has_a_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../soleus/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut requests = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let mut owner = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("impl ") {
                owner = rest.split(" for ").last().unwrap().split([' ', '<']).next().unwrap();
            }
            let runs = line.starts_with("    pub fn run(&self, ") && line.contains(": &Context");
            // What the modules do among themselves is not public.
            let is_public = text.contains(&format!("\npub struct {owner}")) && text.contains("Deserialize");
            if runs && is_public {
                requests.push(owner.to_string());
            }
        }
    }
    // As many as there are today, so that another spelling of the method does not make this test empty.
    assert!(requests.len() >= 36, "{requests:?}");
    let with_form: Vec<&str> = soleus_studio::tools::requests().iter().map(|(t, _)| *t).collect();
    for request in &requests {
        assert!(
            with_form.contains(&request.as_str()),
            "`{request}` has no form: soleus-studio/src/tools/mod.rs"
        );
    }
    // What the crate shows at its root as a request is among them.
    let shown = fs::read_to_string(root.join("lib.rs")).unwrap();
    assert!(requests.iter().all(|r| shown.contains(r)), "{requests:?}");
}

/// The committed forms are those of the sources; `SOLEUS_UPDATE=1` writes them anew.
#[test]
fn identity_forms_are_those_of_the_request_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools/forms.json");
    let made = serde_json::to_string_pretty(&forms()).unwrap() + "\n";
    if std::env::var_os("SOLEUS_UPDATE").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept == made, "forms.json is old: SOLEUS_UPDATE=1 cargo test -p soleus-studio forms");
}

/// Every field that serde writes is in the form, with a help text, and every field of the form is one that serde knows.
#[test]
fn identity_every_field_has_a_kind_and_a_help() {
    let forms = forms();
    for (request, defaults) in soleus_studio::tools::requests() {
        let fields = forms[request]["fields"].as_array().unwrap();
        for (key, _) in defaults.as_object().into_iter().flatten() {
            let field =
                fields.iter().find(|f| f["name"] == *key).unwrap_or_else(|| panic!("{request}.{key}"));
            assert!(field["help"].as_str().is_some_and(|h| !h.is_empty()), "{request}.{key} has no help");
        }
        for field in fields {
            assert!(defaults.get(field["name"].as_str().unwrap()).is_some(), "{request} has no {field}");
        }
    }
}

/// Fields that a tool shows first, and those of its results, are fields of its request.
#[test]
fn identity_named_fields_exist() {
    for tool in soleus_studio::tools::described()["tools"].as_array().unwrap() {
        let first = tool["first"].as_array().unwrap().iter();
        let output = tool["output"].as_array().unwrap().iter().map(|o| &o[0]);
        for path in first.chain(output).map(|p| p.as_str().unwrap()) {
            let pointer = format!("/defaults/{}", path.replace('.', "/"));
            assert!(tool.pointer(&pointer).is_some(), "{}: {path}", tool["name"]);
        }
    }
}
