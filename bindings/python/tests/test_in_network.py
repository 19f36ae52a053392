# SPDX-License-Identifier: GPL-2.0-only
"""Examples of in-network aggregation: refusals, slow links, and truncated files."""

import csv
import subprocess
import sys

import pytest
from conftest import PACKAGE

JOBS = PACKAGE / "examples/in_network_jobs.py"
COLUMNS = "workload,ranks,rate,system,loss,iteration_time_ms,error"
ONE = ["--workloads=resnet50", "--ranks=8", "--rates=100Gbps", "--losses=0"]


@pytest.fixture
def run_jobs(environment):
    """Run the example that simulates whole jobs."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, JOBS, *arguments],
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


@pytest.mark.parametrize(
    "arguments, allowed",
    [
        (["in-network-aggregation", "--part=sums", "--sum-bytes=10001"], "multiples of 4"),
        (["in-network-aggregation", "--jobs=17"], "1 to 16"),
        (["switch-barrier", "--ranks=65"], "1 to 64"),
    ],
)
def test_bad_input_is_refused_by_the_option(program, arguments, allowed):
    process = program(*arguments)
    assert process.returncode == 2
    assert process.stderr == f"{arguments[0]}: {arguments[-1]} (allowed: {allowed})\n"


@pytest.mark.extensive
def test_atp_jobs_that_share_a_switch_get_what_their_servers_carry(program_json):
    document = program_json("in-network-aggregation", "--part=atp", "--jobs=3", "--bytes=64K")
    rows = [row for row in document["rows"] if row["figure"].startswith("T10: 3 jobs, ")]
    assert len(rows) == 8
    goodputs = [row for row in rows if row["unit"] == "Gbit/s"]
    for row in goodputs:
        assert row["ours"] == pytest.approx(row["expected"], rel=0.1)
    assert goodputs[0]["ours"] > 3 * goodputs[-1]["ours"]


@pytest.mark.parametrize("option", ["--rate=1Mbps", "--delay=1s"])
def test_barriers_of_slow_lines_ask_once(program, option):
    process = program("switch-barrier", option, "--rounds=10")
    assert process.returncode == 0
    assert "10 multicasts, 0 frames sent again" in process.stdout


@pytest.mark.extensive
def test_a_row_that_was_cut_short_is_run_again(run_jobs, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_bytes(f"{COLUMNS}\r\nresnet50,8,100Gbps,tree,0,55.6".encode())
    process = run_jobs(path, *ONE, "--systems=sharp")
    assert process.returncode == 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert rows[0]["error"] is None
    assert rows[1]["error"] == ""
    assert 10 < float(rows[1]["iteration_time_ms"]) < 30
    again = run_jobs(path, *ONE, "--systems=sharp")
    assert again.stdout == process.stdout
    assert "55.6" not in again.stdout


@pytest.mark.parametrize(
    "text, arguments, part",
    [
        ("a,b\n", [], f"jobs.csv:1: allowed are columns {COLUMNS.replace(',', ', ')}"),
        (None, ["--plot=nowhere/a.svg"], "nowhere/a.svg: there is no such directory"),
        (None, ["--plot=a.xyz"], "--plot=a.xyz: allowed are .svg, .pdf, .png"),
        (None, ["--ranks=9"], "--ranks=9: allowed are 8, 16, 32, 64"),
    ],
)
def test_files_that_do_not_fit_are_refused_before_any_run(run_jobs, tmp_path, text, arguments, part):
    path = tmp_path / "jobs.csv"
    if text:
        path.write_text(text)
    process = run_jobs(path, *ONE, *arguments)
    assert process.returncode == 2
    assert part in process.stderr.splitlines()[-1]
    assert path.exists() == (text is not None)


@pytest.mark.parametrize("topology", ["single-switch", "rail-optimized:servers=1"])
@pytest.mark.parametrize("slots", [512, 1024, 4096])
def test_many_slots_lose_nothing_in_a_lossless_class(program_json, topology, slots):
    result = program_json(
        "collective-benchmark",
        *["--ranks=8", f"--topology={topology}", "--bytes=8M", "--warmup=0"],
        f"--collective=nvls:slots={slots},elements-per-packet=512",
        "--ns3::training::SwitchDevice::RegisterMemory=1000000000",
    )
    assert result["warnings"] == []
    assert result["in_network"]["resent"] == result["in_network"]["duplicates"] == 0
    few = program_json(
        "collective-benchmark",
        *["--ranks=8", f"--topology={topology}", "--bytes=8M", "--warmup=0"],
        "--collective=nvls:slots=512,elements-per-packet=512",
        "--ns3::training::SwitchDevice::RegisterMemory=1000000000",
    )
    # With a slot for every packet all reads precede all writes.
    assert result["rows"][0]["time_us"] < 1.6 * few["rows"][0]["time_us"]


@pytest.mark.parametrize(
    "algorithm",
    ["nvls", "switchml", "sharp", "sharp:data-type=float16", "atp", "nvls:elements-per-packet=1024,slots=64"],
)
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_no_sum_in_the_network_is_faster_than_its_bound(program_json, algorithm, ranks):
    result = program_json(
        "collective-benchmark",
        *[f"--ranks={ranks}", "--bytes=4M", "--warmup=0", f"--collective={algorithm}"],
        "--ns3::training::SwitchDevice::RegisterMemory=1000000000",
    )
    assert 0.1 < result["rows"][0]["efficiency"] <= 1
