//! What a page asks of a session, beside what the library says.
