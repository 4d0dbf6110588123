"""Rules, drift, contracts: facts against a promise."""
