"""The steps that write: collect, inject, site, serve."""
