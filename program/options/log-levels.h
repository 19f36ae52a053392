/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOG_LEVELS_H
#define DISTRIBUTED_TRAINING_LOG_LEVELS_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Makes a log component of ns-3 print, with the time and the node: the value of `--log`.
 * @param text COMPONENT=LEVEL: a component, also without the prefix "Training" of those of this
 *        module, and error, warn, info, function, logic, debug or all
 * @throw ConfigurationError if there is no such component or level, or if the build of ns-3 has no
 *        logs of that component
 */
void EnableLog(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOG_LEVELS_H
