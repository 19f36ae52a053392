/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-model.h"

namespace ns3::training
{

namespace
{

std::shared_ptr<const HostModel>
MakeNone(const HostModelRequest&)
{
    return nullptr;
}

const Registry<HostModelEntry>::Entry g_none("none",
                                             {"hosts take no time", &MakeNone, {}, false, true});

} // namespace

} // namespace ns3::training
