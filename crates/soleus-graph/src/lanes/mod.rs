//! Programs over lanes.
