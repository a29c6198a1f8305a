//! Elements as XML.

use super::Plain;
use crate::osim::{read_document, write_element};
use soleus_model::Element;

impl Plain for Element {
    type Form = String;
    fn form(&self) -> String {
        write_element(self)
    }
    fn value(form: String) -> Result<Element, String> {
        let (document, log) = read_document(form.as_bytes(), "");
        let first = || log.list.first().map_or(String::new(), |d| format!("line {}: {}", d.line, d.message));
        document.map(|d| d.root).ok_or_else(|| format!("no XML: {}", first()))
    }
}
