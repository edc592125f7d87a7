"""General solvers for Markov decision processes on the problems that kflip solves with special methods."""
