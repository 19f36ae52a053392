# SPDX-License-Identifier: GPL-2.0-only
"""The program collective-benchmark: collectives over sizes, as nccl-tests measures them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .program import Attributes, Duration, Path, Program, Quantity, Result

if TYPE_CHECKING:
    import pandas


class BenchmarkResult(Result):
    """What a benchmark has measured."""

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """A row a size, or an algorithm and size: algorithm, choice, operation, bytes, time_us,
        algbw_GBps, busbw_GBps, lower_bound_us, efficiency, verified. GB is 10^9 bytes."""
        import pandas

        return pandas.DataFrame(self.data["rows"])

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows, each with the configuration and the cost of the whole run."""
        frame = super().to_frame().drop(columns=["bytes", "algorithm", "operation"])
        return self.rows.merge(frame, how="cross")

    def __repr__(self) -> str:
        what = self._parameters()
        columns = {
            "bytes": "{:d}",
            "time_us": "{:.3f}",
            "algbw_GBps": "{:.3f}",
            "busbw_GBps": "{:.3f}",
            "lower_bound_us": "{:.3f}",
            "efficiency": "{:.3f}",
            "verified": "{}",
        }
        lines = [
            f"BenchmarkResult: {what['operation']}, {what['algorithm']}, {what['ranks']} ranks, "
            f"{what['topology']}, {what['rate']}, {what['transport']} "
            f"({what['congestion-control']})",
            "".join(f"{name:>15}" for name in columns),
        ]
        for row in self.data["rows"]:
            lines.append("".join(f"{form.format(row[name]):>15}" for name, form in columns.items()))
        return "\n".join(lines)


class CollectiveBenchmark(Program):
    """A collective on a simulated cluster, measured over sizes."""

    name = "collective-benchmark"
    result_type = BenchmarkResult

    def __init__(
        self,
        *,
        operation: str | None = None,
        bytes: Quantity | Sequence[Quantity] | None = None,
        payload: str | None = None,
        warmup: int | None = None,
        print_trees: bool | None = None,
        order: str | None = None,
        stop: str | None = None,
        sweep: str | None = None,
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
        algorithm: str | None = None,
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
            operation: "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all",
                "all-to-all-v", "barrier" or "send-receive".
            bytes: sizes of the whole vector: "begin:end:xFACTOR", "begin:end:STEP", or a list.
            payload: "virtual" carries sizes, "real" carries numbers and compares the results.
            warmup: runs of each size that are not measured.
            print_trees: only print the trees of multitree; for the command line, as there is no result then.
            order: multitree: turns of its roots, "id" or "sorted".
            stop: multitree: when a step of its construction ends, "any" or "last".
            sweep: "algorithms": measure every algorithm that fits.
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
            algorithm: algorithm of the collectives, such as "ring" or "hou:stripes=4".
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

    def run(self) -> BenchmarkResult:
        """Run the benchmark in a child process; see Program.run()."""
        result: BenchmarkResult = super().run()
        return result
