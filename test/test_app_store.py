# SPDX-License-Identifier: GPL-2.0-only
"""The files for ns-3's app store agree with the rest of the repository."""

import re
import struct
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "build-support/app-store"
VERSION = (ROOT / "VERSION").read_text().strip()


def read_page():
    """Return {heading: text}."""
    parts = re.split(r"^# (.*)\n", (STORE / "page.md").read_text(), flags=re.M)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2])}


def read_release():
    return dict(re.findall(r"^- (.*?): (.*)$", (STORE / "release.md").read_text(), re.M))


def read_supported():
    """Return the first and the last release of ns-3 that doc/versions.rst names."""
    text = (ROOT / "doc/versions.rst").read_text()
    return re.search(r"for ns-3 (3\.\d+) to (3\.\d+)", text).groups()


def test_release_is_this_one():
    release = read_release()
    assert release["version"] == VERSION
    assert (release["minimum version of ns-3"], release["maximum version of ns-3"]) == (
        read_supported()
    )
    assert (ROOT / release["changes"]).is_file()
    tested = release["tested with"].split(", ")
    text = " ".join((ROOT / "doc/versions.rst").read_text().split())
    assert tested == re.findall(r"CI tests (3\.\d+)", text)


def test_page_has_all_parts():
    page = read_page()
    assert list(page) == [
        "Name",
        "Title",
        "Abstract",
        "Tags",
        "Description",
        "Installation",
        "Maintenance",
    ]
    assert all(page.values())
    assert page["Name"] == "distributed-training"
    assert len(page["Abstract"]) < 400  # of the list of apps
    tags = re.split(r",\s+", page["Tags"])
    assert len(tags) == len(set(tags)) and "RDMA" in tags


def test_installation_is_that_of_the_contributor_guide():
    """The commands are those of CONTRIBUTING.md, and a program that exists."""
    text = read_page()["Installation"]
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    (configure,) = re.findall(r"\./ns3 configure .*", text)
    assert configure in guide
    (program,) = re.findall(r'\./ns3 run "(\S+)', text)
    assert (ROOT / f"examples/programs/{program}.cc").is_file()
    packages = (ROOT / "build-support/ns3w_support/system_packages.py").read_text()
    for name in re.findall(r"\b(lib\S+-dev)\b", text):
        assert f'"{name}"' in packages


def test_bake_builds_the_same_release():
    root = xml.etree.ElementTree.parse(STORE / "bakeconf.xml").getroot()
    (module,) = root.iter("module")
    assert module.get("name") == "distributed-training"
    assert module.get("min_version") == f"ns-{read_supported()[0]}"
    values = {each.get("name"): each.get("value") for each in module.iter("attribute")}
    assert values["module_directory"] == module.get("name")
    assert values["revision"] == f"v{VERSION}"


def test_icon_has_the_size_that_the_store_asks_for():
    head = (STORE / "icon.png").read_bytes()[:26]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, _, colour = struct.unpack(">IIBB", head[16:26])
    assert (width, height) == (100, 100)
    assert colour == 6  # with transparency
