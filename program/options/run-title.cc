/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/run-title.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/training-quantity.h"

#include <algorithm>

namespace ns3::training
{

std::string
DescribeDeviations(const ClusterOptions& options)
{
    const ClusterOptions usual;
    std::string text;
    const auto add = [&text](const std::string& name, const std::string& value) {
        text += ", " + name + " " + value;
    };
    if (options.loss > 0)
    {
        add("loss", FormatDouble(options.loss));
    }
    for (const std::string& fault : options.faults)
    {
        add("fault", fault);
    }
    for (const auto& [name, member] : {std::pair("path", &ClusterOptions::path),
                                       std::pair("recovery", &ClusterOptions::recovery),
                                       std::pair("codec", &ClusterOptions::codec),
                                       std::pair("nic", &ClusterOptions::nic),
                                       std::pair("background", &ClusterOptions::background)})
    {
        if (options.*member != usual.*member)
        {
            add(name, options.*member);
        }
    }
    if (RngSeedManager::GetRun() != 1)
    {
        add("run", std::to_string(RngSeedManager::GetRun()));
    }
    return text;
}

bool
HasRandomLosses(const ClusterOptions& options)
{
    return options.loss > 0 ||
           std::any_of(options.faults.begin(), options.faults.end(), [](const std::string& fault) {
               return fault.find("loss=") != std::string::npos ||
                      fault.find("reorder=") != std::string::npos;
           });
}

} // namespace ns3::training
