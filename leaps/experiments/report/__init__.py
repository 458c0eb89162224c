"""Stored results as documents: here and as reported, with the commands that made them."""
