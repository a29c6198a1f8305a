//! A page at its socket: messages are answered one after the other by a thread of their own, tools run beside it.

use super::folder::OpenedFiles;
use crate::engine::{self, PageMonitor};
use crate::message;
use crate::session::{Refusal, Session};
use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Tools that are running, by the number of their message.
type Running = Arc<Mutex<HashMap<u64, Arc<AtomicBool>>>>;

/// Attends to a page until it goes.
pub async fn attend(mut socket: WebSocket, files: Arc<OpenedFiles>, names: Vec<PathBuf>) {
    let (ask, asked) = mpsc::channel::<Vec<u8>>();
    let (reply, mut replies) = unbounded_channel::<Vec<u8>>();
    let running = Running::default();
    let all = running.clone();
    std::thread::spawn(move || answer_all(&asked, &reply, &files, names, &all));
    loop {
        tokio::select! {
            heard = socket.recv() => match heard {
                Some(Ok(Message::Binary(bytes))) => {
                    if ask.send(bytes.to_vec()).is_err() {
                        break;
                    }
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                // Text is not a message of ours, nor is anything after the end.
                _ => break,
            },
            Some(bytes) = replies.recv() => {
                if socket.send(Message::Binary(bytes.into())).await.is_err() {
                    break;
                }
            }
        }
    }
    // Nobody waits for them any more.
    running
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .values()
        .for_each(|stop| stop.store(true, Ordering::Relaxed));
}

fn answer_all(
    asked: &mpsc::Receiver<Vec<u8>>,
    reply: &UnboundedSender<Vec<u8>>,
    files: &Arc<OpenedFiles>,
    names: Vec<PathBuf>,
    running: &Running,
) {
    let mut session = Session::new(files.clone(), names);
    while let Ok(bytes) = asked.recv() {
        let Some((value, block)) = message::read(&bytes) else {
            let _ =
                reply.send(engine::refused(&Value::Null, &Refusal::Wrong("this is not a message".into())));
            continue;
        };
        let id = value.get("id").cloned().unwrap_or(Value::Null);
        match value.get("method").and_then(Value::as_str) {
            Some("run") => run(value, id, reply.clone(), files.clone(), running.clone()),
            Some("cancel") => {
                let number = value.pointer("/fields/run").and_then(Value::as_u64).unwrap_or(0);
                if let Some(stop) = running.lock().unwrap_or_else(PoisonError::into_inner).get(&number) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            _ => {
                // The page is gone if nobody takes the answer; the next message then does not come.
                let _ = reply.send(engine::answer(&mut session, &id, &value, block));
            }
        }
    }
}

/// Runs a tool beside the session.
fn run(value: Value, id: Value, reply: UnboundedSender<Vec<u8>>, files: Arc<OpenedFiles>, running: Running) {
    let stop = Arc::new(AtomicBool::new(false));
    let number = id.as_u64().unwrap_or(0);
    running.lock().unwrap_or_else(PoisonError::into_inner).insert(number, stop.clone());
    std::thread::spawn(move || {
        let begun = Instant::now();
        let told = reply.clone();
        let tell = move |value: &Value| {
            let _ = told.send(message::write(value, &[]));
        };
        let monitor = PageMonitor {
            id: id.clone(),
            tell: &tell,
            seconds: &|| begun.elapsed().as_secs_f64(),
            cancelled: &|| stop.load(Ordering::Relaxed),
            last: Mutex::new([-1.0; 2]),
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            engine::run(&*files, &monitor, threads, &value)
        }));
        let answer = done.unwrap_or_else(|_| {
            message::write(&json!({ "id": id, "refused": { "error": "the tool stopped because of an error in Soleus", "kind": "Fault" } }), &[])
        });
        let _ = reply.send(answer);
        running.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    });
}
