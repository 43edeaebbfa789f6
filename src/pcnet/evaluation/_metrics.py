"""How good predictions are on some nodes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pcnet.errors import PcnetError


def scores(logits: Tensor, labels: Tensor, nodes: Tensor) -> dict[str, float]:
    """Accuracy and macro-F1 in percent, and for two classes the area under the ROC curve.

    Macro-F1 is the mean over the classes that occur among the nodes or their predictions. The area is that of the
    second class's probability; it is left out where the nodes are all of one class.
    """
    # Imported here: half a second that commands which score nothing need not wait for.
    import sklearn.metrics

    if len(nodes) == 0:
        raise PcnetError("There are no nodes to score.")
    picked, truth = logits[nodes].double().cpu(), labels[nodes].cpu().numpy()
    predicted = picked.argmax(dim=1).numpy()
    result = {
        "accuracy": 100.0 * float(np.mean(predicted == truth)),
        "macro_f1": 100.0 * float(sklearn.metrics.f1_score(truth, predicted, average="macro")),
    }
    if logits.shape[1] == 2 and len(np.unique(truth)) == 2:
        probability = torch.softmax(picked, dim=1)[:, 1].numpy()
        result["roc_auc"] = 100.0 * float(sklearn.metrics.roc_auc_score(truth, probability))
    return result
