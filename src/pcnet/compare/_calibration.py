"""Whether a probability of 80 % is right in 80 of 100 cases, and what to divide logits by so that it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pcnet.errors import PcnetError

BINS = 15
#: Temperatures are looked for between e^-RANGE and e^RANGE: beyond, every probability is 1 or 1/C.
RANGE = 5.0


@dataclass(frozen=True)
class Reliability:
    """Predictions sorted by confidence into equally wide bins: in each how many, how confident, how often right."""

    count: tuple[int, ...]
    #: Mean confidence and accuracy of each bin, in [0, 1]; those of an empty bin are its middle and 0.
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]

    @property
    def error(self) -> float:
        """Expected calibration error Σ_b n_b/n |accuracy_b − confidence_b| (Guo et al. 2017)."""
        count, confidence, accuracy = (np.array(each) for each in (self.count, self.confidence, self.accuracy))
        return float(count @ np.abs(accuracy - confidence) / count.sum())


def temperature(logits: Tensor, labels: Tensor) -> float:
    """argmin_T −Σ_i log softmax(z_i / T)_{y_i} + ½ (log T)²: one number, so accuracy stays and only confidence changes.

    The second term says that log T is normal before anything is seen: with many nodes it counts for nothing, and a few
    that happen to be all right do not make the model certain of everything. To be fitted on nodes that did not train,
    such as those of validation.

    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]])
    >>> temperature(logits, torch.tensor([0, 1, 0, 0])) > 1
    True
    """
    # Imported here: commands that calibrate nothing need not wait for it.
    import scipy.optimize

    if len(logits) == 0:
        raise PcnetError("There are no nodes to calibrate on; give validation nodes.")
    z = logits.detach().double().cpu()
    at_label = z.gather(1, labels.cpu().long().unsqueeze(1))[:, 0]

    def loss(log_t: float) -> float:
        scale = float(np.exp(-log_t))
        return float((torch.logsumexp(z * scale, dim=1) - at_label * scale).sum()) + 0.5 * log_t**2

    best = scipy.optimize.minimize_scalar(loss, bounds=(-RANGE, RANGE), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x))


def reliability(probabilities: Tensor, labels: Tensor, bins: int = BINS) -> Reliability:
    """The bins of a reliability diagram, of each node's most probable class."""
    if len(probabilities) == 0:
        raise PcnetError("There are no nodes to compare probabilities with; give labelled ones.")
    top, predicted = probabilities.detach().double().cpu().max(dim=1)
    confidence = top.numpy()
    right = (predicted == labels.cpu()).numpy()
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    count = np.bincount(which, minlength=bins)
    filled = np.maximum(count, 1)
    mean = np.where(count > 0, np.bincount(which, confidence, bins) / filled, (np.arange(bins) + 0.5) / bins)
    accuracy = np.bincount(which, right, bins) / filled
    return Reliability(tuple(count.tolist()), tuple(mean.tolist()), tuple(accuracy.tolist()))
