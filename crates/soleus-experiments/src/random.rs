//! Numbers from a seed, the same everywhere.

pub use soleus_math::Random;
