"""`make attack`: every attack with many seeds, in one table; a trial that was lost is run again by its seed."""

from __future__ import annotations

import argparse
import sys
import warnings

from benchmarks.attack import files, folders  # noqa: F401  (they register their attacks)
from benchmarks.attack.registry import ATTACKS, one, run


def main() -> int:
    """Exit code 1 where anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"{', '.join(ATTACKS)}; all by default")
    parser.add_argument("--trials", type=int, default=1_000, help="of each attack")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each attack at most")
    parser.add_argument("--seed", type=int, help="a single trial, and what came of it")
    asked = parser.parse_args()
    names = asked.attacks or [*ATTACKS]
    if unknown := [name for name in names if name not in ATTACKS]:
        parser.error(f"there is no attack {unknown[0]}; choose from {', '.join(ATTACKS)}")
    warnings.simplefilter("ignore")
    if asked.seed is not None:
        ends = [one(name, asked.seed) for name in names]
        for name, (end, why) in zip(names, ends, strict=True):
            print(f"{name}, seed {asked.seed}: {end}. {why}".rstrip())
        return int(any(end == "lost" for end, _ in ends))
    lost = []
    print(f"{'attack':<16}{'tried':>8}{'read':>8}{'refused':>9}{'lost':>6}")
    for name in names:
        tally = run(name, range(asked.trials), asked.seconds)
        ends = [tally.counts[end] for end in ("read", "refused", "lost")]
        print(f"{name:<16}{sum(ends):>8,}{ends[0]:>8,}{ends[1]:>9,}{ends[2]:>6,}", flush=True)
        lost += [(name, seed, why) for seed, why in tally.lost.items()]
    for name, seed, why in lost:
        print(f"\nlost: python -m benchmarks.attack {name} --seed {seed}\n  {why.strip().splitlines()[-1]}")
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
