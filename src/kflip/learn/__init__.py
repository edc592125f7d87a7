"""Learners, trained within a budget of iterations and scored exactly."""

from kflip.learn.registry import LEARNERS, learner_named
from kflip.learn.score import Score, guard, score
from kflip.learn.training import MARKS, Learner, Point, Snapshot, Training

__all__ = [
    "LEARNERS",
    "MARKS",
    "Learner",
    "Point",
    "Score",
    "Snapshot",
    "Training",
    "guard",
    "learner_named",
    "score",
]
