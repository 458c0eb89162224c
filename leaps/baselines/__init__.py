"""Baselines for comparison with programs: neural policies, trees, and a network that writes programs."""
