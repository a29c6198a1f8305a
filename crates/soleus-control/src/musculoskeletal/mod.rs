//! Musculoskeletal models as optimal control problems.
