"""Speed, as ratios within one run wherever possible: `make bench`."""
