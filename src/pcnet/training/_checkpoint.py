"""A training on disk, complete at every moment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from pcnet._files import read_json, write_atomically, write_json
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator
from pcnet.training._block import Block
from pcnet.training._run import Run


class Checkpoint:
    """A folder with one file for each block, replaced as a whole; a killed training continues from them.

    `plan.json` names what is trained (a fingerprint of data, settings and splits) and how the runs are divided into
    blocks, so that a training is never continued with something else.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def plan(self, fingerprint: str, blocks: list[list[int]], resume: bool) -> list[list[int]]:
        """Divide the runs as the interrupted training did, or note how a new one does."""
        path = self.folder / "plan.json"
        if not (resume and path.exists()):
            for stale in self.folder.glob("block-*.safetensors"):
                stale.unlink()
            write_json(path, {"fingerprint": fingerprint, "blocks": blocks})
            return blocks
        kept = read_json(path)
        try:
            known, divided = kept["fingerprint"], [[int(run) for run in block] for block in kept["blocks"]]
        except (KeyError, TypeError, ValueError):
            known, divided = fingerprint, []
        if known != fingerprint:
            raise PcnetError(
                f"The training in {self.folder} has other data, settings or splits; resume it with the same ones, "
                "or start anew in another folder."
            )
        if sorted(chain(*divided)) != sorted(chain(*blocks)):
            raise PcnetError(f"The checkpoint {path} is damaged; delete {self.folder} and start anew.")
        return divided

    def _path(self, number: int) -> Path:
        return self.folder / f"block-{number}.safetensors"

    def save(self, number: int, block: Block) -> None:
        """Write a block's state to a new file, then put it in the place of the old one."""
        tensors, numbers = block.state()
        tensors = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
        # Not `save_file`: that makes a temporary file of its own, and does not raise OSError when space runs out.
        content = safetensors.torch.save(tensors, {"numbers": json.dumps(numbers)})
        write_atomically(self._path(number), lambda path: path.write_bytes(content))

    def load(self, number: int, block: Block) -> None:
        """Bring a block to its saved state, if there is one."""
        path = self._path(number)
        if not path.exists():
            return
        try:
            with safetensors.safe_open(path, "pt") as file:
                numbers = json.loads(file.metadata()["numbers"])
            block.restore(safetensors.torch.load_file(path), numbers)
        except (safetensors.SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise PcnetError(f"The checkpoint {path} is damaged ({error}); delete it and start anew.") from error


def clear_checkpoint(folder: str | Path) -> None:
    """Remove the files of a training that is finished, and the folder with them."""
    folder = Path(folder)
    # A process that was killed while it wrote leaves a temporary file.
    for path in (*folder.glob("block-*.safetensors"), *folder.glob(".*.tmp"), folder / "plan.json"):
        path.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def fingerprint(x: torch.Tensor | CSR, operators: Sequence[Operator], runs: Sequence[Run]) -> str:
    """A hash of everything that the outcome depends on."""
    digest = hashlib.sha256()

    def add(*tensors: torch.Tensor) -> None:
        for tensor in tensors:
            digest.update(str(tuple(tensor.shape)).encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())

    for matrix in [x, *(operator.matrix for operator in operators)]:
        add(*(matrix.crow, matrix.col, matrix.values) if isinstance(matrix, CSR) else (matrix,))
    for run in runs:
        own = run.targets
        settings = {"model": asdict(run.model), "training": asdict(run.training), "seed": run.seed}
        digest.update(json.dumps({**settings, "classes": own.num_classes}, sort_keys=True).encode())
        add(own.train, own.train_labels, own.val, own.val_labels)
    return digest.hexdigest()
