# SPDX-License-Identifier: GPL-2.0-only
"""calibrate(): constants of a machine from measurements."""

import subprocess
import sys

import distributed_training as dt
import pytest

HOSTS = "nccl:gpu=ampere,cpu=amd,local-latency=0.9us,start=25.4us,start-low-latency=7us"
LINKS = "rail-optimized:gpus=4,local=mesh,local-rate=500Gbps,nics=1"
KNOWN = {
    "host-model.local-latency": 0.9,
    "topology.local-rate": 500,
    "host-model.start-low-latency": 7,
}
USUAL = ["host-model.local-latency", "topology.local-rate"]
SIZES = "8:16M:x2"
HEADING = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"


def write_measured(path, rows, ranks=4):
    """Write times as all_reduce_perf prints them, with seven digits."""
    text = "# Collective test starting: all_reduce_perf\n"
    for rank in range(ranks):
        text += f"#  Rank {rank:2} Group  0 Pid 900 on node device  {rank} [0x0f] NVIDIA A100\n"
    text += HEADING
    for row in rows:
        size, time_us = row["bytes"], row["time_us"]
        rate = size / time_us / 1e3
        text += f"{size} {size // 4} float sum -1 {time_us:.7g} {rate:.2f} {rate * 1.5:.2f} 0\n"
    path.write_text(text)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a file of a machine whose constants are HOSTS and LINKS."""
    path = tmp_path_factory.mktemp("measured") / "all-reduce.txt"
    known = {"host_model": HOSTS, "topology": LINKS}
    run = dt.CollectiveBenchmark(machine="a100-mesh4", ranks=4, bytes=SIZES, **known).run()
    write_measured(path, run.data["rows"])
    return path


def test_known_constants_are_found(measured, tmp_path):
    found = dt.calibrate("a100-mesh4", [measured], list(KNOWN))
    values = dict(zip(found.constants["constant"], found.constants["value"]))
    assert values == pytest.approx(KNOWN, rel=0.01)
    assert list(found.constants["before"]) == [0.6, 574, 7.8]
    assert all(found.constants["range"] < 0.01 * found.constants["value"])
    roles = ["predicted", "calibration", "predicted"] * 7 + ["predicted"]
    assert list(found.rows["role"]) == roles
    before, after = dt.summarize_calibration(found.rows).to_dict("records")
    assert after["predicted"] == 15 and after["worst_percent"] < 0.1 < before["median_percent"]

    machine = tmp_path / "machine.toml"
    machine.write_text(found.machine_file)
    own = dt.CollectiveBenchmark(machine=machine, ranks=4, bytes=SIZES).run()
    assert list(own.rows["time_us"]) == list(found.rows["ours_us"])
    assert own.configuration["rate"] == "200Gbps"  # of the machine that it changes
    assert dt.CollectiveBenchmark(machine=machine, ranks=4).get_input_files() == [str(machine)]


def test_usual_constants(measured):
    """Of latencies that act alike one is fitted: seven rows tell two constants."""
    found = dt.calibrate("a100-mesh4", [measured])
    assert list(found.constants["constant"]) == USUAL
    _, after = dt.summarize_calibration(found.rows).to_dict("records")
    assert after["worst_percent"] < 5


def test_rows_that_are_not_run(measured):
    found = dt.calibrate("a100-mesh4", [measured], ["topology.local-rate"], most_bytes=8 << 20)
    assert list(found.rows["role"].iloc[-2:]) == ["predicted", "not run"]
    assert found.rows["ours_us"].isna().sum() == 1


def test_network_cards(tmp_path):
    """Bandwidth and latency of perftest give the rate and the delay of links."""
    machine = "dgx-h100:ranks-per-server=1"
    known = {
        "machine": machine,
        "ranks": 2,
        "host_model": "none",
        "rate": "380Gbps",
        "delay": "300ns",
    }
    run = dt.CollectiveBenchmark(
        operation="broadcast", collective="binomial", bytes="4K,8K,16K,64M", **known
    ).run()
    times = {row["bytes"]: row["time_us"] for row in run.data["rows"]}
    latency = " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec]\n"
    bandwidth = " #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    for size, time_us in times.items():
        latency += f" {size} 1000 1 9 2 {time_us:.6f}\n" if size < 1 << 20 else ""
    for size in (1 << 20, 2 << 20, 4 << 20):
        rate = 8 * (64 << 20) / times[64 << 20] / 1e3
        bandwidth += f" {size} 5000 400 {rate:.6f} 0.1\n"
    (tmp_path / "lat.txt").write_text(" RDMA_Write Latency Test\n" + latency)
    (tmp_path / "bw.txt").write_text(" RDMA_Write BW Test\n" + bandwidth)
    files = [tmp_path / "lat.txt", tmp_path / "bw.txt"]
    found = dt.calibrate("dgx-h100", files, ["delay", "rate"])
    values = dict(zip(found.constants["constant"], found.constants["value"]))
    assert values == pytest.approx({"delay": 0.3, "rate": 380}, rel=0.01)
    assert abs(found.rows["error_percent"]).max() < 0.5


def test_refusals(measured, tmp_path):
    with pytest.raises(ValueError, match="machine 'a100-mesh5'; did you mean"):
        dt.calibrate("a100-mesh5", [measured])
    with pytest.raises(ValueError, match="constant 'host-model.local-latenc'; did you mean"):
        dt.calibrate("a100-mesh4", [measured], ["host-model.local-latenc"])
    with pytest.raises(
        ValueError, match="'host-model.network-latency': no calibrating row depends"
    ):
        dt.calibrate("a100-mesh4", [measured], ["host-model.network-latency"])
    with pytest.raises(ValueError, match=r"5 constants \(allowed: 1 to 4\)"):
        dt.calibrate("a100-mesh4", [measured], list("abcde"))
    lines = measured.read_text().splitlines()
    few = tmp_path / "few.txt"
    few.write_text("\n".join(lines[:8]))
    with pytest.raises(ValueError, match="1 rows that calibrate 3 constants"):
        dt.calibrate("a100-mesh4", [few], list(KNOWN))
    few.write_text("\n".join(lines[:7]))
    with pytest.raises(ValueError, match=r"1 rows \(allowed: 2 or more of an operation"):
        dt.calibrate("a100-mesh4", [few])


def test_command(measured, environment, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "distributed_training", "calibrate", *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=tmp_path
        )

    words = ("--machine=a100-mesh4", f"--measured={measured}", "--constants=topology.local-rate")
    good = run(*words, "--csv=rows.csv")
    assert (good.returncode, good.stderr) == (0, "") and "worst_percent" in good.stdout
    assert (tmp_path / "rows.csv").read_text().count("\n") == 23
    text = (tmp_path / "a100-mesh4-calibrated.toml").read_text()
    assert 'machine = "a100-mesh4"' in text and "topology.local-rate: 5" in text
    bad = run(*words, "--output=no/machine.toml")
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1) and "no/machine.toml" in bad.stderr
    damaged = tmp_path / "damaged.txt"
    damaged.write_text(measured.read_text().replace(" float ", " "))
    bad = run("--machine=a100-mesh4", f"--measured={damaged}", "--output=other.toml")
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1)
    assert f"{damaged}:7: 8 columns" in bad.stderr or "damaged.txt:7: " in bad.stderr
    assert not (tmp_path / "other.toml").exists()
