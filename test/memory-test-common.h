/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H

#include <fstream>
#include <string>

namespace ns3::training::tests
{

/** @return resident set of this process, MiB; 0 if unknown */
inline double
GetResident()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind("VmRSS:", 0) == 0)
        {
            return std::stod(line.substr(6)) / 1024;
        }
    }
    return 0;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H
