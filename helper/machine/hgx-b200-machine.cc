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

const Registry<MachineEntry>::Entry g_hgxB200(
    "hgx-b200",
    {"8 B200 with NVSwitch, a port of 400 Gbit/s NDR InfiniBand for each",
     8,
     {{"gpu", "b200", "NVIDIA HGX B200 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=7200Gbps",
       "HGX B200 datasheet: 18 NVLinks of 50 GB/s a direction"},
      {"rate", "400Gbps", "NVIDIA DGX B200 datasheet: 8 ConnectX-7"},
      {"transport", "rdma", "InfiniBand"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "DGX SuperPOD reference architecture: adaptive routing"},
      {"host-model",
       "nccl:gpu=blackwell,cpu=intel,copy-rate=5774.4Gbps",
       "nccl, src/graph/topo.h: 40.1 GB/s of an NVLink as copied; Xeon 8570"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
