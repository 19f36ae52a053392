# SPDX-License-Identifier: GPL-2.0-only
"""The programs that measure the simulator or repeat published experiments.

The members of a program's JSON output are attributes of its result; the documentation lists
them.
"""

from __future__ import annotations

from .program import Program, Result


class CheckpointTimes(Program[Result]):
    """Times of checkpoints and of a restart, packet by packet."""

    name = "checkpoint-times"


class DisaggregatedServing(Program[Result]):
    """Inference: times of tokens when prompts and answers are computed by different GPUs."""

    name = "disaggregated-serving"


class FabricBenchmark(Program[Result]):
    """Speed of the simulator: packet-hops per second of processor time."""

    name = "fabric-benchmark"


class FlowBenchmark(Program[Result]):
    """Flow completion times and slowdowns of random or listed flows, on any topology."""

    name = "flow-benchmark"


class FpgaRing(Program[Result]):
    """Published figures of the FPGA ring all-reduce, compared with simulated figures."""

    name = "fpga-ring"


class GradientCodec(Program[Result]):
    """Ratio and errors of a gradient codec on a file of float32, and the list of codecs."""

    name = "gradient-codec"


class Inceptionn(Program[Result]):
    """Published figures of INCEPTIONN, compared with simulated figures."""

    name = "inceptionn"


class InNetworkAggregation(Program[Result]):
    """Published figures of in-network aggregation, compared with simulated figures."""

    name = "in-network-aggregation"


class JobLife(Program[Result]):
    """A job over weeks: failures, checkpoints, restarts, and their cost."""

    name = "job-life"


class JobValidation(Program[Result]):
    """Published times of whole training jobs, compared with ours."""

    name = "job-validation"


class MixedTraffic(Program[Result]):
    """An all-reduce beside applications of ns-3, on nodes that the program makes."""

    name = "mixed-traffic"


class MultitreeAllreduce(Program[Result]):
    """All-reduces of the MULTITREE paper on its topologies."""

    name = "multitree-allreduce"


class NcclTables(Program[Result]):
    """Bus bandwidth of all-reduces, measured with NCCL and simulated."""

    name = "nccl-tables"


class SwitchBarrier(Program[Result]):
    """Barriers by a program in a switch."""

    name = "switch-barrier"


class SwitchParameterServer(Program[Result]):
    """Published figures of a parameter server in a switch, compared with simulated figures."""

    name = "switch-parameter-server"


class TcpBenchmark(Program[Result]):
    """Speed of TCP: packet-hops per second of processor time, and those of plain ns-3."""

    name = "tcp-benchmark"


class TopologyCodesign(Program[Result]):
    """Figures of "Co-designing the topology/algorithm to accelerate distributed training"."""

    name = "topology-codesign"
