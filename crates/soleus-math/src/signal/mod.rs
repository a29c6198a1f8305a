//! Sampled signals: padding, low-pass filters, resampling, derivatives.
//!
//! Definitions are those of OpenSim (`Signal`, `Storage` and `TableUtilities`), so that filtered motions agree with its
//! tools; the equations are given for each function.

mod butterworth;
mod envelope;
mod error;
mod fir;
mod gaps;
mod pad;
mod resample;
mod smooth;
mod tables;

pub use butterworth::Butterworth;
pub use envelope::envelope;
pub use error::SignalError;
pub use fir::FirLowpass;
pub use gaps::{Gap, fill_gaps, gaps};
pub use pad::pad;
pub use resample::{derivative, resampled, resampled_at, stepped_times};
pub use smooth::smoothed;
pub use tables::{even_step, is_uniform, lowpass, lowpass_butterworth, lowpass_fir, padded, smallest_step};
