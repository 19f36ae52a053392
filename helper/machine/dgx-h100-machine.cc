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

const Registry<MachineEntry>::Entry g_dgxH100(
    "dgx-h100",
    {"8 H100 with NVSwitch, a port of 400 Gbit/s NDR InfiniBand for each",
     8,
     {{"gpu", "h100", "NVIDIA DGX H100 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=3600Gbps",
       "DGX H100 datasheet: 18 NVLinks of 25 GB/s a direction; 8 ConnectX-7"},
      {"rate", "400Gbps", "DGX H100 datasheet: NDR InfiniBand"},
      {"transport", "rdma", "InfiniBand"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "DGX SuperPOD reference architecture: adaptive routing"},
      {"host-model",
       "nccl:gpu=hopper,cpu=intel,copy-rate=2966.4Gbps",
       "nccl, src/graph/topo.h: 20.6 GB/s of an NVLink as copied; Xeon 8480C"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
