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

const Registry<MachineEntry>::Entry g_a100Mesh4(
    "a100-mesh4",
    {"4 A100 joined by NVLink between every two, without NVSwitch",
     4,
     {{"gpu", "a100", "simllm, a100_hardware_envelope_v1"},
      {"topology",
       "rail-optimized:gpus={gpus},local=mesh,local-rate=574Gbps,nics=1",
       "4 NVLinks of 25 GB/s between two, 72 GB/s with traffic both ways, calibrated with the "
       "reduce-scatter of 1 GiB among 4 (NCCL 2.31, simllm, a100_hardware_envelope_v1)"},
      {"rate", "200Gbps", "Slingshot: a port of 200 Gbit/s"},
      {"transport", "rdma", "Slingshot"},
      {"path", "adaptive", "Slingshot routes adaptively"},
      {"host-model",
       "nccl:gpu=ampere,cpu=amd,local-latency=0.6us,start=25.4us,start-low-latency=7.8us",
       "NCCL 2.31 (simllm, a100_hardware_envelope_v1): calibrated local-latency with the "
       "all-reduce of 1 KiB among 4, start with the reduce-scatter of 4 MiB between 2, "
       "start-low-latency with that of 16 KiB among 4"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
