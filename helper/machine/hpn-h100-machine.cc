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

const Registry<MachineEntry>::Entry g_hpnH100(
    "hpn-h100",
    {"8 H100 with NVSwitch, a port of 400 Gbit/s RoCE for each, as SimAI measured",
     8,
     {{"gpu", "h100", "NVIDIA DGX H100 datasheet"},
      {"topology",
       "rail-optimized:gpus={gpus},local-rate=3600Gbps",
       "DGX H100 datasheet: 18 NVLinks of 25 GB/s a direction; 8 ConnectX-7"},
      {"rate", "400Gbps", "SimAI, NSDI 2025: 8 ports of 400 Gbit/s a server"},
      {"transport", "rdma", "RoCE"},
      {"path",
       "adaptive",
       "HPN, SIGCOMM 2024: paths are balanced; no collisions in SimAI's tables"},
      {"host-model",
       "nccl:gpu=hopper,cpu=intel,copy-rate=2966.4Gbps,protocol=simple,between-servers=ring",
       "SimAI's peak of 388 GB/s is that of rings, 8 x 50 GB/s less headers; Simple by the "
       "all-reduce of 16 MiB on 2 servers; nccl, src/graph/topo.h: 20.6 GB/s of an NVLink as "
       "copied"},
      {"collective", "nccl", "NCCL chooses, within a server"}}});

} // namespace

} // namespace ns3::training
