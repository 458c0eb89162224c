"""Benchmarks, as ratios within one run where possible: `make bench`."""
