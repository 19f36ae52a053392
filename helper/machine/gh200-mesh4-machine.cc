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

const Registry<MachineEntry>::Entry g_gh200Mesh4(
    "gh200-mesh4",
    {"4 GH200 joined by NVLink between every two, without NVSwitch",
     4,
     {{"gpu", "h100", "GH200 has an H100"},
      {"topology",
       "rail-optimized:gpus={gpus},local=mesh,local-rate=861Gbps,nics=1",
       "6 NVLinks of 25 GB/s between two, by the share that a100-mesh4 reaches of its 4"},
      {"rate", "200Gbps", "Slingshot: a port of 200 Gbit/s"},
      {"transport", "rdma", "Slingshot"},
      {"path", "adaptive", "Slingshot routes adaptively"},
      {"host-model",
       "nccl:gpu=hopper,local-latency=0.6us,start=25.4us,start-low-latency=7.8us",
       "as a100-mesh4, whose rows gave them"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
