//! The engine of Studio as WebAssembly, behind an interface of plain numbers: no tool is needed to bind it.
//!
//! A page makes a session, writes a message into memory that it asked for, and gets bytes back. What a tool says on its way goes to the
//! imported function `tell`; `now` is a clock.

use serde_json::{Value, json};
use soleus::Memory;
use soleus_studio::engine::{self, PageMonitor};
use soleus_studio::{Session, message};
use std::sync::{Arc, Mutex};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes JSON in UTF-8.
    fn tell(at: *const u8, length: usize);
    /// A clock that only rises, s.
    fn now() -> f64;
}

fn seconds() -> f64 {
    // SAFETY: the page gives a function without arguments that returns a number.
    unsafe { now() }
}

fn tell_page(value: &Value) {
    let text = value.to_string();
    // SAFETY: the text lives until the page has read it, which it does before it returns.
    unsafe { tell(text.as_ptr(), text.len()) }
}

/// A session with files in memory.
pub struct Engine {
    session: Session,
    files: Arc<Memory>,
}

/// Makes a session. It lives as long as the memory.
#[unsafe(no_mangle)]
pub extern "C" fn engine_new() -> *mut Engine {
    std::panic::set_hook(Box::new(|panic| tell_page(&json!({ "panic": panic.to_string() }))));
    let files = Arc::new(Memory::new());
    Box::into_raw(Box::new(Engine { session: Session::new(files.clone(), Vec::new()), files }))
}

/// Room for a message.
#[unsafe(no_mangle)]
pub extern "C" fn bytes_new(length: usize) -> *mut Vec<u8> {
    Box::into_raw(Box::new(vec![0; length]))
}

/// Where bytes are.
///
/// # Safety
///
/// `bytes` comes from [`bytes_new`] or [`engine_answer`] and was not given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bytes_at(bytes: *mut Vec<u8>) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe { (*bytes).as_mut_ptr() }
}

/// How many they are.
///
/// # Safety
///
/// As [`bytes_at`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bytes_length(bytes: *mut Vec<u8>) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*bytes).len() }
}

/// Gives bytes back.
///
/// # Safety
///
/// As [`bytes_at`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bytes_free(bytes: *mut Vec<u8>) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(bytes) });
}

/// Answers a message, which is given back.
///
/// # Safety
///
/// `engine` comes from [`engine_new`], `bytes` from [`bytes_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_answer(engine: *mut Engine, bytes: *mut Vec<u8>) -> *mut Vec<u8> {
    // SAFETY: as the caller promises; a page has one thread for each engine.
    let (engine, bytes) = unsafe { (&mut *engine, Box::from_raw(bytes)) };
    let answer = match message::read(&bytes) {
        None => message::write(&json!({ "refused": { "error": "this is not a message" } }), &[]),
        Some((value, block)) => {
            let id = value.get("id").cloned().unwrap_or(Value::Null);
            if value.get("method").and_then(Value::as_str) == Some("run") {
                let monitor = PageMonitor {
                    id,
                    tell: &tell_page,
                    seconds: &seconds,
                    cancelled: &|| false,
                    last: Mutex::new([0.0; 2]),
                };
                engine::run(&*engine.files, &monitor, 1, &value)
            } else {
                engine::answer(&mut engine.session, &id, &value, block)
            }
        }
    };
    Box::into_raw(Box::new(answer))
}
