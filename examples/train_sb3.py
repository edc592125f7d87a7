"""Train an agent with Stable-Baselines3 and follow its exact regret.

    python examples/train_sb3.py --n 16 --timesteps 20000

The environment is made by its name.  The callback tabulates the agent's policy and evaluates it exactly: no
evaluation episodes, no noise.
"""

from __future__ import annotations

import argparse

import gymnasium
from stable_baselines3 import PPO

import kflip
import kflip.envs
from kflip.envs.sb3 import ExactEvaluationCallback


def main() -> None:
    """Train, then print the best policy's expected runtime beside the optimal one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=16)
    parser.add_argument("--timesteps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    setting = kflip.Setting(arguments.n, objective="loom", portfolio="initial-segment-4")
    env = gymnasium.make(
        kflip.envs.ENV_ID,
        setting=setting,
        observation="normalised",
        reward="potential",
        stochasticity=0.0,
        clock="events",
        max_iterations=arguments.n**2,
    )
    exact = ExactEvaluationCallback(every=max(1, arguments.timesteps // 10), verbose=1)
    agent = PPO("MlpPolicy", env, gamma=1.0, n_steps=512, learning_rate=1e-3, seed=arguments.seed, device="cpu")
    agent.learn(arguments.timesteps, callback=exact)

    best = kflip.solve(setting)
    if exact.best is not None:
        print(f"optimal policy: {best.expected_runtime:.4f} iterations on average")
        print(f"best trained policy: {exact.best.expected_runtime:.4f}, regret {exact.best.regret:.4%}")


if __name__ == "__main__":
    main()
