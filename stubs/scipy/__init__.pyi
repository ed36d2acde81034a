"""What moonxi calls of SciPy, which has no types of its own."""
