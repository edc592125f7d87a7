"""Write a learner of your own and get its exact score.

    python examples/own_learner.py --n 16

This one is simple on purpose: it tries all radii in turn and keeps for every LO the radius that
has needed the fewest iterations per departure.  ``train`` evaluates what it knows, exactly, at twenty marks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import kflip
from kflip.envs import RLSEnv
from kflip.learn import Learner, Snapshot


@dataclass(frozen=True)
class RoundRobin(Learner):
    """Mean wait of every radius for every LO."""

    name: str = "round-robin"

    def snapshots(self, setting: kflip.Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Play until each mark; the budget is the last."""
        env = RLSEnv(setting)
        radii = np.array(setting.radii)
        waits, left = np.zeros((setting.n + 1, radii.size)), np.zeros((setting.n + 1, radii.size))
        (lo, _), info = env.reset(seed=seed)
        spent = 0
        for mark in marks:
            while spent < mark:
                allowed = np.flatnonzero(info["action_mask"])
                action = allowed[spent % allowed.size]
                (after, _), _, ended, _, info = env.step(action)
                spent += 1
                waits[lo, action] += 1
                left[lo, action] += after != lo
                if ended:
                    (after, _), info = env.reset()
                lo = after
            mean = np.divide(waits, left, out=np.full_like(waits, np.inf), where=left > 0)
            best = mean.argmin(axis=1)
            table = np.repeat(radii[best][:, None], setting.n + 1, axis=1)
            seen = np.repeat(left[np.arange(setting.n + 1), best][:, None] > 0, setting.n + 1, axis=1)
            yield Snapshot(spent, table, seen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=16)
    setting = kflip.Setting(parser.parse_args().n, "lo", "strict", portfolio="powers-of-two")
    training = RoundRobin().train(setting, budget=200_000, seed=1)
    for point in training.curve[::5]:
        print(f"{point.iterations:7} iterations: regret {point.guarded_regret:.2%}")
    print(f"final policy: regret {training.score.guarded_regret:.2%}, hit ratio {training.score.hit_ratio:.0%}")
