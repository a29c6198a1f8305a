//! Tests of the engine and the server of Studio.

mod forms;
mod server;
mod session;
