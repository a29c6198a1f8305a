//! Any bytes through the reader, every upgrade step and the writer.
//!
//! Start from real files: `cargo +nightly fuzz run osim corpus crates/soleus-io/tests/data`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soleus_io::osim::{read_document, upgrade, write_document};

fuzz_target!(|bytes: &[u8]| {
    let (doc, mut diags) = read_document(bytes, "fuzz");
    assert_eq!(doc.is_none(), diags.has_errors());
    let Some(mut doc) = doc else { return };
    upgrade(&mut doc, &mut diags);
    let text = write_document(&doc);
    // An upgrade may carry a file at the limits of depth or attributes beyond them; anything
    // else that was written must be accepted.
    let (again, diags) = read_document(text.as_bytes(), "fuzz");
    let over_limit = diags.list.iter().any(|d| d.message.contains("more than"));
    assert!(again.is_some() || over_limit, "what was written is refused: {:?}", diags.list);
});
