//! One case, checked; many cases, one after another.

use crate::{Mutator, Target, corpus, memory};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What a case may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time at work, of all threads together: a machine that is busy with something else costs none. Six times as much on the clock is too
    /// slow whatever it was spent on. Cases are up to a few hundred kilobytes, which readers do in milliseconds.
    pub time: Duration,
    /// Bytes in use at once; checked where [`Counting`](crate::Counting) is the allocator.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Twenty seconds: a debug build on a machine that does other things besides.
        Limits { time: Duration::from_secs(20), bytes: 512 << 20 }
    }
}

impl Limits {
    /// What a tool may cost: it is asked to stop after a few seconds, and may take its time to listen.
    pub fn of_tools() -> Self {
        Limits { time: Duration::from_secs(20), bytes: 2 << 30 }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A panic, with its words.
    Panic(String),
    /// Longer than allowed.
    Slow(Duration),
    /// More bytes than allowed.
    Large(usize),
}

/// Gives bytes to a target. A panic, a failed check among them, is caught; what never ends or overflows the stack is not. What is slow
/// is tried again, since the machine may have been busy with something else.
pub fn run_case(target: &Target, bytes: &[u8], limits: &Limits) -> Result<(), Fault> {
    match run_once(target, bytes, limits) {
        Err(Fault::Slow(_)) => run_once(target, bytes, limits),
        other => other,
    }
}

fn run_once(target: &Target, bytes: &[u8], limits: &Limits) -> Result<(), Fault> {
    let before = memory::start();
    let (start, work) = (Instant::now(), time_at_work());
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
    let (time, peak) = (start.elapsed(), memory::peak_since(before));
    let worked = time_at_work().zip(work).map_or(time, |(after, before)| after.saturating_sub(before));
    if let Err(panic) = done {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        return Err(Fault::Panic(words.unwrap_or_default()));
    }
    if worked > limits.time || time > 6 * limits.time {
        return Err(Fault::Slow(time));
    }
    if peak > limits.bytes {
        return Err(Fault::Large(peak));
    }
    Ok(())
}

/// What this process has used of the processors so far, where the system tells (Linux counts hundredths of a second).
fn time_at_work() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields are counted from the name in brackets, which may hold blanks: user and system time are the twelfth and thirteenth after it.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
}

/// Case number `index` of a seed: always the same bytes.
pub fn case(target: &Target, files: &[Vec<u8>], seed: u64, index: u64) -> Vec<u8> {
    let mut m = Mutator::new(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let file = m.below(files.len());
    m.mutate(&files[file], target.shape, files)
}

/// Takes away what does not matter for the fault, half by half, for up to a minute.
pub fn shrink(target: &Target, bytes: &[u8], limits: &Limits) -> Vec<u8> {
    let start = Instant::now();
    let mut best = bytes.to_vec();
    let mut size = best.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < best.len() && start.elapsed() < Duration::from_secs(60) {
            let mut less = best.clone();
            less.drain(at..(at + size).min(less.len()));
            match run_case(target, &less, limits) {
                Err(_) => best = less,
                Ok(()) => at += size,
            }
        }
        size /= 2;
    }
    best
}

/// Cases of one target, one after another.
pub struct Session {
    /// The target.
    pub target: Target,
    /// Files to start from.
    pub files: Vec<Vec<u8>>,
    /// Seed of all cases.
    pub seed: u64,
    /// Number of the next case.
    pub next: u64,
}

impl Session {
    /// All cases of a seed, from the files of the corpus.
    pub fn new(target: Target, seed: u64) -> Session {
        let files = corpus::files(target.name);
        Session { target, files, seed, next: 0 }
    }

    /// The next case. `note` gets its number before it is tried, for faults that end the program.
    pub fn step(&mut self, limits: &Limits, note: &mut dyn FnMut(u64)) -> Result<(), (Vec<u8>, Fault)> {
        note(self.next);
        let bytes = case(&self.target, &self.files, self.seed, self.next);
        self.next += 1;
        run_case(&self.target, &bytes, limits).map_err(|fault| (bytes, fault))
    }
}

/// A file that holds the number of the case under test, so that one that ends the program is not lost.
pub struct Current(std::fs::File, std::path::PathBuf);

impl Current {
    /// An empty file.
    pub fn new(path: std::path::PathBuf) -> std::io::Result<Self> {
        Ok(Current(std::fs::File::create(&path)?, path))
    }

    /// Another case.
    pub fn set(&mut self, index: u64) {
        use std::io::{Seek as _, Write as _};
        // What cannot be written down is not worth a stop.
        let _ = self.0.rewind().and_then(|()| writeln!(self.0, "{index:>12}"));
    }

    /// All went well.
    pub fn remove(self) {
        let _ = std::fs::remove_file(&self.1);
    }
}
