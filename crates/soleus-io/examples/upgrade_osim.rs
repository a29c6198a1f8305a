//! Reads an OpenSim file of any version and writes it in the format of OpenSim 4.6.
//!
//! ```text
//! cargo run -p soleus-io --example upgrade_osim -- old.osim new.osim
//! ```

use std::process::ExitCode;

use soleus_io::osim::{read_document, upgrade, write_document};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = args.as_slice() else {
        eprintln!("usage: upgrade_osim OLD NEW");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(from) {
        Ok(bytes) => bytes,
        Err(e) => {
            eprintln!("error: {from}: {e}");
            return ExitCode::from(2);
        }
    };
    let (doc, mut diags) = read_document(&bytes, from);
    let written = doc.map(|mut doc| {
        upgrade(&mut doc, &mut diags);
        std::fs::write(to, write_document(&doc))
    });
    for d in &diags.list {
        eprintln!("{d}");
    }
    match written {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(e)) => {
            eprintln!("error: {to}: {e}");
            ExitCode::from(2)
        }
        None => ExitCode::from(2),
    }
}
