"""Stored results as documents: ours beside what was reported, with the commands that made them."""
