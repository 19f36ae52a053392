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

const Registry<MachineEntry>::Entry g_mi300x(
    "mi300x",
    {"8 MI300X joined by a link between every two, a port of 400 Gbit/s for each",
     8,
     {{"gpu", "mi300x", "AMD Instinct MI300X data sheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local=mesh,local-rate=512Gbps",
       "MI300X platform data sheet: 7 links of 64 GB/s a direction"},
      {"rate", "400Gbps", "servers with a NIC of 400 Gbit/s for each GPU"},
      {"transport", "rdma", "RoCE"},
      {"path", "adaptive", "RoCE fabrics of such clusters route adaptively"},
      {"host-model",
       "rccl:cpu=amd,copy-rate=2688Gbps",
       "AMD, Understanding RCCL bandwidth and xGMI performance: 48 GB/s of a link as copied; rccl, "
       "src/graph/tuning.cc: latencies and choices"},
      {"collective", "nccl", "RCCL chooses"}}});

} // namespace

} // namespace ns3::training
