# SPDX-License-Identifier: GPL-2.0-only
"""The program training-job: data-parallel training of a model on a simulated cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .program import (
    COUNTS,
    SECONDS,
    Attributes,
    Duration,
    Path,
    Program,
    Quantity,
    Result,
    scale,
)

if TYPE_CHECKING:
    import pandas


class TrainingResult(Result):
    """What a training job has measured, mean over the iterations after the warm-up.

    The terms are defined in the glossary of the documentation. GB is 10^9 bytes.
    """

    iteration_time_s: float
    """time of an iteration, s"""
    compute_time_s: float
    """time a rank computes in an iteration, s"""
    communication_time_s: float
    """time in which a collective is under way at a rank, mean over the ranks, s"""
    exposed_communication_s: float
    """time of an iteration in which nothing was computed: iteration time - compute time, s"""
    busbw_GBps: float
    """bus bandwidth of the all-reduces, GB/s"""
    lower_bound_s: float
    """least time that the all-reduces of an iteration take on this network, s"""
    scaling_efficiency: float
    """compute time / iteration time: the speed of a rank, compared with a rank on its own"""
    choices: dict[str, str]
    """with collective="auto", by the size of buckets in bytes, which algorithm and why"""

    @cached_property
    def iterations(self) -> pandas.DataFrame:
        """A row an iteration, warm-up included, with the columns of the numbers above."""
        import pandas

        frame = pandas.DataFrame(self.data["iterations"])
        return frame.set_index("iteration")

    def __repr__(self) -> str:
        what = self._parameters()
        rows = [
            ("iteration time", scale(self.iteration_time_s, SECONDS)),
            ("compute", scale(self.compute_time_s, SECONDS)),
            ("communication", scale(self.communication_time_s, SECONDS)),
            ("  exposed", scale(self.exposed_communication_s, SECONDS)),
            ("  lower bound", scale(self.lower_bound_s, SECONDS)),
            ("bus bandwidth", f"{self.busbw_GBps:.4g} GB/s"),
            ("scaling efficiency", f"{100 * self.scaling_efficiency:.1f} %"),
            (
                "simulated with",
                f"{scale(self.packet_hops, COUNTS)} packet-hops in {scale(self.cpu_s, SECONDS)} CPU",
            ),
        ]
        head = (
            f"TrainingResult: {what['workload']}, {what['ranks']} ranks, {what['topology']}, "
            f"{what['rate']}, {what['transport']} ({what['congestion-control']}), "
            f"{what['collective']}"
        )
        return "\n".join([head] + [f"  {name:<20}{text}" for name, text in rows])


class TrainingJob(Program):
    """Data-parallel training of a model on a simulated cluster: how long is an iteration?"""

    name = "training-job"
    result_type = TrainingResult

    def __init__(
        self,
        *,
        workload: Path | None = None,
        batch: int | None = None,
        compute_scale: float | None = None,
        bucket: Quantity | None = None,
        overlap: bool | None = None,
        payload: str | None = None,
        iterations: int | None = None,
        warmup: int | None = None,
        results: Path | None = None,
        trace: Path | None = None,
        ranks: int | None = None,
        topology: str | None = None,
        rate: str | None = None,
        delay: Duration | None = None,
        mtu: int | str | None = None,
        buffer: Quantity | None = None,
        path: str | None = None,
        loss: float | None = None,
        fault: str | Sequence[str] | None = None,
        reroute_delay: Duration | None = None,
        pcap: Path | None = None,
        recovery: str | None = None,
        lanes: str | None = None,
        transport: str | None = None,
        congestion_control: str | None = None,
        collective: str | None = None,
        servers: int | None = None,
        host_model: str | None = None,
        segments: int | None = None,
        schedule: Path | None = None,
        export_schedule: Path | None = None,
        print_schedule: bool | None = None,
        elements_per_packet: int | None = None,
        slots: int | None = None,
        window: int | None = None,
        framing: str | None = None,
        message_packets: int | None = None,
        verify: bool | None = None,
        seed: int | None = None,
        run: int | None = None,
        attributes: Attributes | None = None,
    ) -> None:
        """What is None or not given is left to the program's default.

        Args:
            workload: "alexnet", "bert-large", "resnet50", "vgg16", or a CSV file with the columns
                layer, parameters, forward_us, backward_us.
            batch: samples per rank and iteration.
            compute_scale: factor of all compute times; 0.5 is a rank twice as fast.
            bucket: gradients that are reduced together, bytes, or such as "25MiB".
            overlap: whether a bucket is reduced while the backward pass goes on.
            payload: "virtual" carries sizes, "real" carries gradients and checks every sum.
            iterations: iterations that are measured.
            warmup: iterations before these, left out of means.
            results: SQLite file to which the run is added; see read_results().
            trace: file for a timeline, to be opened in ui.perfetto.dev.
            ranks: number of workers, one per host.
            topology: "single-switch", "leaf-spine:leaves=4,spines=2", "fat-tree:k=4", "file:PATH", ...
            rate: line rate of every link, such as "100Gbps".
            delay: propagation delay of every link, such as "500ns".
            mtu: largest RDMA payload or IP packet, 256 to 9000 bytes, or "auto".
            buffer: packet memory of every switch, bytes, such as "32MiB", or "auto".
            path: "ecmp", "flowlet", "spray", "source-mod", "destination-mod" or "schedule".
            loss: probability that a link loses a frame, 0 to 1.
            fault: "TARGET:ITEM,...", such as "host3-switch0:loss=0.01", or a list of these.
            reroute_delay: from the death or return of a link to new routes.
            pcap: prefix of capture files, one a port: PREFIX-host3-0.pcap.
            recovery: what RDMA sends again after a loss, "go-back-n" or "selective-repeat".
            lanes: how messages use several equally good pairs of ports, "turns" or "stripe".
            transport: "rdma" or "tcp".
            congestion_control: a name such as "dcqcn" or "hpcc" with rdma, a TypeId such as "ns3::TcpDctcp" with
                tcp, or "auto".
            collective: algorithm of the collectives, such as "ring" or "hou:stripes=4".
            servers: shards of the parameter server, kept by as many of the ranks.
            host_model: what hosts need for a collective, "none" or "nccl".
            segments: parts that each chunk of a schedule is cut into; 0: as many as the algorithm likes.
            schedule: file with a schedule, JSON or MSCCL XML, in place of an algorithm.
            export_schedule: file for the schedule of the largest size: MSCCL XML if it ends in .xml, otherwise
                JSON.
            print_schedule: list the schedule and end; for the command line, as there is no result then.
            elements_per_packet: sums in the network: values in a packet.
            slots: sums in the network: packets that a switch holds at a time.
            window: sums in the network: packets in flight of a rank; 0: as many as slots.
            framing: sums in the network: "udp" or "rdma".
            message_packets: sums in the network, RDMA framing: packets in a message.
            verify: whether schedules are proven right whatever the number of ranks.
            seed: ns-3's RngSeed.
            run: ns-3's RngRun, which also makes the gradients of a real payload.
            attributes: values for ns-3's attributes and global values by name, such as
                {"ns3::training::RdmaNic::AckInterval": 32}.
        """
        parameters = dict(locals())
        del parameters["self"], parameters["__class__"]
        super().__init__(parameters)

    def run(self) -> TrainingResult:
        """Run the job in a child process; see Program.run()."""
        result: TrainingResult = super().run()
        return result
