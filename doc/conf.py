# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: sphinx-build -W -b html doc OUT"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bindings/python")]  # cpp_reference, the package
sys.dont_write_bytecode = True

project = "distributed-training"
author = "the authors of distributed-training"
copyright = author
version = release = HERE.parent.joinpath("VERSION").read_text().strip()

extensions = ["cpp_reference", "option_index", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"  # as text; other packages need not be installed
autodoc_preserve_defaults = True
# types of pandas, matplotlib and typing; of ns-3 and the standard library
nitpick_ignore_regex = [("py:.*", ".*"), ("cpp:.*", ".*")]
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
