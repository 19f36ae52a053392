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

// A rack in all: NVIDIA, GTC 2025, keynote of March 18 (Rubin Ultra NVL576), rounded there.
const Registry<MachineEntry>::Entry g_nvl576(
    "nvl576",
    {"Rubin Ultra NVL576: 144 Rubin Ultra of four dies in one NVLink domain, ports of 3200 Gbit/s "
     "in all for each",
     144,
     {{"gpu", "rubin-ultra", "NVIDIA, GTC 2025"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=41666Gbps,local-switches=72",
       "NVIDIA, GTC 2025: NVLink 7, 1.5 PB/s of a rack in both directions; its switches are not "
       "published: as many for a GPU as in nvl144"},
      {"rate", "3200Gbps", "NVIDIA, GTC 2025: CX9, 115.2 TB/s of a rack in both directions"},
      {"transport", "rdma", "InfiniBand or RoCE"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "as nvl144"},
      {"host-model", "nccl:gpu=blackwell", "NCCL has no tuning of Rubin yet: that of Blackwell"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
