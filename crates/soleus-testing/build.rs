//! Finds the folder of the reference data: `SOLEUS_SHARED`, relative to the checkout, or `../shared` beside it.

use std::path::Path;

fn main() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var("SOLEUS_SHARED").unwrap_or_default();
    let folder = checkout.join(if named.is_empty() { "../shared" } else { &named });
    let folder = folder.canonicalize().unwrap_or(folder);
    println!("cargo::rustc-env=SOLEUS_SHARED_FOLDER={}", folder.display());
    println!("cargo::rustc-env=SOLEUS_SHARED_FOUND={}", folder.is_dir());

    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOLEUS_SHARED");
    // Cargo asks again when these go. It would build everything anew on every call if told to wait for a file that
    // is not there, so data that come later are noticed by a test in src/lib.rs.
    for inside in ["README.md", "reference/README.md", "data/INDEX.md"] {
        let file = folder.join(inside);
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
}
