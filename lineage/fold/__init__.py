"""Folding: what many runs did alike, in the few records that hold it all."""
