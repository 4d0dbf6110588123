"""What the two sides of a review are read from."""
