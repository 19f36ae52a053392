/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WARNING_NAMES_H
#define DISTRIBUTED_TRAINING_WARNING_NAMES_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Names of warnings, by which --silence leaves them out.
 */
class WarningNames
{
  public:
    /** @param warning one line @return its name */
    static std::string Get(const std::string& warning);

    /** @param warning one line @return whether --silence has its name */
    static bool IsSilenced(const std::string& warning);

    /** @throw ConfigurationError if --silence has an unknown name */
    static void Check();

    /// Names to leave out, separated by commas.
    static inline std::string silenced;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WARNING_NAMES_H
