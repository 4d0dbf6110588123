"""Both sides of a review, read from a project and from its base."""
