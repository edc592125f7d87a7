"""What the compiled steps read and write: one record for each instance, one for each running episode.

Records keep the number of arguments of a compiled call small.  That matters here: taking an array from Python costs
as much as a whole iteration.

``tables`` is one flat array of floats for all instances.  It begins with two rows of ``width`` entries, ones and
``1 / (z + 1)``, which every instance shares; an instance's own tables follow where its record says.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

#: A record taken out of an array of :data:`INSTANCE` or :data:`EPISODE`, by reference.
Record: TypeAlias = Any

#: An array of records.
Records: TypeAlias = np.ndarray[Any, np.dtype[np.void]]

#: Where an episode stands.
RUNNING, TERMINATED, TRUNCATED = 0, 1, 2

#: What an episode starts from beside the kinds of :mod:`kflip.simulate.starts`: a random string with a given LO.
IN_LEVEL = 3

#: No table of this kind.
NOWHERE = -1

#: What does not change during an episode.
INSTANCE = np.dtype(
    [
        ("n", np.int64),
        ("seen", np.int64),  # BY_LO, BY_LO_OM or BY_STRING
        ("least_gain", np.int64),  # of OM, for an offspring of the same LO to be accepted
        ("limit", np.int64),  # iterations after which an episode is truncated
        ("start", np.int64),  # kind of start
        ("start_lo", np.int64),
        ("start_om", np.int64),
        ("start_string", np.int64),
        ("by_events", np.int64),  # a step lasts until the state changes
        ("reward", np.int64),
        ("normalised", np.int64),
        ("width", np.int64),  # entries of each shared row; the largest n, plus 1
        ("values_at", np.int64),  # optimal values, in the order of the states
        ("behind_at", np.int64),  # W_i: row i of n entries, or one entry for each LO
        ("drops_at", np.int64),  # expected drops of strings already asked for, NaN elsewhere, m for each string
        ("top", np.float64),  # the largest value
        ("scale", np.float64),
        ("shift", np.float64),
        ("stochasticity", np.float64),
    ]
)

#: One episode: its random stream, its state and what the last step did.
EPISODE = np.dtype(
    [
        ("s0", np.uint64),
        ("s1", np.uint64),
        ("s2", np.uint64),
        ("s3", np.uint64),
        ("instance", np.int64),
        ("lo", np.int64),
        ("ones", np.int64),  # behind the first zero
        ("string", np.int64),  # as an integer, if strings are the states
        ("iterations", np.int64),
        ("k", np.int64),
        ("ending", np.int64),
        ("reward", np.float64),
    ]
)
