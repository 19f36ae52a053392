# SPDX-License-Identifier: GPL-2.0-only
"""Small valid files of each format of workloads, and of other simulators and tools."""

import gzip
import json
import struct


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def make_chakra():
    """Return a trace of one rank: a computation, two collectives, and a message to itself."""
    metadata = message(1, b"0.0.4")

    def attribute(name, value):
        return message(10, message(1, name) + number(9, value))

    def node(index, kind, *more):
        return number(1, index) + message(2, b"node") + number(3, kind) + b"".join(more)

    nodes = [
        node(1, 4, number(7, 5)),
        node(2, 7, message(5, b"\1"), attribute(b"comm_type", 0), attribute(b"comm_size", 4096)),
        node(3, 7, message(5, b"\2"), attribute(b"comm_type", 2), attribute(b"comm_size", 64)),
        node(4, 4, message(4, b"\3"), number(7, 7)),
        node(5, 2, message(5, b"\4"), attribute(b"tensor_size", 64)),
    ]
    return b"".join(varint(len(text)) + text for text in [metadata, *nodes])


def make_goal():
    """Return the binary form: a computation, and a message that waits for it."""

    def node(kind, peer, amount, waiting, index):
        return struct.pack(
            "<IbIQIBBIIII", 0, kind, peer, amount, 3, 0, 0, waiting, index, 0, 0
        )

    first = struct.pack("<III", 2, 1, 0) + node(3, 0, 40, 1, 0) + node(1, 1, 16, 0, 1)
    first += struct.pack("<I", 1)
    second = struct.pack("<III", 1, 1, 0) + node(2, 0, 16, 0, 0)
    begin = 6 + 2 * 16
    middle = begin + len(first)
    table = struct.pack("<QQQQ", begin, middle, middle, middle + len(second))
    return struct.pack("<QIBB", 4223, 2, 1, 1) + table + first + second


def make_kineto():
    """Return the trace of a rank with two streams and a collective."""

    def kernel(name, start, length, stream, **more):
        arguments = {"stream": stream, **more}
        return {
            "ph": "X",
            "cat": "kernel",
            "name": name,
            "ts": start,
            "dur": length,
            "args": arguments,
        }

    collective = {
        "Collective name": "allreduce",
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": 2,
        "dtype": "Float",
        "Process Group Ranks": "[0, 1]",
    }
    wait = {"correlation": 2, "stream": 20, "wait_on_stream": 7}
    wait["wait_on_cuda_event_record_corr_id"] = 2
    events = [
        kernel("a", 100.5, 10, 7, correlation=1),
        {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 1, "args": wait},
        kernel("ncclDevKernel_AllReduce", 111, 20, 20, correlation=3, **collective),
        kernel("b", 112, 30, 7, correlation=4),
    ]
    document = {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}}
    return json.dumps({**document, "traceEvents": events}, indent=1).encode()


TRACES = {
    "layers.txt": b"""HYBRID_TRANSFORMER model_parallel_NPU_group: 2
2
a\t-1 10 ALLGATHER 4096 20 ALLREDUCE 4096 30 ALLREDUCE 8192 5
b\t-1 10 NONE 0 20 NONE 0 30 REDUCESCATTER 8192 5
""",
    "aicb.txt": b"""HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 \
ga: 1 all_gpus: 4 checkpoints: 1 0 checkpoint_initiates: 1 1 pp_comm: 0
2
a -1 10 ALLGATHER 8192 20 REDUCESCATTER 8192 30 NONE 0 100
b -1 10 ALLTOALL_EP 8192 20 NONE 0 30 ALLREDUCE_DP_EP 8192 100
""".replace(
        b"\\\n", b""
    ),
    "job.goal": b"""num_ranks 2
rank 0 {
l1: calc 100 cpu 1
l2: send 64b to 1 tag 3
l2 requires l1
l3: recv 8b from 1
l3 irequires l2
}
rank 1 { /* two */
l1: recv 64b from 0 tag 3
l2: send 8b to 0
l2 requires l1
}
""",
    "job.bin": make_goal(),
    "trace.0.et": make_chakra(),
    "trace.json": make_kineto(),
    "trace.json.gz": gzip.compress(make_kineto(), mtime=0),
    "pipeline.csv": b"0F0,0F1,,0B0,0B1\n1F0,1B0,1F1,1I1,1W1\n",
}

NETWORKS = {
    "network.yml": b"""# two dimensions
topology: [ Switch, Ring ]
npus_count: [ 2, 2 ]
bandwidth: [ 400.0, 50 ]  # GB/s
latency: [ 936.25, 1000 ]  # ns
""",
    "server.xml": b"""<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
    <pci busid="0000:02:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
      <gpu dev="0" sm="80"><nvlink target="0000:03:00.0" count="4" tclass="0x030200"/></gpu>
    </pci>
    <pci busid="0000:03:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="0000:04:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="200000" port="1"/></nic>
    </pci>
  </cpu>
</system>
""",
    "fabric.yml": b"""name: fabric
devices:
- name: server
  components:
  - {choice: xpu, count: 2, name: xpu}
  - {choice: switch, count: 2, name: "pcie"}
  - {choice: device, count: 2, name: card}
  links: [{name: local}]
  edges:
  - {ep1: {component: xpu}, ep2: {component: 'pcie[0:2]'}, scheme: many2many, link: local}
  - ep1: {component: "pcie[0]"}
    ep2: {device: "card[0:2]", component: bus}
    scheme: many2many
    link: local
- name: card
  components:
  - {choice: custom, count: 1, name: bus}
  - {choice: nic, count: 1, name: nic}
  links: [{name: chip, physical: {latency: {choice: ns, ns: 100}}}]
  edges:
  - {ep1: {component: bus}, ep2: {component: nic}, scheme: one2one, link: chip}
- name: switch
  components:
  - {choice: cpu, count: 1, name: asic}
  - {choice: port, count: 4, name: port}
  links: [{name: ic}]
  edges:
  - {ep1: {component: asic}, ep2: {component: port}, scheme: many2many, link: ic}
links:
- name: cable
  physical:
    bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 12.5}
    latency: {choice: us, us: 0.4}
instances:
- {name: host, device: server, count: 2}
- {name: leaf, device: switch, count: 1}
edges:
- ep1: {instance: "host[0:2]", component: "card[0:2].nic[0]"}
  ep2: {instance: leaf, component: port}
  scheme: one2one
  link: cable
""",
    "graph.xml": b"""<graphs version="1">
  <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="20" speedinter="20">
    <channel><net dev="0"/><gpu dev="0" rank="0"/><gpu dev="1" rank="1"/><net dev="0"/></channel>
    <channel><net dev="1"/><gpu dev="1" rank="1"/><gpu dev="0" rank="0"/><net dev="1"/></channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="1" speedintra="20" speedinter="20">
    <channel><net dev="0"/><gpu dev="1" rank="1"/><gpu dev="0" rank="0"/><net dev="0"/></channel>
  </graph>
</graphs>
""",
    "system.json": b"""{
  "scheduling-policy": "LIFO",
  "endpoint-delay": 10,
  "active-chunks-per-dimension": 1,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring"],
  "all-to-all-implementation": ["oneDirect2"],
  "collective-optimization": "localBWAware",
  "local-mem-bw": 1600,
  "boost-mode": 0,
  "roofline-enabled": 0,
  "peak-perf": 900
}
""",
}
