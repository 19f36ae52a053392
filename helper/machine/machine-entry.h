/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MACHINE_ENTRY_H
#define DISTRIBUTED_TRAINING_MACHINE_ENTRY_H

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A machine that can be bought or rented, registered by name in Registry<MachineEntry>: defaults of
 * options, each with the source of its numbers.
 */
struct MachineEntry
{
    /** A default of an option. */
    struct Default
    {
        std::string option; ///< its name, without dashes; programs without it leave it out
        std::string value;  ///< as on the command line; {gpus} stands for the GPUs of a server
        std::string source; ///< of its numbers; calibrated ones name the row that gave them
    };

    static constexpr const char* KIND = "machine"; ///< for messages
    std::string help;                              ///< one line
    uint32_t gpus{1};                              ///< GPUs of a server
    std::vector<Default> defaults;                 ///< by option
    std::vector<Key> keys{GetMachineKeys()};       ///< those of all machines

    /** @return the keys that all machines have */
    static std::vector<Key> GetMachineKeys();

    /**
     * @param values keys of the machine, checked
     * @return the defaults, with the GPUs of a server filled in
     */
    std::vector<Default> GetDefaults(const KeyValues& values) const;
};

/**
 * @ingroup distributed-training-helper
 * @param entry a machine
 * @return its GPUs a server, its defaults and their sources, one line each, for help
 */
std::vector<std::string> GetNotes(const MachineEntry& entry);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MACHINE_ENTRY_H
