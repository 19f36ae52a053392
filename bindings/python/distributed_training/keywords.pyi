# SPDX-License-Identifier: GPL-2.0-only
# Written by build-support/python_keywords.py from the descriptions of the programs.

from collections.abc import Iterable, Mapping
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, TypedDict, Union

_Bytes = Union[int, str]
_List = Union[str, Iterable[Any]]
_Path = Union[str, PathLike[str]]
_Text = Union[str, float, PathLike[str], Iterable[Any]]
_Time = Union[str, int, timedelta]

class _Ns3(TypedDict, total=False):
    seed: int
    run: int
    attributes: Mapping[str, Any]

class _Shared1(TypedDict, total=False):
    config: _List
    extension: _List
    log: _List
    save_config: _Text

class _Shared2(TypedDict, total=False):
    report: _Text
    results: _Text
    sample: _Time
    trace: _Text
    trace_ranks: _Text

class _Shared3(TypedDict, total=False):
    rate: str

class _Shared4(TypedDict, total=False):
    delay: _Time

class _Shared5(TypedDict, total=False):
    ranks: int

class _Shared6(TypedDict, total=False):
    pcap: _Text

class _Shared7(TypedDict, total=False):
    loss: float

class _Shared8(TypedDict, total=False):
    buffer: Union[Literal["auto"], _Bytes]
    export_topology: _Text
    fault: _List
    mtu: Union[Literal["auto"], int]
    path: Union[Literal["adaptive", "destination-mod", "ecmp", "flowlet", "schedule", "source-mod", "source-route", "spray"], _Path]
    port_pairs: Literal["auto", "turns", "stripe", "spray"]
    recovery: Union[Literal["auto", "go-back-n", "out-of-order", "selective-repeat"], _Path]
    reroute_delay: _Time
    silence: _Text
    steady_state: Literal["skip", "simulate", "verify"]
    strict: bool
    topology: Union[Literal["astra-network", "bigraph", "dragonfly", "fat-tree", "file", "full-mesh", "hierarchical-torus", "infragraph", "leaf-spine", "local-switch-torus", "m-ary-n-tree", "mesh", "nccl", "pods", "rail-optimized", "ring", "single-switch", "torus", "two-switch"], _Path]

class _Shared9(TypedDict, total=False):
    queue_pairs: int

class _Shared10(TypedDict, total=False):
    congestion_control: Union[Literal["auto", "dcqcn", "dctcp", "hpcc", "none", "power-tcp", "swift", "theta-power-tcp", "timely", "window", "nscc", "rccc"], _Path]
    transport: Union[Literal["mrc", "rdma", "tcp", "uec"], _Path]

class _Shared11(TypedDict, total=False):
    background: Union[Literal["none", "alistorage", "fbhadoop", "file", "fixed", "websearch"], _Path]
    host_jitter: Union[Literal["exponential", "lognormal", "none", "normal"], _Path]
    host_latency: _Time
    host_model: Union[Literal["mpi-tcp", "nccl", "nccl-socket", "none", "rccl"], _Path]
    split: bool

class _Shared12(TypedDict, total=False):
    segments: int

class _Shared13(TypedDict, total=False):
    codec: Union[Literal["none", "1-bit", "bf16", "block-float", "dgc", "ef-sign", "fp16", "fp8", "inceptionn", "int4", "int8", "natural", "omnireduce", "powersgd", "qsgd", "random-k", "signsgd", "terngrad", "thc", "threshold", "top-k", "truncation"], _Path]
    collective: Union[Literal["auto", "nccl", "bidirectional-ring", "binomial", "bruck", "chain", "circulant", "dimension-wise", "direct", "dissemination", "double-binary-tree", "hdrm", "hierarchical", "hierarchical-all-to-all", "hou", "multi-ring", "multitree", "nccl-graph", "nccl-tree", "pairwise", "parameter-server", "per-dimension", "rabenseifner", "recursive-doubling", "ring", "ring-2d", "scatter-all-gather", "swing", "tacos", "atp", "nvls", "nvls-tree", "sharp", "switch-ps", "switchml", "nic-bidirectional-ring", "nic-chain", "nic-double-binary-tree", "nic-hdrm", "nic-multi-ring", "nic-multitree", "nic-recursive-doubling", "nic-ring", "nic-ring-2d"], _Path]
    export_schedule: _Text
    machine: Union[Literal["none", "a100-mesh4", "a100-mesh4-sockets", "dgx-a100", "dgx-h100", "ethernet-10g", "gb200-nvl72", "gb300-nvl72", "gh200-mesh4", "hgx-b200", "hpn-h100", "mi300x", "nvl144", "nvl576", "p5"], _Path]
    nic: Union[Literal["none", "1-bit", "bf16", "block-float", "dgc", "ef-sign", "fp16", "fp8", "inceptionn", "int4", "int8", "natural", "omnireduce", "powersgd", "qsgd", "random-k", "signsgd", "terngrad", "thc", "threshold", "top-k", "truncation"], _Path]
    schedule: _Text
    verify: bool

class _Shared14(TypedDict, total=False):
    gpu: Union[Literal["a100", "b200", "b300", "gb10", "gb200", "gb300", "h100", "h200", "h800", "mi300x", "mi355x", "rubin-ultra", "tpu-v5p", "v100", "vr200"], _Path]

class _Shared15(TypedDict, total=False):
    storage_rate: str

class _Shared16(TypedDict, total=False):
    batch: int
    snapshot_rate: str
    storage_hosts: int
    workload: Union[Literal["alexnet", "bert-large", "dlrm", "dlrm-hybrid-parallel", "file", "mlp-hybrid-parallel", "mlp-model-parallel", "resnet50", "vgg16"], _Path]

class _Shared18(TypedDict, total=False):
    runs: int

class _Shared19(TypedDict, total=False):
    bytes: _Text

class _Shared20(TypedDict, total=False):
    payload: Literal["virtual", "real"]

class _Shared21(TypedDict, total=False):
    gradients: Union[Literal["file", "hash", "laplace", "learn", "normal", "pipe"], _Path]

class _Shared22(TypedDict, total=False):
    warmup: int

class _Shared24(TypedDict, total=False):
    count: int

class _Shared26(TypedDict, total=False):
    duration: _Time

class _Shared27(TypedDict, total=False):
    bytes: _Bytes

class _Shared30(TypedDict, total=False):
    mtu: int

class _Shared35(TypedDict, total=False):
    failures: Union[Literal["file", "llama3", "rsc-1", "rsc-2"], _Path]
    price_gpu_hour: float
    rendezvous: _Time
    repair: _Time
    spares: int

class _Shared37(TypedDict, total=False):
    full: bool

class _Shared39(TypedDict, total=False):
    rounds: int

class CheckpointTimes(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared10, _Shared11, _Shared12, _Shared13, _Shared14, _Shared15, _Shared16, total=False):
    asynchronous: bool
    bytes: Union[Literal["auto"], _Bytes]

class CollectiveBenchmark(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared10, _Shared11, _Shared12, _Shared13, _Shared18, _Shared19, _Shared20, _Shared21, _Shared22, total=False):
    operation: Literal["all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all", "all-to-all-v", "barrier", "send-receive"]
    set_up: bool
    sweep: Literal["algorithms"]

class DisaggregatedServing(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared10, _Shared11, _Shared14, _Shared24, total=False):
    arrival_rate: float
    collective: Union[Literal["bidirectional-ring", "binomial", "bruck", "chain", "circulant", "dimension-wise", "direct", "dissemination", "double-binary-tree", "hdrm", "hierarchical", "hierarchical-all-to-all", "hou", "multi-ring", "multitree", "nccl-graph", "nccl-tree", "pairwise", "parameter-server", "per-dimension", "rabenseifner", "recursive-doubling", "ring", "ring-2d", "scatter-all-gather", "swing", "tacos"], _Path]
    compute_efficiency: float
    decode: int
    decode_requests: int
    decode_tensor: int
    gpu_memory: _Bytes
    length_jitter: Union[Literal["exponential", "lognormal", "none", "normal"], _Path]
    memory_efficiency: float
    model: Union[Literal["deepseek-v3", "gpt3-13b", "gpt3-175b", "gpt3-6.7b", "llama3-405b", "llama3-70b", "llama3-8b", "megatron-1.7b", "megatron-1008b", "megatron-145.6b", "megatron-18.4b", "megatron-3.6b", "megatron-310.1b", "megatron-39.1b", "megatron-529.6b", "megatron-7.5b", "megatron-76.1b", "mixtral-8x7b", "mt-nlg-530b"], _Path]
    number_bytes: int
    output: int
    prefill: int
    prefill_requests: int
    prefill_tensor: int
    prefill_tokens: int
    prompt: int
    requests: _Text
    routing: Literal["least-loaded", "round-robin"]
    tbt_objective: _Time
    transfer: Literal["layers", "whole"]
    ttft_objective: _Time

class FabricBenchmark(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared18, _Shared26, _Shared27, total=False):
    compare_acks: bool
    compare_schedulers: bool
    congestion_control: Union[Literal["auto", "dcqcn", "dctcp", "hpcc", "none", "power-tcp", "swift", "theta-power-tcp", "timely", "window"], _Path]
    pattern: _Text
    workload: Literal["custom", "W1", "W2", "W3"]

class FlowBenchmark(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared10, _Shared26, total=False):
    csv: _Text
    flow_end: Literal["arrival", "acknowledgement"]
    flow_file: _Text
    flow_sizes: Union[Literal["alistorage", "fbhadoop", "file", "fixed", "websearch"], _Path]
    incast_bytes: _Bytes
    incast_load: float
    incast_senders: int
    list_flows: bool
    list_ports: bool
    load: float
    pattern: Union[Literal["incast", "permutation", "random", "storage"], _Path]
    preset: Literal["none", "hpcc"]
    warm_up: _Time

class FpgaRing(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared19, _Shared30, total=False):
    part: Literal["all", "rates", "resnet50", "training", "smart-nic"]

class GradientCodec(_Ns3, _Shared1, _Shared24, total=False):
    codec: Union[Literal["1-bit", "bf16", "block-float", "dgc", "ef-sign", "fp16", "fp8", "inceptionn", "int4", "int8", "natural", "omnireduce", "powersgd", "qsgd", "random-k", "signsgd", "terngrad", "thc", "threshold", "top-k", "truncation"], _Path]
    decode: bool
    input: _Text
    list: bool
    output: _Text
    repetitions: int

class InNetworkAggregation(_Ns3, _Shared1, _Shared2, _Shared27, total=False):
    jobs: int
    part: Literal["all", "switchml", "atp", "ring", "loss", "sharp", "jobs", "sums"]
    sum_bytes: _Bytes

class Inceptionn(_Ns3, _Shared1, _Shared2, total=False):
    part: Literal["all", "codec", "exchange", "scalability", "hierarchy", "training"]
    scale: int

class JobLife(_Ns3, _Shared1, _Shared15, _Shared35, total=False):
    checkpoint: _Text
    days: float
    drain: _Time
    gpus: int
    interval: _Text
    iteration: _Time
    lives: int
    load_time: _Text
    parameter_bytes: float
    parameters: float
    part: Literal["all", "life", "intervals", "published"]
    server_gpus: int

class JobValidation(_Ns3, _Shared1, _Shared2, _Shared37, total=False):
    part: Literal["all", "zero", "replicas", "mlperf", "torchtitan", "experts", "operations", "sockets"]

class MixedTraffic(_Ns3, _Shared1, _Shared2, _Shared3, _Shared5, _Shared6, _Shared26, _Shared27, _Shared39, total=False):
    client_link: Literal["point-to-point", "csma"]
    traffic: bool

class MultitreeAllreduce(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared19, _Shared30, _Shared37, total=False):
    part: Literal["all", "sizes", "networks", "interfaces", "scaling"]
    sides: _Text
    stop: Literal["any", "last"]
    topology: _List

class NcclTables(_Ns3, _Shared1, _Shared2, total=False):
    most: _Bytes

class SharedCluster(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared10, _Shared11, _Shared12, _Shared13, _Shared20, _Shared21, total=False):
    alone: bool
    job: _List
    jobs: _Text
    queue: Literal["fifo", "backfill"]

class SwitchBarrier(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared7, _Shared39, total=False):
    ...

class SwitchParameterServer(_Ns3, _Shared1, _Shared2, total=False):
    interval: _Time
    part: Literal["all", "statements", "exchange", "descent", "trace", "optimizer"]

class TcpBenchmark(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared27, _Shared30, total=False):
    congestion_control: _Text
    flows: int
    hops: int
    pairs: int

class TopologyCodesign(_Ns3, _Shared1, _Shared2, _Shared12, _Shared19, _Shared30, total=False):
    nodes: _Text
    part: Literal["all", "tables", "operations", "sizes", "training", "hardware"]

class TrainingJob(_Ns3, _Shared1, _Shared2, _Shared3, _Shared4, _Shared5, _Shared6, _Shared7, _Shared8, _Shared9, _Shared10, _Shared11, _Shared12, _Shared13, _Shared14, _Shared15, _Shared16, _Shared18, _Shared21, _Shared22, _Shared35, total=False):
    all_to_all: _Text
    attention: Literal["flash", "unfused"]
    bucket: _Bytes
    check: Union[Literal["false", "true", "strict"], bool]
    checkpoint: Literal["none", "blocking", "asynchronous"]
    checkpoint_bytes: Union[Literal["auto"], _Bytes]
    checkpoint_every: int
    collectives: Literal["simulate", "derive"]
    compute_jitter: Union[Literal["exponential", "lognormal", "none", "normal"], _Path]
    compute_scale: float
    context: int
    cp_comm_type: Literal["p2p", "a2a", "all_gather"]
    data: Union[Literal["auto"], int]
    delay_wgrad_compute: bool
    detection: _Time
    efficiency: float
    energy: Union[Literal["h100", "llmservingsim"], _Path]
    expect_parameters: float
    expert: int
    expert_node: Union[Literal["auto"], int]
    expert_skew: float
    expert_tensor: Union[Literal["auto"], int]
    export_goal: _Text
    fail: _List
    first_layers: Union[Literal["auto"], int]
    global_batch: Union[Literal["auto"], int]
    gradient_bytes: Union[Literal["auto"], int]
    gradient_priority: Literal["none", "layer"]
    hybrid_context: Union[Literal["auto"], int]
    iterations: int
    kernels: _Text
    last_layers: Union[Literal["auto"], int]
    lenient: bool
    micro_batch: int
    micro_batches: Literal["simulate", "derive"]
    model: Union[Literal["none", "deepseek-v3", "gpt3-13b", "gpt3-175b", "gpt3-6.7b", "llama3-405b", "llama3-70b", "llama3-8b", "megatron-1.7b", "megatron-1008b", "megatron-145.6b", "megatron-18.4b", "megatron-3.6b", "megatron-310.1b", "megatron-39.1b", "megatron-529.6b", "megatron-7.5b", "megatron-76.1b", "mixtral-8x7b", "mt-nlg-530b", "alexnet", "bert-large", "dlrm", "dlrm-hybrid-parallel", "file", "mlp-hybrid-parallel", "mlp-model-parallel", "resnet50", "vgg16"], _Path]
    moe_fp8_dispatch: bool
    moe_router_group_topk: Union[Literal["auto"], int]
    moe_shared_expert_overlap: bool
    mtp_layers: int
    order: _Text
    overlap: bool
    overlap_cost: _Text
    overlap_grad_reduce: bool
    overlap_p2p_communication: Union[Literal["auto", "true", "false"], bool]
    overlap_param_gather: bool
    param_gather: Literal["bf16", "fp8", "fp4"]
    payload: Literal["auto", "virtual", "real"]
    pipeline: int
    pipeline_layout: _Text
    pipeline_schedule: Union[Literal["1f1b", "dualpipev", "file", "gpipe", "interleaved", "looped-bfs", "zb1p", "zbv"], _Path]
    precision: Literal["bf16", "fp8", "fp4"]
    prefetch: int
    price_port_hour: float
    recompute: Union[Literal["full", "none", "selective"], _Path]
    reconfiguration: _Time
    repeat: Literal["simulate", "derive"]
    replicas: Literal["simulate", "derive"]
    reshard_after_forward: bool
    sample_lengths: _Text
    sequence: Union[Literal["auto"], int]
    sequence_parallel: bool
    shard: Union[Literal["auto"], int]
    straggler: _List
    summary: bool
    system: _Text
    tensor: int
    tp_comm_overlap: int
    zero: int
    zero_hpz_partition_size: Union[Literal["auto"], int]
    zero_quantized_gradients: bool
    zero_quantized_weights: bool
