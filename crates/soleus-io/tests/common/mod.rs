//! Where recorded files lie.

use std::path::PathBuf;

/// The folder of reference results.
pub fn reference() -> PathBuf {
    PathBuf::from(soleus_testing::shared!("reference"))
}
