"""Values of scripts as far as they are known, and what is recorded of them."""
