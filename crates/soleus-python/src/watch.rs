//! Long work: the lock released, progress shown, Ctrl-C heard.
//!
//! The work runs in a thread of its own, and the one that asked for it waits, shows progress and hears signals, which only the main thread of
//! Python does. The first Ctrl-C asks the work to stop as soon as it can; what it has by then is kept.

use pyo3::prelude::*;
use soleus::{Context, Diagnostic, Files, Monitor, Progress};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Time between two looks at signals and progress.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Nothing is shown before: most work is done sooner.
const PATIENCE: Duration = Duration::from_millis(800);
/// Room for deep recursion: models may be nested deeply, and threads of their own have little by default.
const STACK: usize = 64 << 20;

/// What the work said on the way.
#[derive(Default)]
pub struct Messages {
    /// What is odd about the input.
    pub diagnostics: Vec<Diagnostic>,
    /// Lines about the result.
    pub notes: Vec<String>,
    progress: Option<Shown>,
}

/// Progress: what is counted, how many are done, how many there are, time left (s), more words.
type Shown = (String, f64, Option<f64>, Option<f64>, String);

/// Whom the work tells.
struct Door {
    start: Instant,
    is_cancelled: AtomicBool,
    messages: Mutex<Messages>,
}

impl Door {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        // Lists are whole at every moment, whatever the thread that held them did.
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Monitor for Door {
    fn diagnostic(&self, d: &Diagnostic) {
        self.messages().diagnostics.push(d.clone());
    }

    fn note(&self, line: &str) {
        self.messages().notes.push(line.to_string());
    }

    fn progress(&self, p: &Progress) {
        self.messages().progress =
            Some((p.what.to_string(), p.done, p.total, p.left_s, p.detail.to_string()));
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.start.elapsed().as_secs_f64())
    }
}

/// How work ended.
pub struct Done<T> {
    /// What it returned.
    pub value: T,
    /// What it said on the way.
    pub messages: Messages,
    /// What stopped it, if something did: Ctrl-C, or an error while showing progress.
    pub interruption: Option<PyErr>,
}

/// Runs work in a context. `show` is called with progress, and without arguments at the end.
pub fn run<T: Send>(
    py: Python<'_>,
    files: &dyn Files,
    threads: usize,
    show: Option<&Py<PyAny>>,
    work: impl FnOnce(&Context) -> T + Send,
) -> PyResult<Done<T>> {
    let registry = crate::registry(py);
    let door =
        Door { start: Instant::now(), is_cancelled: AtomicBool::new(false), messages: Mutex::default() };
    let done = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (door, registry) = (&door, registry.as_deref());
            let body = move || {
                let cx = Context::new(files).with_monitor(door).with_threads(threads);
                let value = work(&Context { registry, ..cx });
                // The receiver waits for it as long as this thread lives.
                let _ = sender.send(());
                value
            };
            let handle = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body)?;
            let (mut interruption, mut has_shown) = (None, false);
            while receiver.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                let look = Python::attach(|py| {
                    check(py)?;
                    let shown = show.filter(|_| door.start.elapsed() > PATIENCE);
                    let progress = shown.and_then(|show| Some((show, door.messages().progress.take()?)));
                    if let Some((show, progress)) = progress {
                        has_shown = true;
                        show.call1(py, progress)?;
                    }
                    Ok::<(), PyErr>(())
                });
                if let Err(e) = look {
                    door.is_cancelled.store(true, Ordering::Relaxed);
                    interruption.get_or_insert(e);
                }
            }
            let value = match handle.join() {
                Ok(value) => value,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            if let (true, Some(show)) = (has_shown, show) {
                let ended = Python::attach(|py| show.call0(py).map(|_| ()));
                interruption = interruption.or(ended.err());
            }
            Ok::<_, std::io::Error>((value, interruption))
        })
    });
    let (value, interruption) = done?;
    let messages = door.messages.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Done { value, messages, interruption })
}

/// Raises what stops the work of the calling thread: Ctrl-C in the main thread, and in others what the package says.
fn check(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    py.import("soleus._stop")?.call_method0("check").map(|_| ())
}

/// How many calls write into arrays without holding the interpreter's lock, now.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Somebody who writes into arrays with the lock released, as long as it lives. It is made while the lock is held.
pub struct Writing(());

impl Writing {
    /// Announces it.
    pub fn begin(_: Python<'_>) -> Self {
        WRITING.fetch_add(1, Ordering::AcqRel);
        Writing(())
    }

    /// Whether nobody does, and nobody will as long as the caller holds the lock.
    pub fn is_nobody() -> bool {
        WRITING.load(Ordering::Acquire) == 0
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// As many threads as asked for, or as there are cores.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Whether work that the calling thread does itself should stop: Ctrl-C was pressed, or the package says so.
pub struct Interrupt {
    caller: ThreadId,
    looked: Mutex<Instant>,
    raised: Mutex<Option<PyErr>>,
    is_over: AtomicBool,
}

impl Interrupt {
    pub fn new() -> Self {
        Interrupt {
            caller: std::thread::current().id(),
            looked: Mutex::new(Instant::now()),
            raised: Mutex::new(None),
            is_over: AtomicBool::new(false),
        }
    }

    /// False once it should. Only the calling thread looks, as Python tells only its main thread of Ctrl-C.
    pub fn going_on(&self) -> bool {
        if std::thread::current().id() == self.caller {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.elapsed() >= BETWEEN_LOOKS {
                *looked = Instant::now();
                if let Err(e) = Python::attach(check) {
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
                    self.is_over.store(true, Ordering::Relaxed);
                }
            }
        }
        !self.is_over.load(Ordering::Relaxed)
    }

    /// What Python raised, if it should stop.
    pub fn raised(self) -> PyResult<()> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
