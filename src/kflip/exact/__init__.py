"""The mathematics: exact optimal policies, values and laws, as functions of arrays.

Nothing here knows of files, the command line or environments.  Read in this order: :mod:`~kflip.exact.flips` (what
flipping k bits does), :mod:`~kflip.exact.levels` (from one LO level to the next), :mod:`~kflip.exact.scan` (the best
radius of a state), then one solver a file.
"""
