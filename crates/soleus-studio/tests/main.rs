//! Tests of the engine and the server of Studio.

mod forms;
mod session;
