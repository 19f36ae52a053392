/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parent-process.h"

#include "ns3/training-quantity.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3::training
{

void
EndWithParent()
{
#ifdef __linux__
    const char* text = std::getenv("DISTRIBUTED_TRAINING_PARENT");
    const auto parent = text ? ParseUnsigned(text) : std::nullopt;
    if (!parent || *parent == 0)
    {
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have died before the call. A process between it and this one is a parent as well.
    if (kill(static_cast<pid_t>(*parent), 0) != 0 && errno == ESRCH)
    {
        raise(SIGKILL);
    }
#endif
}

} // namespace ns3::training
