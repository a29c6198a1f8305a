//! The page as it was built (`scripts/build-studio`), compressed: whoever builds the program needs neither Node nor another target.

/// Name, type and bytes (gzip) of each file.
const FILES: &[(&str, &str, &[u8])] = &[
    ("index.html", "text/html; charset=utf-8", include_bytes!("../../bundle/index.html.gz")),
    ("studio.js", "text/javascript; charset=utf-8", include_bytes!("../../bundle/studio.js.gz")),
    ("studio.css", "text/css; charset=utf-8", include_bytes!("../../bundle/studio.css.gz")),
    ("worker.js", "text/javascript; charset=utf-8", include_bytes!("../../bundle/worker.js.gz")),
    ("engine.wasm", "application/wasm", include_bytes!("../../bundle/engine.wasm.gz")),
];

/// Type and bytes of a file.
pub fn find(name: &str) -> Option<(&'static str, &'static [u8])> {
    FILES.iter().find(|(n, ..)| *n == name).map(|(_, kind, bytes)| (*kind, *bytes))
}
