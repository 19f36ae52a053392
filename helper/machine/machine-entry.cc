/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "machine-entry.h"

#include <boost/algorithm/string/replace.hpp>

namespace ns3::training
{

namespace
{

constexpr const char* RANKS = "ranks-per-server";

} // namespace

std::vector<Key>
MachineEntry::GetMachineKeys()
{
    return {Key::Count(RANKS,
                       0,
                       0,
                       1024,
                       "GPUs of each server that take part, with a rank each; 0: all")};
}

std::vector<MachineEntry::Default>
MachineEntry::GetDefaults(const KeyValues& values) const
{
    const uint64_t ranks = values.GetCount(RANKS);
    auto all = defaults;
    for (Default& one : all)
    {
        boost::replace_all(one.value, "{gpus}", std::to_string(ranks > 0 ? ranks : gpus));
    }
    return all;
}

std::vector<std::string>
GetNotes(const MachineEntry& entry)
{
    std::vector<std::string> notes{"GPUs of a server: " + std::to_string(entry.gpus)};
    for (const auto& one : entry.defaults)
    {
        notes.push_back("--" + one.option + "=" + one.value + ": " + one.source);
    }
    return notes;
}

} // namespace ns3::training
