# SPDX-License-Identifier: GPL-2.0-only
"""The programs that measure the simulator or repeat published experiments.

The members of a program's JSON output are attributes of its result; the documentation lists
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import Program, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import keywords


class CheckpointTimes(Program[Result]):
    """Times of checkpoints and of a restart, packet by packet."""

    name = "checkpoint-times"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.CheckpointTimes]) -> None: ...


class DisaggregatedServing(Program[Result]):
    """Inference: times of tokens when prompts and answers are computed by different GPUs."""

    name = "disaggregated-serving"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.DisaggregatedServing]) -> None: ...


class FabricBenchmark(Program[Result]):
    """Speed of the simulator: packet-hops per second of processor time."""

    name = "fabric-benchmark"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.FabricBenchmark]) -> None: ...


class FlowBenchmark(Program[Result]):
    """Flow completion times and slowdowns of random or listed flows, on any topology."""

    name = "flow-benchmark"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.FlowBenchmark]) -> None: ...


class FpgaRing(Program[Result]):
    """Published figures of the FPGA ring all-reduce, compared with simulated figures."""

    name = "fpga-ring"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.FpgaRing]) -> None: ...


class GradientCodec(Program[Result]):
    """Ratio and errors of a gradient codec on a file of float32, and the list of codecs."""

    name = "gradient-codec"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.GradientCodec]) -> None: ...


class Inceptionn(Program[Result]):
    """Published figures of INCEPTIONN, compared with simulated figures."""

    name = "inceptionn"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.Inceptionn]) -> None: ...


class InNetworkAggregation(Program[Result]):
    """Published figures of in-network aggregation, compared with simulated figures."""

    name = "in-network-aggregation"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.InNetworkAggregation]) -> None: ...


class JobLife(Program[Result]):
    """A job over weeks: failures, checkpoints, restarts, and their cost."""

    name = "job-life"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.JobLife]) -> None: ...


class JobValidation(Program[Result]):
    """Published times of whole training jobs, compared with ours."""

    name = "job-validation"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.JobValidation]) -> None: ...


class MixedTraffic(Program[Result]):
    """An all-reduce beside applications of ns-3, on nodes that the program makes."""

    name = "mixed-traffic"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.MixedTraffic]) -> None: ...


class MultitreeAllreduce(Program[Result]):
    """All-reduces of the MULTITREE paper on its topologies."""

    name = "multitree-allreduce"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.MultitreeAllreduce]) -> None: ...


class NcclTables(Program[Result]):
    """Bus bandwidth of all-reduces, measured with NCCL and simulated."""

    name = "nccl-tables"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.NcclTables]) -> None: ...


class SwitchBarrier(Program[Result]):
    """Barriers by a program in a switch."""

    name = "switch-barrier"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.SwitchBarrier]) -> None: ...


class SwitchParameterServer(Program[Result]):
    """Published figures of a parameter server in a switch, compared with simulated figures."""

    name = "switch-parameter-server"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.SwitchParameterServer]) -> None: ...


class TcpBenchmark(Program[Result]):
    """Speed of TCP: packet-hops per second of processor time, and those of plain ns-3."""

    name = "tcp-benchmark"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.TcpBenchmark]) -> None: ...


class TopologyCodesign(Program[Result]):
    """Figures of "Co-designing the topology/algorithm to accelerate distributed training"."""

    name = "topology-codesign"

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.TopologyCodesign]) -> None: ...
