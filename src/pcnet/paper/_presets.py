"""Tables 1 to 4 as presets: their splits, their seeds, and what they print."""

from __future__ import annotations

from pcnet.experiment import PRESETS, Preset
from pcnet.paper._published import document, published

#: The table that is meant where nobody names one.
USUAL = "table2"

for _name, _table in document("tables.toml").items():
    _paper = published(_name)
    _printed = {
        place: (figure.mean, figure.spread)
        for place, figure in _paper.figures.items()
        if figure.mean is not None and figure.spread is not None
    }
    PRESETS.add(
        _name,
        Preset(
            _name,
            _table["protocols"],
            tuple(_table["seeds"]),
            _table.get("splits", {}),
            _printed,
            _table.get("settings_of"),
            _paper.methods,
            usual=_name == USUAL,
        ),
    )
