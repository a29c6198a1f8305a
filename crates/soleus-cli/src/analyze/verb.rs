//! `soleus analyze`.
