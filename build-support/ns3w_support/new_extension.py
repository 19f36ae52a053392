# SPDX-License-Identifier: GPL-2.0-only
"""New extensions: copies of those that test the module, under another name, with a test."""

import re
import textwrap
from pathlib import Path

from .console import Failure
from .near_names import did_you_mean

# Folder of test/extensions, what the extension there is called, and a command that uses it under its new name.
KINDS = {
    "codec": ("codec", "fixed-point", "collective-benchmark --codec={} --ranks=4"),
    "collective": (
        "collective-algorithm",
        "recursive-tripling",
        "collective-benchmark --collective={} --ranks=9",
    ),
    "congestion-control": (
        "congestion-control",
        "fixed-share",
        "collective-benchmark --congestion-control={} --ranks=4",
    ),
    "switch-program": ("switch-program", "adder", "collective-benchmark --collective={} --ranks=4"),
    "topology": ("topology", "switch-chain", "collective-benchmark --topology={} --ranks=8"),
    "transport": ("transport", "ideal-pipe", "collective-benchmark --transport={} --ranks=4"),
}

TEST = '''\
# SPDX-License-Identifier: GPL-2.0-only
"""The extension {name} is built and chosen by its name, and sums are right: python3 -m pytest {file}"""

import json
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
COMMAND = ["{ns3w}", f"--extension={{FOLDER}}", "run", {words}]


def test_sums():
    options = ["--bytes=4K", "--payload=real", "--json=-"]
    done = subprocess.run([*COMMAND, *options], stdout=subprocess.PIPE, check=True)
    assert all(row["verified"] for row in json.loads(done.stdout)["rows"])
'''


def new_extension(here, words):
    """Write the folder NAME with an extension of a kind, and its test.

    Args:
        here: folder of the module.
        words: NAME and --kind=KIND.
    """
    kinds = [word[len("--kind=") :] for word in words if word.startswith("--kind=")]
    names = [word for word in words if not word.startswith("-")]
    allowed = f"allowed is NAME --kind={'|'.join(KINDS)}"
    if len(names) != 1 or len(kinds) != 1 or len(words) != 2:
        raise Failure(f"new {' '.join(words)}: {allowed}")
    name, kind = names[0], kinds[0]
    if kind not in KINDS:
        raise Failure(f"new --kind={kind}: {did_you_mean(kind, KINDS)}allowed are {', '.join(KINDS)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise Failure(f"new {name}: allowed are names of small letters and digits, joined by dashes")
    target = Path(name).resolve()
    if target.exists():
        raise Failure(f"new {name}: there is {target} already; allowed are other names")
    folder, old, command = KINDS[kind]
    others = [part.read_text(encoding="ascii") for part in sorted((here / "test/extensions" / folder).iterdir())]
    if any(re.search(rf'"{name}"', text) for text in others) and name != old:
        raise Failure(f"new {name}: the example uses this name; allowed are other names")
    target.mkdir(parents=True)
    for path in (here / "test/extensions" / folder).iterdir():
        text = rename(path.read_text(encoding="ascii"), old, name)
        (target / rename(path.name, old, name)).write_text(text, encoding="ascii")
    file = f"test_{name.replace('-', '_')}.py"
    run = ", ".join(f'"{word}"' for word in command.format(name).split())
    text = TEST.format(name=name, file=f"{name}/{file}", ns3w=here / "ns3w", words=run)
    (target / file).write_text(text, encoding="utf-8")
    print(
        textwrap.dedent(f"""\
        {target} has an extension that works like {old}, and a test of it; doc/extending.rst explains it.
        {here / "ns3w"} --extension={name} run {command.format(name)}
        python3 -m pytest {name}/{file}""")
    )


def rename(text, old, new):
    """Return a text with another name, in each of its spellings: a-b, aB, a_b, A_B, AB."""
    spellings = [
        lambda words: "-".join(words),
        lambda words: words[0] + "".join(word.capitalize() for word in words[1:]),
        lambda words: "_".join(words),
        lambda words: "_".join(words).upper(),
        lambda words: "".join(word.capitalize() for word in words),
    ]
    for number, spell in enumerate(spellings):
        before, after = spell(old.split("-")), spell(new.split("-"))
        begin = "(?<![A-Za-z_])" if number == 0 else ""  # in identifiers there is no dash
        text = re.sub(begin + before + ("(?![a-z])" if before.islower() else ""), after, text)
    return text
