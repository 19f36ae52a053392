#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Examples that ns-3's test.py runs beside the test suites: (command, run it, run it in valgrind).
# Releases up to 3.41 accept three fields only.
cpp_examples = [
    ("training-job --workload=alexnet --ranks=4 --iterations=1 --warmup=0", "True", "False"),
    ("collective-benchmark --operation=all-reduce --ranks=4 --bytes=1M", "True", "False"),
    ("collective-benchmark --ranks=4 --collective=ring --print-schedule", "True", "False"),
    ("checkpoint-times --ranks=3 --workload=alexnet --bytes=1M", "True", "False"),
    ("disaggregated-serving --count=5", "True", "False"),
    ("fabric-benchmark --workload=W1 --bytes=1MB", "True", "False"),
    ("flow-benchmark --flow-sizes=alistorage --duration=100us", "True", "False"),
    (
        "flow-benchmark --preset=hpcc --ranks=20 --warm-up=100us --duration=300us",
        "True",
        "False",
    ),
    ("fpga-ring --part=rates --bytes=100K,1M", "True", "False"),
    ("gradient-codec --list", "True", "False"),
    ("in-network-aggregation --part=sums --sum-bytes=64K", "True", "False"),
    ("inceptionn --scale=200", "True", "False"),
    ("job-life --lives=2", "True", "False"),
    ("job-validation --part=mlperf", "True", "False"),
    ("nccl-tables --most=1M", "True", "False"),
    (
        "shared-cluster --jobs=contrib/distributed-training/examples/shared-cluster.toml "
        "--ranks=16 --alone=false",
        "True",
        "False",
    ),
    ("switch-barrier --ranks=8 --rounds=100 --loss=0.01", "True", "False"),
    ("switch-parameter-server --part=descent", "True", "False"),
    ("tcp-benchmark --flows=1 --bytes=100K --pairs=1", "True", "False"),
    ("topology-codesign --nodes=4", "True", "False"),
    ("mixed-traffic --ranks=3 --bytes=100K --duration=5ms", "True", "False"),
    ("multitree-allreduce --part=sizes --topology=torus:4x4 --bytes=32K", "True", "False"),
]

# Python examples: (script, run it).
python_examples = []
