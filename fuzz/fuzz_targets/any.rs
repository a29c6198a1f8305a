//! Any bytes through the reader that the variable `SOLEUS_TARGET` names, `osim` if it names none.
//!
//! Start from real files: `SOLEUS_TARGET=osim cargo +nightly fuzz run any corpus models`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soleus_fuzz::{Target, targets};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("SOLEUS_TARGET").unwrap_or_else(|_| "osim".into());
    targets().into_iter().find(|t| t.name == name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
