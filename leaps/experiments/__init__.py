"""The paper's tables and figures as lists of cells, with the code that computes them."""
