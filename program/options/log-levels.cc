/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/log-levels.h"

#include "options/value-suggestion.h"

#include "ns3/log.h"
#include "ns3/training-configuration-error.h"

#include <boost/algorithm/string/join.hpp>
#include <map>
#include <vector>

namespace ns3::training
{

namespace
{

/// How the components of this module begin, whose logs are in every build.
const std::string OWN_PREFIX = "Training";

/// The build defines it if ns-3 itself has logs, too.
#ifdef DISTRIBUTED_TRAINING_NS3_LOGS
constexpr bool HAS_NS3_LOGS = true;
#else
constexpr bool HAS_NS3_LOGS = false;
#endif

const std::map<std::string, LogLevel> LEVELS{{"error", LOG_LEVEL_ERROR},
                                             {"warn", LOG_LEVEL_WARN},
                                             {"info", LOG_LEVEL_INFO},
                                             {"function", LOG_LEVEL_FUNCTION},
                                             {"logic", LOG_LEVEL_LOGIC},
                                             {"debug", LOG_LEVEL_DEBUG},
                                             {"all", LOG_LEVEL_ALL}};

} // namespace

void
EnableLog(const std::string& text)
{
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto level = LEVELS.find(equals == std::string::npos ? "" : text.substr(equals + 1));
    if (level == LEVELS.end())
    {
        throw ConfigurationError("--log=" + text +
                                 " (allowed: COMPONENT=LEVEL; levels: error, warn, info, function, "
                                 "logic, debug, all)");
    }
    std::vector<std::string> names;
    for (const auto& [component, log] : *LogComponent::GetComponentList())
    {
        const bool isOwn = component.rfind(OWN_PREFIX, 0) == 0;
        if (component == name || component == OWN_PREFIX + name)
        {
            if (!isOwn && !HAS_NS3_LOGS)
            {
                throw ConfigurationError("--log=" + text +
                                         ": this build of ns-3 has no logs (allowed: components of "
                                         "this module; of ns-3 with ns3w --ns3=wheel, too)");
            }
            const int prefixes = LOG_PREFIX_TIME | LOG_PREFIX_NODE | LOG_PREFIX_LEVEL;
            log->Enable(static_cast<LogLevel>(level->second | prefixes));
            return;
        }
        if (isOwn || HAS_NS3_LOGS)
        {
            names.push_back(isOwn ? component.substr(OWN_PREFIX.size()) : component);
        }
    }
    throw ConfigurationError("--log=" + text + SuggestNearest(name, names) +
                             " (allowed: " + boost::join(names, ", ") + ")");
}

} // namespace ns3::training
