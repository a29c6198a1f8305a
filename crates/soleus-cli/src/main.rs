//! The `soleus` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(soleus_cli::run_command(std::env::args_os()))
}
