"""The paper's published numbers, and the computations that reproduce them."""
