//! `soleus experiment`: the program `soleus-experiment`, which is built apart from this one.

use clap::Args;
use soleus::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

// What is passed on.
#[derive(Args)]
#[command(disable_help_flag = true, after_help = include_str!("../help/experiment.txt"))]
pub struct Arguments {
    /// The experiment and its options; `soleus experiment --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Name of the program.
const PROGRAM: &str = "soleus-experiment";

/// Runs the program that lies beside this one, or on the path; its exit code is ours.
pub fn run(a: &Arguments) -> Result<u8, Error> {
    let beside = std::env::current_exe().ok().map(|me| me.with_file_name(PROGRAM)).filter(|p| is_program(p));
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    match Command::new(&program).args(&a.rest).status() {
        Ok(status) => Ok(status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1)),
        Err(e) => {
            let hint = "build it from the sources of Soleus: cargo build --release -p soleus-experiments";
            let message = format!("the experiments are a separate program, which could not be started: {e}");
            Err(Error::content(Path::new(PROGRAM), 0, "", message, hint))
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
