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
#include <fstream>
#include <string>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3::training
{

#ifdef __linux__
namespace
{

/** @return whether a process has ended, also if its own parent has not asked for its status yet */
bool
HasEnded(pid_t process)
{
    if (kill(process, 0) != 0 && errno == ESRCH)
    {
        return true;
    }
    // The state follows the name, which is in parentheses and may have others in it.
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto end = text.rfind(')');
    return end != std::string::npos && text.compare(end, 3, ") Z") == 0;
}

} // namespace
#endif

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
    if (HasEnded(static_cast<pid_t>(*parent)))
    {
        raise(SIGKILL);
    }
#endif
}

} // namespace ns3::training
