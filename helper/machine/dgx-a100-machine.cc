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

const Registry<MachineEntry>::Entry g_dgxA100(
    "dgx-a100",
    {"8 A100 with NVSwitch, a port of 200 Gbit/s HDR InfiniBand for each",
     8,
     {{"gpu", "a100", "NVIDIA DGX A100 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=2400Gbps",
       "DGX A100 datasheet: 12 NVLinks of 25 GB/s a direction; 8 ConnectX-6"},
      {"rate", "200Gbps", "DGX A100 datasheet: HDR InfiniBand"},
      {"transport", "rdma", "InfiniBand"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "DGX SuperPOD reference architecture: adaptive routing"},
      {"host-model",
       "nccl:gpu=ampere,cpu=amd,copy-rate=1920Gbps",
       "nccl, src/graph/topo.h: 20.0 GB/s of an NVLink as copied; EPYC 7742"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
