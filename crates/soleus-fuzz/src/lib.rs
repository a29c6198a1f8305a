//! Files that are nearly right, given to whatever reads files: no panic, an answer in time, memory within bounds.
//!
//! A [`Target`] takes bytes and checks what it makes of them. [`corpus`] holds files that are right; a [`Mutator`] changes them,
//! the same for the same seed; [`run_case`] gives one to a target and says what went wrong. The test `readers` does so for about
//! a minute, `scripts/fuzz` as long as it is told, and the targets in `fuzz/` under the guidance of libFuzzer.
//!
//! ```
//! use soleus_fuzz::{Limits, Mutator, corpus, run_case, targets};
//!
//! let target = targets().into_iter().find(|t| t.name == "sto").unwrap();
//! let files = corpus::files(target.name);
//! let bytes = Mutator::new(7).mutate(&files[0], target.shape, &files);
//! assert_eq!(run_case(&target, &bytes, &Limits::default()), Ok(()));
//! ```

pub mod corpus;
mod memory;
mod mutator;
mod runner;
mod studio;
mod subject;
mod targets;
mod tools;

pub use memory::Counting;
pub use mutator::{Mutator, Shape};
pub use runner::{Current, Fault, Limits, Session, case, run_case, shrink};
pub use targets::{Kind, Target, targets};
pub use tools::tools;
