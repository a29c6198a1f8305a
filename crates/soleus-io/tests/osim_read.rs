//! What the reader accepts, what it refuses, and that it always answers.

use std::time::Instant;

use proptest::prelude::*;
use soleus_io::osim::{MAX_DEPTH, read_document, upgrade, write_document};
use soleus_model::{Content, Document, Element, Severity};

/// Reads text that must be accepted.
fn read(text: &str) -> Document {
    let (doc, diags) = read_document(text.as_bytes(), "test.osim");
    doc.unwrap_or_else(|| panic!("refused: {:?}", diags.list))
}

/// Reads bytes that must be refused; gives the first error.
fn refuse(bytes: &[u8]) -> (u32, String) {
    let (doc, diags) = read_document(bytes, "test.osim");
    assert!(doc.is_none(), "accepted {:?}", String::from_utf8_lossy(bytes));
    let first = diags.list.iter().find(|d| d.severity == Severity::Error).expect("an error is given");
    (first.line, first.message.clone())
}

#[test]
fn analytic_lines_attributes_text() {
    let doc = read(
        "<?xml version=\"1.0\"?>\r\n<OpenSimDocument Version=\"30000\">\r\n\t<Model name='a &amp; &#98;'>\r\n\
         <x> 1\r\n2 </x><!-- c --></Model></OpenSimDocument>",
    );
    assert_eq!(doc.version, 30000);
    assert_eq!(doc.root.line, 2);
    let model = doc.root.child("Model").expect("model");
    assert_eq!((model.line, model.name()), (3, "a & b"));
    let x = model.child("x").expect("x");
    assert_eq!((x.line, x.text().as_str()), (4, "1\n2"));
    assert_eq!(model.content[1], Content::Comment(" c ".into()));
}

#[test]
fn analytic_habits_of_opensim_files() {
    // Comment before the declaration, byte order mark, double colon in tags, CDATA.
    let doc = read(
        "\u{FEFF}<!-- first --><?xml version=\"1.0\"?><A><B::C>1<![CDATA[<2>]]></B::C></A><!-- last -->\n",
    );
    assert_eq!(doc.version, 0);
    assert_eq!(doc.preamble, [" first "]);
    assert_eq!(doc.epilogue, [" last "]);
    assert_eq!(doc.root.child("B::C").map(Element::text).as_deref(), Some("1<2>"));

    // Latin-1 in a file that says UTF-8: read, with a warning that names the line.
    let (doc, diags) = read_document(b"<a>\n<b>Jos\xE9 \x93x\x94</b></a>", "f");
    assert_eq!(doc.and_then(|d| d.root.child_text("b")).as_deref(), Some("Jos\u{e9} \u{201c}x\u{201d}"));
    assert_eq!((diags.list.len(), diags.list[0].line), (1, 2));

    // A stray character after the root: ignored, with a warning.
    let (doc, diags) = read_document(b"<a/>\n\nx", "f");
    assert!(doc.is_some());
    assert_eq!((diags.list.len(), diags.list[0].line), (1, 3));
}

#[test]
fn analytic_refusals_name_line_and_cause() {
    let cases: &[(&[u8], u32, &str)] = &[
        (b"", 0, "empty"),
        (b"  \n ", 0, "empty"),
        (b"\n\nhello", 3, "not XML"),
        (b"<a>\n\0</a>", 2, "zero byte"),
        (b"\xFF\xFE<\0a\0", 1, "UTF-16"),
        (b"<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", 2, "document type"),
        (b"<a>\n<!DOCTYPE b></a>", 2, "document type"),
        (b"<a>\n&nbsp;</a>", 2, "&nbsp;"),
        (b"<a>x & y</a>", 1, "entities"),
        (b"<a>&#0;</a>", 1, "&#0;"),
        (b"<a>&#xD800;</a>", 1, "&#xD800;"),
        (b"<a>\n<b>\n<c>\n</c>", 2, "`<b>` opened on line 2 is never closed"),
        (b"<a>\n<b>text", 2, "`<b>` opened on line 2 is never closed"),
        (b"<a>\n<b></c></a>", 2, "`</c>` closes `<b>`"),
        (b"<a>\n<b n='1' n='2'/></a>", 2, "twice"),
        (b"<a>\n<b n=1/></a>", 2, "no quoted value"),
        (b"<a>\n<b n/></a>", 2, "malformed"),
        (b"<a>\n<b n='1", 2, "is not closed"),
        (b"<a>\n<!-- b", 2, "is not closed"),
        (b"<a>\n< b/></a>", 2, "not by a name"),
        (b"\n</a>", 2, "closes nothing"),
        (b"<a/>\n<b/>", 2, "second root element"),
        (b"<!-- only -->", 1, "no element"),
        (b"<OpenSimDocument/>", 1, "no Version"),
        (b"<OpenSimDocument Version='x'/>", 1, "not a number"),
    ];
    for (bytes, line, cause) in cases {
        let (l, message) = refuse(bytes);
        let shown = String::from_utf8_lossy(bytes);
        assert!(message.contains(cause), "{shown}: {message}");
        assert_eq!(l, *line, "{shown}: {message}");
    }
}

#[test]
fn analytic_comments_are_left_out_on_demand() {
    let text = "<!-- a --><?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"40600\"><!-- b\n --><x> 1 <!-- c --> 2 </x>\n\
                <y/></OpenSimDocument><!-- d -->";
    let kept = read(text);
    let (bare, log) = soleus_io::osim::read_elements(text.as_bytes(), "x.osim");
    let bare = bare.unwrap();
    assert!(log.list.is_empty());
    assert_eq!((kept.preamble.len(), kept.epilogue.len()), (1, 1));
    assert!(bare.preamble.is_empty() && bare.epilogue.is_empty());
    // Texts and lines are the same.
    let of = |d: &Document| d.root.children().map(|e| (e.tag.clone(), e.text(), e.line)).collect::<Vec<_>>();
    assert_eq!(of(&bare), of(&kept));
    assert!(bare.root.content.iter().all(|c| matches!(c, Content::Element(_))));
}

#[test]
fn analytic_depth_limit() {
    let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
    assert!(read_document(nested(MAX_DEPTH).as_bytes(), "f").0.is_some());
    assert!(refuse(nested(MAX_DEPTH + 1).as_bytes()).1.contains("nested"));
    assert!(refuse("<a>".repeat(1_000_000).as_bytes()).1.contains("nested"));
}

/// Ten megabytes of each kind of noise must be answered within a second; a test build is
/// several times slower than a release, and still is.
#[test]
fn analytic_noise_is_answered_quickly() {
    const SIZE: usize = 10_000_000;
    let fill = |unit: &str| unit.repeat(SIZE / unit.len());
    let noise: Vec<u8> = (0..SIZE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    let inputs: Vec<Vec<u8>> = vec![
        noise.clone(),
        [b"<a>".as_slice(), &noise].concat(),
        [b"<a ".as_slice(), fill("a=''  ").as_bytes()].concat(),
        format!("<a {}/>", (0..500_000).map(|i| format!("a{i}='' ")).collect::<String>()).into_bytes(),
        fill("<a/>").into_bytes(),
        format!("<a>{}</a>", fill("&")).into_bytes(),
        format!("<a>{}</a>", fill("&amp;")).into_bytes(),
        format!("<a>{}</a>", fill("<!---->")).into_bytes(),
        format!("<a>{}</a>", fill("<b/>")).into_bytes(),
        [b"<a>".as_slice(), &vec![0xE9; SIZE]].concat(),
        format!("<a>{}", fill("<")).into_bytes(),
    ];
    for input in inputs {
        let start = Instant::now();
        let _ = read_document(&input, "noise");
        let took = start.elapsed().as_secs_f64();
        // A factor of five for shared machines and unoptimized builds.
        assert!(took < 5.0, "{took} s for {:?}", String::from_utf8_lossy(&input[..20]));
    }
}

/// A tree as the reader can make it: no empty or white text, no text beside text, no `--` in
/// comments, and no line numbers, which change when a file is written anew.
fn element() -> impl Strategy<Value = Element> {
    let name = "[A-Za-z_][A-Za-z0-9_.:-]{0,8}";
    let attributes = prop::collection::btree_map(name, "[ -~\u{e9}\n\t\r]{0,6}", 0..3);
    let text = "[ -~\u{e9}\u{4e2d}\n\t\r]{0,10}[!-~]".prop_map(Content::Text);
    let comment = "[ -,.-~\n]{0,8}".prop_map(Content::Comment);
    let leaf = (name, attributes.clone()).prop_map(|(tag, attributes)| Element {
        tag,
        attributes: attributes.into_iter().collect(),
        ..Default::default()
    });
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let content = prop_oneof![
            3 => inner.prop_map(Content::Element),
            1 => text.clone(),
            1 => comment.clone()
        ];
        (name, attributes.clone(), prop::collection::vec(content, 0..6)).prop_map(
            |(tag, attributes, mut content)| {
                content.dedup_by(|a, b| matches!((a, b), (Content::Text(_), Content::Text(_))));
                Element { tag, attributes: attributes.into_iter().collect(), content, line: 0 }
            },
        )
    })
}

fn forget_lines(e: &mut Element) {
    e.line = 0;
    e.children_mut().for_each(forget_lines);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn identity_write_then_read(root in element(), comment in "[ -,.-~]{0,8}") {
        let doc = Document {
            file: "f".into(),
            version: 0,
            preamble: vec![comment.clone()],
            root: { let mut r = root; r.tag = format!("r{}", r.tag); r },
            epilogue: vec![comment],
        };
        let text = write_document(&doc);
        let (back, diags) = read_document(text.as_bytes(), "f");
        prop_assert!(diags.list.is_empty(), "{:?} in {}", diags.list, text);
        let mut back = back.expect("accepted");
        forget_lines(&mut back.root);
        prop_assert_eq!(back, doc);
    }

    #[test]
    fn identity_any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (doc, diags) = read_document(&bytes, "f");
        prop_assert_eq!(doc.is_none(), diags.has_errors());
    }

    #[test]
    fn identity_any_markup_is_answered(text in "[<>/!?&;='\"a-c \n-]{0,60}") {
        let (doc, diags) = read_document(text.as_bytes(), "f");
        prop_assert_eq!(doc.is_none(), diags.has_errors());
    }

    /// Damage to a valid old model: the reader and every upgrade step answer, and what they
    /// accept can be written and read again.
    #[test]
    fn identity_damaged_models_are_answered(
        cut in 0usize..MODEL.len(),
        edits in prop::collection::vec((0usize..MODEL.len(), any::<u8>()), 0..4),
        swap in prop::collection::vec((0usize..400, 0usize..400), 0..6),
        truncate in any::<bool>(),
    ) {
        // Swapped tags keep the file well-formed more often than changed bytes.
        let mut words: Vec<String> = MODEL.split_inclusive('>').map(str::to_string).collect();
        for (a, b) in swap {
            let n = words.len();
            words.swap(a % n, b % n);
        }
        let mut bytes = words.concat().into_bytes();
        for (at, b) in edits {
            let n = bytes.len();
            bytes[at % n] = b;
        }
        if truncate {
            bytes.truncate(cut);
        }
        let (doc, mut diags) = read_document(&bytes, "f");
        if let Some(mut doc) = doc {
            upgrade(&mut doc, &mut diags);
            let text = write_document(&doc);
            let (again, diags) = read_document(text.as_bytes(), "f");
            prop_assert!(again.is_some(), "{:?}", diags.list);
        }
    }

    /// Elements of a model in the wrong places: no step relies on where things are.
    #[test]
    fn identity_shuffled_models_upgrade(
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        version in prop::sample::select(vec![10500u32, 10600, 10901, 20001, 20302, 30000, 30500, 30504, 30507, 30516, 40000]),
    ) {
        let mut doc = read(MODEL);
        doc.version = version;
        for (from, to) in moves {
            let mut taken = None;
            let n = count(&doc.root);
            nth(&mut doc.root, &mut from.index(n), &mut |e| {
                if !e.content.is_empty() {
                    taken = Some(e.content.remove(0));
                }
            });
            let n = count(&doc.root);
            if let Some(c) = taken {
                nth(&mut doc.root, &mut to.index(n), &mut |e| e.content.push(c.clone()));
            }
        }
        let mut diags = soleus_model::Diagnostics::new("f");
        upgrade(&mut doc, &mut diags);
        prop_assert_eq!(doc.version, 40600);
    }
}

fn count(e: &Element) -> usize {
    1 + e.children().map(count).sum::<usize>()
}

/// Calls `f` with the element of that number, parents before children.
fn nth(e: &mut Element, n: &mut usize, f: &mut impl FnMut(&mut Element)) {
    if *n == 0 {
        f(e);
        *n = usize::MAX;
        return;
    }
    *n = n.saturating_sub(1);
    for child in e.children_mut() {
        if *n == usize::MAX {
            return;
        }
        nth(child, n, f);
    }
}

/// A model of version 1.9 with one of most things that an upgrade touches.
const MODEL: &str = include_str!("data/old_model.osim");
