/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/memory.h"

#include "training-configuration-error.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/** @return the number at the start of a file; none if there is no such file or number */
std::optional<double>
ReadNumber(const std::string& path)
{
    double number = 0;
    std::ifstream file(path);
    return file >> number ? std::optional(number) : std::nullopt;
}

/** @return memory that the machine has available, bytes */
double
GetMachineMemory()
{
    std::ifstream file("/proc/meminfo");
    for (std::string name, unit; file >> name;)
    {
        double kibibytes = 0;
        file >> kibibytes;
        std::getline(file, unit);
        if (name == "MemAvailable:")
        {
            return 1024 * kibibytes;
        }
    }
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

} // namespace

double
GetAvailableMemory()
{
    double available = GetMachineMemory();
    const std::string group = "/sys/fs/cgroup/memory";
    for (const auto& [limit, usage] :
         {std::pair(group + ".max", group + ".current"),
          std::pair(group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes")})
    {
        const auto most = ReadNumber(limit);
        available = std::min(available,
                             most ? *most - ReadNumber(usage).value_or(0)
                                  : std::numeric_limits<double>::infinity());
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    {
        const double taken = ReadNumber("/proc/self/statm").value_or(0) *
                             static_cast<double>(sysconf(_SC_PAGE_SIZE));
        available = std::min(available, static_cast<double>(limit.rlim_cur) - taken);
    }
    return std::max(available, 0.0);
}

void
CheckMemory(double bytes, const std::string& what)
{
    const double available = GetAvailableMemory();
    if (bytes > available)
    {
        constexpr double GIBIBYTE = 1 << 30;
        char text[100];
        std::snprintf(text,
                      sizeof(text),
                      ": needs about %.3g GiB of memory (allowed: up to %.3g GiB, as available)",
                      bytes / GIBIBYTE,
                      available / GIBIBYTE);
        throw ConfigurationError(what + text);
    }
}

} // namespace ns3::training
