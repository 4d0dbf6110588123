"""The proof that a site has nothing that its audience may not see."""
