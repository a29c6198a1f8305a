//! CUDA, loaded at run time.
