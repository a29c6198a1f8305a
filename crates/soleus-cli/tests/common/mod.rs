//! Running the built command on files written for a test.

use soleus_math::Table;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The model that ships with the program.
pub const LEG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");

/// How long bad input may keep a user waiting. Debug builds on a busy machine are slow.
const PATIENCE: Duration =
    if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(1) };

/// A folder of its own for each test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        // Left over from an earlier run, or not there.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), contents).unwrap();
    }

    /// Runs `soleus` in this folder.
    pub fn soleus(&self, args: &[&str]) -> Run {
        let start = Instant::now();
        let out =
            Command::new(env!("CARGO_BIN_EXE_soleus")).args(args).current_dir(&self.0).output().unwrap();
        Run {
            code: out.status.code(),
            stdout: String::from_utf8(out.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
            took: start.elapsed(),
        }
    }

    /// Writes `contents` as a model, asks for an evaluation in its default state, and expects to be refused
    /// with all of `words` on stderr.
    pub fn refuses_model(&self, name: &str, contents: impl AsRef<[u8]>, words: &[&str]) {
        self.file(name, contents);
        self.file("default.json", "{\"states\": [{}]}");
        self.soleus(&["eval", name, "--states", "default.json", "--out", "-"]).is_refused(words);
    }

    /// Writes `states` and expects them to be refused for the model that ships.
    pub fn refuses_states(&self, name: &str, states: &str, words: &[&str]) {
        self.file(name, states);
        self.soleus(&["eval", LEG, "--states", name, "--out", "-"]).is_refused(words);
    }
}

/// What came of it.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Run {
    /// Exit code 2, all of `words` on stderr, nothing on stdout, no panic, at once.
    pub fn is_refused(&self, words: &[&str]) {
        let text = &self.stderr;
        assert_eq!(self.code, Some(2), "{text}");
        assert_eq!(self.stdout, "", "stdout is for data");
        assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{text}");
        assert!(text.contains("error"), "{text}");
        for word in words {
            assert!(text.contains(word), "no `{word}` in:\n{text}");
        }
        assert!(self.took < PATIENCE, "took {:?}: {text}", self.took);
    }

    /// Exit code 0; stdout.
    pub fn is_done(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        &self.stdout
    }
}

/// A folder of the reference data.
pub fn shared(folder: &str) -> PathBuf {
    Path::new(soleus_testing::shared!()).join(folder)
}

/// The folder of OpenSim's recorded pipelines.
pub fn pipelines() -> PathBuf {
    shared("reference/pipelines")
}

/// Reads a table.
pub fn table(path: &Path) -> Table {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    soleus_io::table::read(&bytes, &path.display().to_string()).0.unwrap()
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// `file:line` of the first line of `text` that holds `needle`.
pub fn place(file: &str, text: &str, needle: &str) -> String {
    let line = text.lines().position(|l| l.contains(needle)).unwrap_or_else(|| panic!("no `{needle}`"));
    format!("{file}:{}", line + 1)
}

/// A body of that name and mass, with a moment of inertia of 0.1 kg·m² about each axis if it has any mass.
pub fn body(name: &str, mass: &str) -> String {
    let i = if mass == "0" { "0" } else { "0.1" };
    format!(
        "<Body name=\"{name}\">\n<mass>{mass}</mass>\n<mass_center>0 -0.5 0</mass_center>\n\
         <inertia>{i} {i} {i} 0 0 0</inertia>\n</Body>\n"
    )
}

/// A joint between the origins of two frames; `coordinates` are the names of its coordinates.
pub fn joint(class: &str, name: &str, parent: &str, child: &str, coordinates: &[&str]) -> String {
    let list: String = coordinates.iter().map(|c| format!("<Coordinate name=\"{c}\"/>\n")).collect();
    format!(
        "<{class} name=\"{name}\">\n<socket_parent_frame>{parent}</socket_parent_frame>\n\
         <socket_child_frame>{child}</socket_child_frame>\n<coordinates>\n{list}</coordinates>\n</{class}>\n"
    )
}

/// A model file of version 40600.
pub fn model(bodies: &str, joints: &str, forces: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40600\">\n<Model name=\"test\">\n\
         <Ground name=\"ground\"/>\n<BodySet name=\"bodyset\">\n<objects>\n{bodies}</objects>\n</BodySet>\n\
         <JointSet name=\"jointset\">\n<objects>\n{joints}</objects>\n</JointSet>\n\
         <ForceSet name=\"forceset\">\n<objects>\n{forces}</objects>\n</ForceSet>\n</Model>\n</OpenSimDocument>\n"
    )
}

/// One pendulum: a body of 2 kg whose mass centre hangs 0.5 m below its hinge.
pub fn pendulum(forces: &str) -> String {
    model(&body("rod", "2"), &joint("PinJoint", "hinge", "/ground", "/bodyset/rod", &["angle"]), forces)
}
