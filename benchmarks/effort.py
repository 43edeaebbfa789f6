"""How much is measured, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pcnet._checks import whole_number
from pcnet._machine import free_bytes
from pcnet.training import available_threads

#: Nodes of the generated graphs.
SIZES = (2_000, 20_000, 200_000, 2_000_000)
#: A graph smaller than this has no neighbours to draw at random.
SMALLEST = 100
#: Share of the free memory that a measurement may count on.
SHARE = 0.8


@dataclass(frozen=True)
class Effort:
    """What every section goes by."""

    device: torch.device
    #: Cores to use; None leaves it to the library how many workers train.
    cores: int | None
    rounds: int
    #: Of one measurement: shorter calls are repeated for so long.
    seconds: float
    #: Seconds that another way than the library's may take for all its rounds in one cell of a table.
    patience: float
    #: Nodes of the generated graphs, and of the one on which orders and numbers of runs are compared.
    sizes: tuple[int, ...]
    middle: int
    orders: tuple[int, ...]
    runs: tuple[int, ...]

    @staticmethod
    def planned(
        device: str = "cpu",
        *,
        quick: bool = False,
        threads: int | None = None,
        rounds: int | None = None,
        largest: int | None = None,
    ) -> Effort:
        """Everything, in minutes; or with `quick` enough to see the shape of it, in about one."""
        kind = torch.device(device)
        if threads is not None:
            whole_number("--threads", threads, least=1)
        rounds = whole_number("--rounds", (3 if quick else 5) if rounds is None else rounds, least=1)
        largest = whole_number("--largest", (20_000 if quick else SIZES[-1]) if largest is None else largest, SMALLEST)
        fast = quick or kind.type == "cuda"
        return Effort(
            kind,
            threads,
            rounds,
            seconds=0.05 if fast else 0.2,
            patience=5.0 if quick else 24.0,
            sizes=(*(size for size in SIZES if size < largest), largest),
            middle=min(2_000 if quick else 5_000, largest),
            orders=(2, 5, 10) if quick else (2, 3, 5, 10, 20),
            runs=(1, 10) if quick else (1, 10, 100),
        )

    @property
    def threads(self) -> int:
        """Threads inside a kernel."""
        return self.cores or available_threads()

    def fits(self, needed: float) -> bool:
        """Whether so many bytes can be had."""
        return needed <= SHARE * free_bytes(self.device)
