# SPDX-License-Identifier: GPL-2.0-only
"""Distributed training on simulated networks, from Python.

    import distributed_training as dt

    result = dt.TrainingJob(workload="resnet50", ranks=16, topology="fat-tree:k=4").run()
    print(result)                    # a table
    result.iteration_time_s          # 0.0206..., the number that the C++ program prints
    result.iterations                # pandas DataFrame, one row per iteration

    dt.TrainingJob.options()         # every keyword, with its default and the values allowed
    dt.CollectiveBenchmark(ranks=16, bytes="8:64M:x8").run().rows
    dt.sweep(dt.TrainingJob.grid(ranks=[4, 8, 16], transport=["rdma", "tcp"]), store="runs.sqlite")
    dt.read_results("runs.sqlite", "iteration")
    dt.report("runs.sqlite", "run.html")    # a page that shows what limits a run
    dt.plot.iteration_breakdown({"rdma": result})
    dt.ns.training.FabricHelper()    # the C++ classes, through cppyy
    dt.connect("/NodeList/*/$ns3::training::SwitchDevice/Drop", print)   # their trace sources

Runs are child processes, because ns-3 supports one simulation per process. The build is the one that
`pip install` made, or that the environment variable DISTRIBUTED_TRAINING_BUILD names;
`./ns3w python SCRIPT` and `./ns3w shell` set it.
Packages with a long import time (pandas, matplotlib, cppyy) are imported on first use.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .build import Build, BuildNotFound, find_build
from .calibration import Calibration, calibrate, summarize_calibration
from .collective_benchmark import BenchmarkResult, CollectiveBenchmark
from .comparison import compare
from .expectation import expect
from .experiments import (
    CheckpointTimes,
    DisaggregatedServing,
    FabricBenchmark,
    FlowBenchmark,
    FpgaRing,
    GradientCodec,
    Inceptionn,
    InNetworkAggregation,
    JobLife,
    JobValidation,
    MixedTraffic,
    MultitreeAllreduce,
    NcclTables,
    SwitchBarrier,
    SwitchParameterServer,
    TcpBenchmark,
    TopologyCodesign,
)
from .grids import read_grid
from .learner import Layer, Learner
from .near_names import did_you_mean
from .program import Program, Result, SimulationStuck, WrongResult
from .report_page import report
from .results import list_tables, read_results
from .shared_cluster import SharedCluster, SharedResult
from .sweep_frame import to_xarray
from .sweeps import read_sweep, run_each, sweep
from .tracing import connect
from .training_job import TrainingJob, TrainingResult
from .validation import list_validations, summarize_validation, validate

if TYPE_CHECKING:
    from . import plot

    ns: Any

__version__ = Path(__file__).with_name("VERSION").read_text(encoding="ascii").strip()

__all__ = [
    "BenchmarkResult",
    "Build",
    "BuildNotFound",
    "Calibration",
    "CheckpointTimes",
    "CollectiveBenchmark",
    "DisaggregatedServing",
    "FabricBenchmark",
    "FlowBenchmark",
    "FpgaRing",
    "GradientCodec",
    "Inceptionn",
    "InNetworkAggregation",
    "JobLife",
    "JobValidation",
    "MixedTraffic",
    "MultitreeAllreduce",
    "Layer",
    "Learner",
    "NcclTables",
    "Program",
    "Result",
    "SharedCluster",
    "SharedResult",
    "SimulationStuck",
    "SwitchBarrier",
    "SwitchParameterServer",
    "TcpBenchmark",
    "TopologyCodesign",
    "TrainingJob",
    "TrainingResult",
    "WrongResult",
    "calibrate",
    "compare",
    "connect",
    "expect",
    "find_build",
    "list_tables",
    "list_validations",
    "ns",
    "plot",
    "read_grid",
    "read_results",
    "read_sweep",
    "report",
    "run_each",
    "summarize_calibration",
    "summarize_validation",
    "sweep",
    "to_xarray",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    if name == "ns":
        from .cpp import load_namespace

        globals()["ns"] = load_namespace()
        return globals()["ns"]
    near = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
