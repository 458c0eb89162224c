"""The learned program space: programs become points, and nearby points decode to similar programs."""
