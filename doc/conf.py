# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: sphinx-build -W -b html doc OUT"""

from pathlib import Path

project = "distributed-training"
author = "the authors of distributed-training"
copyright = author
version = release = Path(__file__).parents[1].joinpath("VERSION").read_text().strip()

extensions = []
exclude_patterns = ["_build", "out"]
highlight_language = "none"
numfig = False
nitpicky = True

html_theme = "alabaster"
html_theme_options = {
    "description": "Distributed training on simulated networks, with ns-3",
    "page_width": "1100px",
    "fixed_sidebar": True,
}
html_show_copyright = False
