/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/lost-outputs.h"

#include <stdexcept>
#include <utility>

namespace ns3::training
{

namespace
{

std::function<void(const std::string&)> g_tell; // or null

} // namespace

void
LostOutputs::SetHandler(std::function<void(const std::string&)> tell)
{
    g_tell = std::move(tell);
}

bool
LostOutputs::Try(const std::function<void()>& write)
{
    try
    {
        write();
        return true;
    }
    catch (const std::runtime_error& error)
    {
        if (!g_tell)
        {
            throw;
        }
        g_tell(error.what());
        return false;
    }
}

} // namespace ns3::training
