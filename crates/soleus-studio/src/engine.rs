//! A session behind bytes: what the page's worker and the socket of the server have in common.

use crate::message;
use crate::session::{Refusal, Session};
use crate::tools;
use serde_json::{Value, json};
use soleus::files::Files;
use soleus::{Context, Diagnostic, Monitor, Progress, Reached};
use std::sync::{Mutex, PoisonError};

/// Time between two words about progress, s: a page need not draw more often.
const BETWEEN_S: f64 = 0.05;

/// Time between two motions that a page is told of, s: each is drawn.
const BETWEEN_MOTIONS_S: f64 = 0.25;

/// Tells a page what a tool says.
pub struct PageMonitor<'a> {
    /// Number of the message that is answered.
    pub id: Value,
    /// Sends JSON to the page.
    pub tell: &'a (dyn Fn(&Value) + Sync),
    /// A clock, s.
    pub seconds: &'a (dyn Fn() -> f64 + Sync),
    /// Whether the page asked to stop.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// When progress was told last, and when a motion was.
    pub last: Mutex<[f64; 2]>,
}

impl Monitor for PageMonitor<'_> {
    fn diagnostic(&self, d: &Diagnostic) {
        (self.tell)(&json!({ "id": self.id, "diagnostic": message::told(d) }));
    }

    fn note(&self, line: &str) {
        (self.tell)(&json!({ "id": self.id, "note": line }));
    }

    fn progress(&self, p: &Progress) {
        let now = (self.seconds)();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now - last[0] < BETWEEN_S {
            return;
        }
        last[0] = now;
        let progress = json!({ "what": p.what, "done": p.done, "total": p.total, "left_s": p.left_s, "detail": p.detail });
        (self.tell)(&json!({ "id": self.id, "progress": progress }));
    }

    fn wants_motion(&self) -> bool {
        let now = (self.seconds)();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let wants = now - last[1] >= BETWEEN_MOTIONS_S;
        if wants {
            last[1] = now;
        }
        wants
    }

    fn motion(&self, r: &Reached) {
        let error = r.marker_error.map(|(rms, max, worst)| json!({ "rms": rms, "max": max, "worst": worst }));
        let reached = json!({ "names": r.names, "times": r.times, "rows": r.rows, "error": error });
        (self.tell)(&json!({ "id": self.id, "reached": reached }));
    }

    fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    fn seconds(&self) -> Option<f64> {
        Some((self.seconds)())
    }
}

/// Answers a message with the number `id`.
pub fn answer(session: &mut Session, id: &Value, value: &Value, block: &[u8]) -> Vec<u8> {
    let method = value.get("method").and_then(Value::as_str).unwrap_or_default();
    let fields = value.get("fields").unwrap_or(&Value::Null);
    match session.answer(method, fields, block) {
        Ok(answer) => message::write(&json!({ "id": id, "answer": answer.value }), &answer.block.0),
        Err(refusal) => refused(id, &refusal),
    }
}

/// A message that says why there is no answer.
pub fn refused(id: &Value, refusal: &Refusal) -> Vec<u8> {
    message::write(&json!({ "id": id, "refused": refusal.value() }), &[])
}

/// Runs a tool for a message; its files come with the answer.
pub fn run(files: &dyn Files, monitor: &PageMonitor, threads: usize, value: &Value) -> Vec<u8> {
    let fields = value.get("fields").unwrap_or(&Value::Null);
    let tool = fields.get("tool").and_then(Value::as_str).unwrap_or_default();
    let request = fields.get("request").cloned().unwrap_or(Value::Null);
    let begun = (monitor.seconds)();
    let cx = Context::new(files).with_monitor(monitor).with_threads(threads);
    match tools::run(tool, request, &cx) {
        Err(e) => refused(&monitor.id, &Refusal::Failed(e)),
        Ok(ran) => {
            let mut block = message::Block::default();
            let list: Vec<Value> = ran
                .files
                .iter()
                .map(|(name, bytes)| json!({ "name": name, "bytes": block.bytes(bytes) }))
                .collect();
            let seconds = (monitor.seconds)() - begun;
            let answer = json!({ "files": list, "verdict": ran.verdict, "seconds": seconds });
            message::write(&json!({ "id": monitor.id, "answer": answer }), &block.0)
        }
    }
}
