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

const Registry<MachineEntry>::Entry g_nvl144(
    "nvl144",
    {"Vera Rubin NVL144: 72 Rubin of two dies in one NVLink domain, two ports of 800 Gbit/s for "
     "each",
     72,
     {{"gpu", "vr200", "NVIDIA Vera Rubin NVL72 datasheet, its later name"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=14400Gbps,local-switches=36",
       "NVIDIA, CES 2026: NVLink 6, 3.6 TB/s of a GPU in both directions; 9 trays of 4 switches"},
      {"rate", "1600Gbps", "NVIDIA, CES 2026: two ConnectX-9 of 800 Gbit/s for a GPU, as one link"},
      {"transport", "rdma", "InfiniBand or RoCE"},
      {"congestion-control",
       "none",
       "InfiniBand has credits; congestion control is off by default (opensm)"},
      {"path", "adaptive", "Quantum-X800 and Spectrum-X route adaptively"},
      {"host-model", "nccl:gpu=blackwell", "NCCL has no tuning of Rubin yet: that of Blackwell"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
