"""Measurements; see RESULTS.md for the latest and ``make bench`` to repeat them."""
