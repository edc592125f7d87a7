"""Beyond the mean: the law of the runtime, visits, action values and regrets of any policy, all exact."""

from kflip.analysis.action_values import ActionValues, action_values
from kflip.analysis.distribution import RuntimeDistribution, runtime_distribution
from kflip.analysis.less_information import BestLoOnly, best_lo_only
from kflip.analysis.regret import HitRatio, hit_ratio, regret_by_state
from kflip.analysis.visits import Visits, visits

__all__ = [
    "ActionValues",
    "BestLoOnly",
    "HitRatio",
    "RuntimeDistribution",
    "Visits",
    "action_values",
    "best_lo_only",
    "hit_ratio",
    "regret_by_state",
    "runtime_distribution",
    "visits",
]
