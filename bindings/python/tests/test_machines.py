# SPDX-License-Identifier: GPL-2.0-only
"""Machines: each runs, an option overrides a part, measured rows come out."""

import pytest

MACHINES = {
    "a100-mesh4": 4,
    "a100-mesh4-sockets": 8,
    "dgx-a100": 16,
    "dgx-h100": 16,
    "ethernet-10g": 3,
    "gb200-nvl72": 72,
    "gb300-nvl72": 72,
    "gh200-mesh4": 4,
    "hgx-b200": 8,
    "hpn-h100": 16,
    "mi300x": 8,
    "nvl144": 72,
    "nvl576": 144,
    "p5": 24,
}


def measure(program_json, machine, ranks, size, *arguments):
    document = program_json(
        "collective-benchmark",
        f"--machine={machine}",
        f"--ranks={ranks}",
        f"--bytes={size}",
        *arguments,
    )
    return document["rows"][0], document


def test_list_is_complete(describe):
    kinds = describe("collective-benchmark")["kinds"]
    assert {one["name"] for one in kinds["machine"]} == set(MACHINES) | {"none"}


@pytest.mark.parametrize(("machine", "ranks"), MACHINES.items())
def test_machine_runs_every_operation(program_json, machine, ranks):
    for operation in ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"):
        row, document = measure(
            program_json,
            machine,
            ranks,
            ranks * 1024,
            f"--operation={operation}",
            "--payload=real",
        )
        assert row["verified"]
        assert 0 < row["efficiency"] <= 1
        assert document["inputs"].startswith(f"machine {machine}: topology=")


@pytest.mark.parametrize("machine", ["dgx-h100", "a100-mesh4", "ethernet-10g"])
def test_job_on_a_machine(program_json, machine):
    arguments = ("--workload=resnet50", f"--machine={machine}", "--iterations=1")
    document = program_json("training-job", "--ranks=4", *arguments)
    assert document["configuration"]["gpu"] in document["inputs"]
    assert document["configuration"]["collective"] == "nccl"


def test_option_overrides_a_part(program_json):
    row, document = measure(program_json, "p5", 16, "1M", "--rate=100Gbps", "--collective=ring")
    assert row["algorithm"] == "ring"
    assert document["configuration"]["rate"] == "100Gbps"
    assert "rate=" not in document["inputs"].split("host-model=")[0].replace("local-rate=", "")


def test_ranks_per_server(program_json):
    _, document = measure(program_json, "p5:ranks-per-server=2", 8, "1M")
    assert "gpus=2," in document["configuration"]["topology"]


@pytest.mark.parametrize(("words", "kind"), [("auto", "nvls-tree"), ("ring", "ring"), ("tree", "nccl-tree")])
def test_limits_of_the_choice_between_servers(program_json, words, kind):
    row, _ = measure(
        program_json, "dgx-h100", 16, "64M", f"--host-model=nccl:between-servers={words}"
    )
    assert kind in row["choice"].split(",")[0]


def test_refusals(program):
    process = program("collective-benchmark", "--machine=dgx-h1000")
    assert process.returncode == 2
    assert "dgx-h100" in process.stderr
    process = program("collective-benchmark", "--collective=nccl")
    assert process.returncode == 2
    assert "allowed: with a host model that does" in process.stderr


# p5: bus bandwidth, GB/s, by aws-gpu-communication-benchmark (nccl-tests on p5.48xlarge); its first
# row gave network-latency. a100-mesh4: time, us, by simllm (NCCL 2.31 on 4 A100 without NVSwitch);
# its first row gave local-rate. hpn-h100: bus bandwidth by SimAI. The others are predicted.
@pytest.mark.parametrize(
    ("machine", "operation", "ranks", "size", "measured", "tolerance"),
    [
        ("p5", "all-gather", 64, "64M", 86.8, 0.02),
        ("p5", "all-gather", 16, "32M", 131.3, 0.25),
        ("p5", "all-reduce", 64, "32M", 86.74, 0.25),
        ("p5", "all-reduce", 256, "32M", 66.34, 0.25),
        ("p5", "all-reduce", 16, "64M", 207.0, 0.25),
        ("p5", "all-reduce", 16, "128M", 305.13, 0.25),
        ("p5", "all-to-all", 16, "64M", 62.16, 0.25),
        ("hpn-h100", "all-reduce", 64, "32M", 93.12, 0.12),
        ("hpn-h100", "all-reduce", 128, "64M", 81.48, 0.12),
        ("a100-mesh4", "reduce-scatter", 4, "1G", 3850.65, 0.01),
        ("a100-mesh4", "all-reduce", 2, "16K", 11.62, 0.25),
        ("a100-mesh4", "all-reduce", 4, "256M", 1983.69, 0.12),
        ("a100-mesh4", "all-reduce", 2, "1G", 14754.41, 0.12),
        ("a100-mesh4", "broadcast", 4, "1M", 23.4, 0.12),
        ("a100-mesh4", "all-gather", 4, "16M", 114.53, 0.25),
    ],
)
def test_as_measured(program_json, machine, operation, ranks, size, measured, tolerance):
    row, _ = measure(program_json, machine, ranks, size, f"--operation={operation}")
    figure = row["time_us" if machine == "a100-mesh4" else "busbw_GBps"]
    assert figure == pytest.approx(measured, rel=tolerance)


def test_trees_in_a_rack(program_json):
    """NCCL expects 320 us of a tree; chains of 72 ranks took 34 times as long."""
    row, document = measure(program_json, "gb200-nvl72", 72, "32M")
    assert document["candidates"][0]["algorithm"] == "nccl-tree"
    assert row["time_us"] == pytest.approx(320, rel=0.25)


def test_file_changes_a_machine(program, program_json, tmp_path):
    file = tmp_path / "machine.toml"
    file.write_text('machine = "dgx-h100:ranks-per-server=4"\nrate = "200Gbps"\ndelay = "700ns"\n')
    row, document = measure(program_json, file, 8, "1M")
    options = ("--rate=200Gbps", "--delay=700ns")
    expected, _ = measure(program_json, "dgx-h100:ranks-per-server=4", 8, "1M", *options)
    assert row == expected
    assert document["configuration"]["machine"] == str(file)
    overridden, _ = measure(program_json, file, 8, "1M", "--rate=400Gbps", "--delay=1us")
    assert overridden["time_us"] != row["time_us"]

    refusals = {
        'rate = "200Gbps"\n': f"--machine={file}: no machine (allowed: with machine = ",
        'machine = "dgx-h10"\n': f"{file}:1: --machine=dgx-h10; did you mean dgx-h100?",
        'machine = "p5"\n\nrates = "1Gbps"\n': f"{file}:3: rates; did you mean r",
        'machine = "p5"\nrate = "fast"\n': f"--machine={file}: --rate=fast (allowed: ",
        'machine = "p5"\nrate = \n': f"{file}:2: ",
    }
    for text, message in refusals.items():
        file.write_text(text)
        process = program("collective-benchmark", f"--machine={file}", "--ranks=8")
        assert process.returncode == 2 and process.stderr.count("\n") == 1
        assert message in process.stderr
    process = program("collective-benchmark", "--machine=no.toml", "--ranks=8")
    assert process.returncode == 2 and "--machine=no.toml cannot be read" in process.stderr
