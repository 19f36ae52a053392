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

const Registry<MachineEntry>::Entry g_ethernet10g(
    "ethernet-10g",
    {"servers with one GPU and a port of 10 Gbit/s, kernel TCP",
     1,
     {{"gpu", "v100", "the GPUs of such clusters"},
      {"topology", "single-switch", "one switch"},
      {"rate", "10Gbps", "IEEE 802.3ae"},
      {"transport", "tcp", "kernel TCP"},
      {"host-model",
       "nccl-socket",
       "measured with ports of 200 Gbit/s; the line is slower than a thread here"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
