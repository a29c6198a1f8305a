//! The page as it was built (`scripts/build-studio`), compressed: whoever builds the program needs neither Node nor another target.

/// Name, type and bytes (gzip) of each file.
const FILES: &[(&str, &str, &[u8])] = &[
    ("index.html", "text/html; charset=utf-8", include_bytes!("../../bundle/index.html.gz")),
    ("studio.js", "text/javascript; charset=utf-8", include_bytes!("../../bundle/studio.js.gz")),
    ("studio.css", "text/css; charset=utf-8", include_bytes!("../../bundle/studio.css.gz")),
    ("worker.js", "text/javascript; charset=utf-8", include_bytes!("../../bundle/worker.js.gz")),
    ("engine.wasm", "application/wasm", include_bytes!("../../bundle/engine.wasm.gz")),
];

/// Says to the page that the program answers it. A cookie would say so to the pages of all ports of this machine.
const MARK: &str = "<meta name=\"soleus-engine\" content=\"program\">";

/// Bytes of the head of a file of gzip without a name, and of its tail.
const HEAD: usize = 10;
const TAIL: usize = 8;

/// The page itself as text, with the mark that a page of static files has not.
pub fn index() -> Option<String> {
    let (_, bytes) = find("index.html")?;
    let packed = bytes.get(HEAD..bytes.len().checked_sub(TAIL)?)?;
    let text = String::from_utf8(miniz_oxide::inflate::decompress_to_vec(packed).ok()?).ok()?;
    let at = text.find("<title>")?;
    Some(format!("{}{MARK}\n{}", &text[..at], &text[at..]))
}

/// Type and bytes of a file.
pub fn find(name: &str) -> Option<(&'static str, &'static [u8])> {
    FILES.iter().find(|(n, ..)| *n == name).map(|(_, kind, bytes)| (*kind, *bytes))
}
