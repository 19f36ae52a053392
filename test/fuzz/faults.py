# SPDX-License-Identifier: GPL-2.0-only
"""Random faults under every transport and collective: sums are right, or the run says why not."""

from cases import Case

# Topologies with 8 ranks, their switches and some links.
TOPOLOGIES = {
    "single-switch": (1, ["host0-switch0", "host5-switch0"]),
    "leaf-spine:leaves=4,spines=2": (6, ["host0-switch0", "switch0-switch4", "switch3-switch5"]),
    "fat-tree:k=4": (20, ["host1-switch0", "switch0-switch8", "switch8-switch16"]),
    "torus:2x4": (8, ["host3-switch3", "switch0-switch1", "switch2-switch6"]),
    "rail-optimized:gpus=4": (10, ["host0-switch0", "host5-switch1", "host1-switch3"]),
}
SERVERS = "rail-optimized:gpus=4"
OPERATIONS = ["all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all"]
TRANSPORTS = [
    ["--transport=rdma", "--recovery=go-back-n"],
    ["--transport=rdma", "--recovery=selective-repeat"],
    ["--transport=rdma", "--path=spray"],
    ["--transport=uec"],
    ["--transport=tcp"],
]
# Algorithms that need nothing of the topology, by operation.
ALGORITHMS = {
    "all-reduce": ["ring", "recursive-doubling", "rabenseifner", "binomial", "double-binary-tree"]
    + ["direct", "swing", "bidirectional-ring", "parameter-server:servers=2", "auto"],
    "all-to-all": ["direct", "pairwise", "bruck", "auto"],
    "broadcast": ["binomial", "scatter-all-gather", "auto"],
}
IN_NETWORK = ["switchml", "sharp", "nvls", "atp", "switch-ps"]
IN_NICS = ["nic-ring", "nic-chain", "nic-bidirectional-ring", "nic-multi-ring", "nic-multitree"] + [
    *("nic-double-binary-tree", "nic-recursive-doubling", "nic-ring:number-format=float16"),
    *("nic-ring:reception-buffer=1,own-buffer=1", "nic-multitree:lockstep=none"),
]
# Engines of NICs, and those that over TCP would cut blocks.
ENGINES = ["inceptionn", "inceptionn:variant=bounded,owner=coded", "fp16", "truncation:drop=9"]
BLOCK_ENGINES = ["block-float", "fp8", "int8:owner=coded", "qsgd", "natural"]


def probability(rng, largest):
    return f"{largest * rng.random() ** 3:.6f}"


def time(rng):
    return f"{rng.choice([0, 1, 5, 20, 100, 400, 2000])}us"


def make_fault(rng, switches, links):
    item = rng.choice(
        ["loss", "burst-loss", "ber", "duplicate", "reorder", "down", "restart", "receive-rate"]
    )
    host, switch = f"host{rng.randrange(8)}", f"switch{rng.randrange(switches)}"
    target = rng.choice(["*", host, switch, *links])
    if item == "loss":
        text = f"loss={probability(rng, 0.05)}"
    elif item == "burst-loss":
        text = f"burst-loss={probability(rng, 0.01)}/{rng.choice(['0.1', '0.5', '1', '0.2/0.5'])}"
    elif item == "ber":
        text = f"ber={probability(rng, 1e-5)}"
    elif item == "duplicate":
        text = f"duplicate={probability(rng, 0.1)}"
    elif item == "reorder":
        text = f"reorder={probability(rng, 0.1)}/{rng.choice(['200ns', '2us', '10us'])}"
    elif item == "receive-rate":
        target, text = host, f"receive-rate={rng.choice(['1Gbps', '10Gbps', '60Gbps'])}"
    else:
        begin = rng.choice([0, 1, 5, 20, 100])
        text = f"{item},from={begin}us,until={begin + rng.choice([1, 10, 100, 2000])}us"
        if item == "restart":
            target = switch
        return f"{target}:{text}"
    if rng.random() < 0.3:
        text += f",from={rng.choice([0, 5, 50])}us,until={rng.choice([60, 500, 5000])}us"
    return f"{target}:{text}"


def make(rng, describe):
    """Return a case from a source of random numbers."""
    topology = rng.choice(list(TOPOLOGIES))
    operation = rng.choice(OPERATIONS)
    transport = rng.choice(TRANSPORTS)
    blocks = [] if transport == ["--transport=tcp"] else BLOCK_ENGINES
    engine = rng.choice([*ENGINES, *blocks]) if rng.random() < 0.3 else "none"
    algorithm = rng.choice(ALGORITHMS.get(operation, ["ring", "direct", "auto"]))
    if rng.random() < 0.25 and topology != "torus:2x4":
        operation, algorithm = "all-reduce", rng.choice(IN_NETWORK)
        transport = ["--transport=rdma"]
        engine = "none"
    elif rng.random() < 0.3:
        operation, algorithm = "all-reduce", rng.choice(IN_NICS)
    elif rng.random() < 0.05:
        topology, operation, algorithm = SERVERS, "all-reduce", "nvls-tree"
        transport, engine = ["--transport=rdma"], "none"
    if "number-format" in algorithm:
        engine = "none"
    arguments = ["--ranks=8", f"--topology={topology}", f"--operation={operation}", *transport]
    arguments += [f"--collective={algorithm}", f"--bytes={rng.choice(['8', '1000', '64K', '300K'])}"]
    arguments += ["--warmup=0", "--payload=real", "--json=-", f"--RngRun={rng.randrange(1, 1000)}"]
    if engine != "none":
        arguments.append(f"--nic={engine}")
    if rng.random() < 0.2:
        arguments.append(f"--buffer={rng.choice(['64K', '200K', '1M'])}")
    for _ in range(rng.choice([1, 1, 2, 3])):
        arguments.append(f"--fault={make_fault(rng, *TOPOLOGIES[topology])}")
    return Case("collective-benchmark", arguments)
