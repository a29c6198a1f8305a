//! Source code of a program.
