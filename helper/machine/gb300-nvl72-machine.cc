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

const Registry<MachineEntry>::Entry g_gb300Nvl72(
    "gb300-nvl72",
    {"rack of 72 GB300 in one NVLink domain, a port of 800 Gbit/s for each",
     72,
     {{"gpu", "gb300", "NVIDIA GB300 NVL72 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=7200Gbps,local-switches=18",
       "GB300 NVL72 datasheet: 18 NVLinks of 50 GB/s a direction; 9 trays of 2 NVSwitches"},
      {"rate", "800Gbps", "NVIDIA NVL72 AI factory reference: a ConnectX-8 for each GPU"},
      {"transport", "rdma", "InfiniBand or RoCE"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "DGX SuperPOD GB300 reference architecture: adaptive routing"},
      {"host-model", "nccl:gpu=blackwell,copy-rate=6480Gbps", "as gb200-nvl72, whose row gave it"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
