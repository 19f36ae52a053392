# SPDX-License-Identifier: GPL-2.0-only
"""A page (HTML) of measured and published numbers beside ours."""

from __future__ import annotations

import html
import io
import os
from typing import TYPE_CHECKING, Union

from .report_page import check_output, write_page
from .validation import summarize_validation

if TYPE_CHECKING:
    import pandas

_KIND = b"<!DOCTYPE html>\n<!-- distributed-training validation"

_STYLE = """
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; font-size: 0.9em; }
th, td { padding: 0.2em 0.8em; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
div.wide { overflow-x: auto; }
figure { margin: 1em 0; background: white; }
figure svg { max-width: 100%; height: auto; }
"""


def write_validation_page(
    frame: pandas.DataFrame, output: Union[str, os.PathLike[str]]
) -> None:
    """Write the rows of validate() as a page: a summary, then each table with a plot.

    Args:
        frame: the rows.
        output: the page, complete or unchanged.

    Raises ValueError if the page would replace a file of something else, OSError if it cannot be
    written.
    """
    output = os.fspath(output)
    check_output(output, _KIND)
    summary = summarize_validation(frame)
    parts = [
        f"{_KIND.decode()} -->\n<html lang='en'><meta charset='utf-8'>",
        f"<title>Validation</title><style>{_STYLE}</style><h1>Validation</h1>",
        "<p>Simulated beside measured and published numbers. An error is simulated over published, less 1; "
        "the summary has those of predicted rows. A constant was chosen to fit a calibration row; a property "
        "needs no network.</p>",
        _format_table(summary),
    ]
    for name, rows in frame.groupby("table", sort=False):
        parts.append(f"<h2>{html.escape(str(name))}</h2>")
        run = rows.dropna(subset=["error_percent"])
        if len(run):
            parts.append(f"<figure>{_draw(str(name), run)}</figure>")
        parts.append(_format_table(rows.drop(columns="table")))
    write_page(output, "\n".join(parts) + "\n</html>\n")


def _format_table(rows: pandas.DataFrame) -> str:
    text = rows.to_html(index=False, border=0, na_rep="", float_format=lambda x: f"{x:.4g}")
    return f"<div class='wide'>{text}</div>"


def _draw(name: str, rows: pandas.DataFrame) -> str:
    """Return a picture (SVG) of the rows: published on the horizontal axis, errors above."""
    import matplotlib.figure

    figure = matplotlib.figure.Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    for role, marker in (("predicted", "o"), ("calibration", "x"), ("property", "+")):
        chosen = rows[rows["role"].str.startswith(role)]
        for unit, group in chosen.groupby("unit", sort=False):
            label = f"{role}, {unit}" if unit else role
            axes.plot(group["published"].abs(), group["error_percent"], marker, label=label, ms=4)
    axes.axhline(0, color="0.5", lw=0.8)
    axes.set(xscale="log", xlabel="published", ylabel="error, %", title=name)
    axes.set_yscale("symlog", linthresh=30)
    most = max(10.0, 1.1 * rows["error_percent"].abs().max())
    marks = [mark for mark in (0, 10, 30, 100, 300, 1000, 3000) if mark <= most]
    axes.set(ylim=(-most, most), yticks=sorted({*marks, *(-mark for mark in marks)}))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_formatter("{x:g}")
    sizes = rows["published"].abs()
    axes.xaxis.set_minor_formatter("{x:g}" if sizes.max() < 10 * sizes.min() else "")
    axes.legend(fontsize="small", loc="best")
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]
