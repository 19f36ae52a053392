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

const Registry<MachineEntry>::Entry g_a100Mesh4Sockets(
    "a100-mesh4-sockets",
    {"servers of 4 A100 without NVSwitch, joined by kernel TCP over one port of 200 Gbit/s",
     4,
     {{"gpu", "a100", "simllm, crossnode_collective_envelope_v1"},
      {"topology",
       "rail-optimized:gpus={gpus},local=mesh,local-rate=574Gbps,nics=1",
       "as a100-mesh4; one of 4 Slingshot ports is used"},
      {"rate", "200Gbps", "Slingshot: a port of 200 Gbit/s"},
      {"transport", "tcp", "NCCL over sockets"},
      {"host-model", "nccl-socket", "doc/validation.rst has the five rows that gave its constants"},
      {"collective", "nccl", "NCCL chooses"}}});

} // namespace

} // namespace ns3::training
