/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RENAMED_OPTION_H
#define DISTRIBUTED_TRAINING_RENAMED_OPTION_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A former spelling of an option, or of an alternative of an option.
 */
struct RenamedOption
{
    std::string name;     ///< option, such as slots, or option and alternative: collective=tree
    std::string spelling; ///< new spelling; VALUE stands for the value
    std::string help;     ///< word of `--help=` that explains it

    /**
     * Refuses the former spelling.
     * @param option name of an option
     * @param value its value
     * @throw ConfigurationError if they are this spelling
     */
    void Check(const std::string& option, const std::string& value) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RENAMED_OPTION_H
