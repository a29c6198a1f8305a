//! The way in and out of the library: files of the command line, and what is told on the terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use soleus::files::{Disk, Redirected};
use soleus::load_assignment::is_table;
use soleus::text::printable;
use soleus::{AssignLoads, Context, Diagnostic, Error, ErrorKind, Monitor, Outcome, Progress};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Nothing is said about progress before, s: most commands are done sooner.
const PATIENCE_S: f64 = 1.0;

/// Time between two lines when nobody watches, s.
const BETWEEN_LINES_S: f64 = 2.0;

/// Exit code of a program that a second Ctrl-C ends at once: 128 and the number of the signal, as shells have it.
const INTERRUPTED: i32 = 130;

/// Bytes to stdout.
fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // Whoever reads has seen enough, as `head` does.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Says a line on stderr, characters that a terminal would obey spelled out. A closed or full stderr is no reason to stop: words are
/// never worth a result.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// Tells on stderr, and listens to Ctrl-C.
pub struct Terminal {
    start: Instant,
    /// Whether Ctrl-C was pressed; heard from the first time that work asks.
    stop: OnceLock<Arc<AtomicBool>>,
    shown: Mutex<Shown>,
    quiet: bool,
}

/// What is seen of progress.
#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
    /// When the work that is counted began, s, and what it is.
    work: Option<(f64, String)>,
    /// When the last line was said, s.
    line: Option<f64>,
}

impl Terminal {
    /// Nothing told yet. A quiet one says only what is odd or wrong.
    pub fn new(quiet: bool) -> Self {
        Terminal { start: Instant::now(), stop: OnceLock::new(), shown: Mutex::default(), quiet }
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bar away before a line is said.
    fn clear(&self) {
        let mut shown = self.shown();
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
        shown.work = None;
    }
}

/// The first Ctrl-C asks to stop, the second ends the program. Only work that asks can be stopped so: any other ends at the
/// first, as programs do.
fn listen() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = flag.clone();
    let listening = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        say("\nstopping; press Ctrl-C again to quit immediately");
    });
    if let Err(e) = listening {
        say(&format!("warning: Ctrl-C will end the program without saving: {e}"));
    }
    flag
}

impl Monitor for Terminal {
    fn diagnostic(&self, d: &Diagnostic) {
        self.clear();
        say(&format!("{d}\n"));
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            self.clear();
            say(line);
        }
    }

    fn progress(&self, p: &Progress) {
        if self.quiet {
            return;
        }
        let now = self.start.elapsed().as_secs_f64();
        let mut shown = self.shown();
        let begun = match &shown.work {
            Some((begun, what)) if what == p.what => *begun,
            _ => {
                *shown = Shown { work: Some((now, p.what.to_string())), ..Shown::default() };
                now
            }
        };
        if now - begun < PATIENCE_S {
            return;
        }
        let text = p.line(now - begun);
        if io::stderr().is_terminal() {
            let bar = shown.bar.get_or_insert_with(|| {
                let bar = ProgressBar::with_draw_target(p.total.map(|_| 1000), ProgressDrawTarget::stderr());
                let form = if p.total.is_some() { "{bar:30} {msg}" } else { "{msg}" };
                bar.with_style(ProgressStyle::with_template(form).unwrap_or(ProgressStyle::default_bar()))
            });
            bar.set_position(p.total.map_or(0, |total| (1000.0 * p.done / total) as u64));
            bar.set_message(text);
        } else if shown.line.is_none_or(|t| now - t >= BETWEEN_LINES_S) {
            shown.line = Some(now);
            say(&text);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stop.get_or_init(listen).load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.start.elapsed().as_secs_f64())
    }
}

/// Writes text to stdout.
pub fn print(cx: &Context, text: &str) -> Result<(), Error> {
    let stdout = Path::new("-");
    cx.files.write(stdout, text.as_bytes()).map_err(|e| Error::write(cx.files, stdout, e))
}

/// Writes the files of a result, and says whether it is the one that was wanted.
pub fn finish(cx: &Context, outcome: Result<impl Outcome, Error>) -> Result<(), Error> {
    let outcome = outcome?;
    outcome.write(cx)?;
    outcome.verdict()
}

/// Loads as an ExternalLoads file: a table of plates is assigned to feet first, and the file is written beside the results, where it can
/// be read and changed.
pub fn loads_file(
    (model, motion): (&Path, &Path),
    loads: Option<&Path>,
    folder: &Path,
) -> Result<Option<PathBuf>, Error> {
    let Some(table) = loads.filter(|l| is_table(l)) else { return Ok(loads.map(Path::to_path_buf)) };
    let stem = table.file_stem().unwrap_or_default().to_string_lossy();
    let output = folder.join(format!("{stem}_loads.xml"));
    let (model, motion, loads) = (model.into(), motion.into(), table.into());
    let request = AssignLoads { model, motion, loads, output: Some(output.clone()) };
    enter(None, false, |cx| request.run(cx)?.write(cx))?;
    Ok(Some(output))
}

// The time that is looked at.
#[derive(clap::Args)]
pub struct Span {
    /// Start time, s
    #[arg(long, allow_negative_numbers = true)]
    pub from: Option<f64>,
    /// End time, s
    #[arg(long, allow_negative_numbers = true)]
    pub to: Option<f64>,
}

/// Exit code of the command: 1 did not converge, 2 bad input.
pub fn exit_code(e: &Error) -> u8 {
    match e.kind() {
        ErrorKind::Input => 2,
        ErrorKind::NotSolved => 1,
        ErrorKind::Cancelled => INTERRUPTED as u8,
    }
}

/// Runs work in a context of the command line, on as many threads as there are cores unless told otherwise.
pub fn enter<T>(threads: Option<usize>, quiet: bool, work: impl FnOnce(&Context) -> T) -> T {
    // `-` is stdout.
    let (files, terminal) = (Redirected::new(Disk::new(), "-", write_out), Terminal::new(quiet));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(cores);
    work(&Context::new(&files).with_monitor(&terminal).with_threads(threads))
}
