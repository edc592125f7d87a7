"""Rules with a finite memory: by state where a state changes on success alone, by level on LO standard."""

from kflip.exact.adaptive.sweep import evaluate_adaptive, sweep

__all__ = ["evaluate_adaptive", "sweep"]
