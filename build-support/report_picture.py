# SPDX-License-Identifier: GPL-2.0-only
"""Takes the picture of a report that the documentation shows: the whole page, by Chromium.

    ./ns3w python build-support/report_picture.py doc/images/report.png
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings/python/tests"))

from browser import Page, find_browser  # noqa: E402

import distributed_training as dt  # noqa: E402

# The run of the tutorial.
RUN = {"workload": "resnet50", "ranks": 16, "topology": "fat-tree:k=4"}
WIDTH = 1000


def main(picture):
    """Write the picture; return the exit status."""
    if not find_browser():
        print(
            "report_picture: no Chromium is installed (allowed: Debian's chromium)", file=sys.stderr
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "run.html")
        dt.TrainingJob(**RUN, report=page).run(progress=False)
        with Page(page, width=WIDTH, height=1000) as shown:
            # A few rows of the lists, which scroll on the page; without the parts that are text.
            shown.evaluate(
                "document.querySelectorAll('.scroll').forEach("
                "list => { list.style.maxHeight = '6.3rem'; list.style.overflow = 'hidden'; });"
                "for (const id of ['layers', 'omitted']) document.getElementById(id).hidden = true"
            )
            height = shown.evaluate("document.documentElement.scrollHeight")
            shown.shoot(picture, x=0, y=0, width=WIDTH, height=height)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1]))
