"""The picture of a learned filter."""

from __future__ import annotations

import struct

import matplotlib.image
import pytest
import torch

from pcnet import PCConv, PcnetError, csbm
from pcnet.graph import Operator
from pcnet.nn import learned
from pcnet.show._plot import filter_chart, save_filter

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")


def plot_response(convs, operator, path, title=""):
    found = learned(convs, operator)
    save_filter(filter_chart(found), found, path, title)


@pytest.fixture(scope="module")
def operator():
    return Operator.from_graph(csbm(200, 0.5, features=5, seed=1), eta=0.4)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("runs", [1, 4])
def test_writes_a_png(operator, tmp_path, mode, runs):
    path = tmp_path / "folder" / "response.png"
    convs = [PCConv(4, 4, 0.5, 2.5, 0.4, mode=mode) for _ in range(runs)]
    for conv in convs:
        torch.nn.init.normal_(conv.theta)
    plot_response(convs, operator, path, title="λ̃, η and a title")
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (900, 828)
    assert path.stat().st_size > 10_000
    pixels = matplotlib.image.imread(path)
    assert 0.02 < (pixels[..., :3] < 0.95).any(axis=2).mean() < 0.5
    assert [file.name for file in path.parent.iterdir()] == ["response.png"]


def test_other_filters_other_pictures(operator, tmp_path):
    pictures = []
    for init in (0.2, 1.0):
        conv = PCConv(4, 4, 0.5, 2.5, 0.4)
        with torch.no_grad():
            conv.theta[1] = -init
        plot_response([conv], operator, tmp_path / "response.png")
        pictures.append((tmp_path / "response.png").read_bytes())
    assert pictures[0] != pictures[1]


def test_cannot_be_written(operator, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PcnetError, match="Cannot write"):
        plot_response([PCConv(2, 2, 0.5, 2.5, 0.4)], operator, tmp_path / "file" / "response.png")
