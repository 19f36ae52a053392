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

const Registry<MachineEntry>::Entry g_gb200Nvl72(
    "gb200-nvl72",
    {"rack of 72 GB200 in one NVLink domain, a port of 400 Gbit/s for each",
     72,
     {{"gpu", "gb200", "NVIDIA GB200 NVL72 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=7200Gbps,local-switches=18",
       "GB200 NVL72 datasheet: 18 NVLinks of 50 GB/s a direction; 9 trays of 2 NVSwitches"},
      {"rate", "400Gbps", "GB200 NVL72: a ConnectX-7 for each GPU"},
      {"transport", "rdma", "InfiniBand or RoCE"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "DGX SuperPOD GB200 reference architecture: adaptive routing"},
      {"host-model",
       "nccl:gpu=blackwell,copy-rate=6480Gbps",
       "calibrated copy-rate with the all-reduce of 512 MiB among 72 (coreweave/nccl-tests, pull "
       "request 43): 45 GB/s of an NVLink; Grace counts as intel"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
