"""From a description to a `Robot`: loading, compiling to flat tables, `State`, conversion of conventions."""
