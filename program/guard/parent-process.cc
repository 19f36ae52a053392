/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/parent-process.h"

#include "ns3/training-quantity.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3::training
{

#ifdef __linux__
namespace
{

/** Flag in /proc/PID/stat of a process that ends: the kernel's PF_EXITING. */
constexpr unsigned EXITING = 0x4;

/**
 * @return whether a process has ended, also if its own parent has not asked for its status yet, or
 *         is about to end and may have given its children away already
 */
bool
HasEnded(pid_t process)
{
    if (kill(process, 0) != 0 && errno == ESRCH)
    {
        return true;
    }
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    // The name is in parentheses and may have others in it. After it come the state, the ids of the
    // parent, the process group, the session, the terminal and its process group, and the flags.
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    char state = ' ';
    int64_t ids[5];
    unsigned flags = 0;
    fields >> state >> ids[0] >> ids[1] >> ids[2] >> ids[3] >> ids[4] >> flags;
    return state == 'Z' || (flags & EXITING);
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
