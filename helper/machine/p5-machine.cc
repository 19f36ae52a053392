/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "machine-entry.h"

namespace ns3::training
{

namespace
{

const Registry<MachineEntry>::Entry g_p5(
    "p5",
    {"AWS p5.48xlarge: 8 H100 with NVSwitch, 32 EFA ports of 100 Gbit/s",
     8,
     {{"gpu", "h100", "AWS, EC2 P5 instances"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=3600Gbps",
       "AWS: 900 GB/s of NVLink, both directions"},
      {"rate", "400Gbps", "AWS: 3200 Gbit/s of EFA for 8 GPUs"},
      {"transport", "rdma", "EFA: reliable datagrams"},
      {"congestion-control", "none", "EFA controls congestion itself, and sprays"},
      {"path", "spray", "EFA: SRD sprays packets over paths (Shalev et al., IEEE Micro 2020)"},
      {"host-model",
       "nccl:gpu=hopper,tuner=ofi-p5,copy-rate=2966.4Gbps,network-latency=69us,credit-latency=20us,"
       "declared-latency=75us,message-overhead=6us,chunk-overhead=1.9us,buffer=8MiB,exchange-chunk="
       "512KiB,switch-chunk=512KiB,switch-tree-chunk=512KiB",
       "aws-ofi-nccl: src/tuner (choices; 20 us for 8 bytes), src/platform-aws.cpp (75 us, "
       "buffers, chunks); nccl, src/graph/topo.h: 20.6 GB/s an NVLink; calibrated with "
       "aws-gpu-communication-benchmark: network-latency with the all-gather of 64 MiB on 8 nodes, "
       "message-overhead with the all-to-all of 128 MiB on 16, chunk-overhead with that of 2 GiB "
       "on 2"},
      {"collective", "nccl", "NCCL chooses, as the plugin tells it"}}});

} // namespace

} // namespace ns3::training
