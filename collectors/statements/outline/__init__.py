"""The outline of a query or statement: what decides on its columns and rows, as digests."""
