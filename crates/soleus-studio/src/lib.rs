//! Soleus Studio: models and motions to look at, to change and to compute with, in a browser.
//!
//! A [`Session`] is what the page talks to: it holds the models and motions that are open, and answers messages, each a method with
//! JSON, and numbers in one block of bytes. The same session runs as WebAssembly inside the page and in the `soleus` command behind a
//! loopback socket.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB.

pub mod engine;
pub mod message;
#[cfg(feature = "server")]
pub mod server;
pub mod session;
pub mod tools;

pub use message::{Answer, Block};
pub use session::Session;
