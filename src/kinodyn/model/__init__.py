"""From a description to a `Robot`: loading, compilation into flat tables, `State`, conversion to other engines."""
