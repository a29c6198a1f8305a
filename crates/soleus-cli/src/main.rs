//! The `soleus` command.
fn main() {}
