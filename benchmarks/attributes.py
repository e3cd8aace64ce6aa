"""Means of many attributes: `vector` against PM with Wang et al.'s k, and Duchi's scheme for vectors.

    python benchmarks/attributes.py            # a table of root mean squared errors, d = 1 … 64
    python benchmarks/attributes.py --quick

All on the same people: values on [−1, 1], each attribute another beta distribution. The error is that of the
mean of the people themselves, averaged over attributes and repetitions.

* `wang`: each person reports k = max(1, min(d, ⌊ε/2.5⌋)) attributes by PM with ε/k, times d/k (ICDE 2019).
* `duchi`: one of 2^d sign vectors times B, from the half space that agrees with the person's rounded vector
  with probability e^ε/(e^ε + 1) (Duchi, Jordan, Wainwright 2018).
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import sottovoce as sv

Rows = np.ndarray


def people(n: int, d: int, rng: np.random.Generator) -> Rows:
    shape = rng.uniform(0.6, 4.0, size=(2, d))
    return 2 * rng.beta(shape[0], shape[1], size=(n, d)) - 1


def vector_means(m: sv.compose.vectors.Vector, x: Rows, rng: np.random.Generator) -> Rows:
    return m.tally(m.report(x, rng=rng)).means()


def wang_means(epsilon: float, x: Rows, rng: np.random.Generator) -> Rows:
    n, d = x.shape
    k = max(1, min(d, math.floor(epsilon / 2.5)))
    m = sv.pm(epsilon / k, (-1, 1))
    lot = np.argsort(rng.random((n, d)), axis=1)[:, :k]
    noisy = m.perturb(np.take_along_axis(x, lot, axis=1), rng=rng)
    total = np.zeros(d)
    np.add.at(total, lot, noisy)
    return total * d / k / n


def duchi_scale(epsilon: float, d: int) -> float:
    """B: the reciprocal of the mean agreement of a coordinate with a sign vector of the half space."""
    e = math.exp(epsilon)
    if d % 2:
        share = math.comb(d - 1, (d - 1) // 2) / 2 ** (d - 1)
    else:
        # With an even number of coordinates, ties count half for either side.
        share = math.comb(d - 1, d // 2) / 2 ** (d - 1)
    return (e + 1) / (e - 1) / share


def duchi_means(epsilon: float, x: Rows, rng: np.random.Generator) -> Rows:
    n, d = x.shape
    v = np.where(rng.random((n, d)) < (1 + x) / 2, 1, -1)
    side = np.where(rng.random(n) < math.exp(epsilon) / (math.exp(epsilon) + 1), 1, -1)
    t = rng.choice([-1, 1], size=(n, d))
    agree = (t * v).sum(axis=1)
    tie = rng.choice([-1, 1], size=n)
    flip = np.where(agree == 0, tie, np.sign(agree)) * side
    return duchi_scale(epsilon, d) * (t * flip[:, None]).mean(axis=0)


def compare(epsilon: float, d: int, n: int, runs: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    x = people(n, d, rng)
    truth = x.mean(axis=0)
    auto = sv.vector(epsilon, [(-1, 1)] * d)
    split = sv.vector(epsilon, [(-1, 1)] * d, "split")
    rivals = {
        "auto": lambda: vector_means(auto, x, rng),
        "split": lambda: vector_means(split, x, rng),
        "wang": lambda: wang_means(epsilon, x, rng),
        "duchi": lambda: duchi_means(epsilon, x, rng),
    }
    squared = {name: np.mean([(f() - truth) ** 2 for _ in range(runs)]) for name, f in rivals.items()}
    return {"k": auto.sampled} | {name: math.sqrt(value) for name, value in squared.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Root mean squared error of the mean of d attributes.")
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    n, runs = (4_000, 4) if quick else (10_000, 6)
    print(f"n = {n}, {runs} repetitions or more; root mean squared error of a mean on [-1, 1]\n")
    print("| ε | d | k | vector, auto | vector, split | PM, k of Wang et al. | Duchi et al. |")
    print("|---|---|---|---|---|---|---|")
    for epsilon in (1.0, 4.0) if quick else (0.5, 1.0, 2.0, 4.0, 8.0):
        for d in (1, 4, 16) if quick else (1, 2, 4, 8, 16, 32, 64):
            r = compare(epsilon, d, n, runs * max(1, 32 // d), seed=d)
            row = " | ".join(f"{r[name]:.4f}" for name in ("auto", "split", "wang", "duchi"))
            print(f"| {epsilon:g} | {d} | {r['k']} | {row} |", flush=True)


if __name__ == "__main__":
    main()
