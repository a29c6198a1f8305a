//! For verbs that are not in the library yet.

pub use soleus::inputs::tool_model::helpers;
