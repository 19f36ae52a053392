/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-algorithm.h"

#include "codec-choice.h"
#include "nic-helper.h"

#include "ns3/collective-algorithm.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/transport-entry.h"

#include <algorithm>
#include <memory>

namespace ns3::training
{

namespace
{

const Registry<NicAlgorithm>::Entry g_ring(
    "nic-ring",
    {"NICs execute `ring` packet by packet: each adds its own part and forwards the sum", "ring"});
const Registry<NicAlgorithm>::Entry g_chain(
    "nic-chain",
    {"NICs execute `chain` packet by packet: the FPGA ring all-reduce of NTT", "chain"});
const Registry<NicAlgorithm>::Entry g_bidirectionalRing(
    "nic-bidirectional-ring",
    {"NICs execute `bidirectional-ring` packet by packet", "bidirectional-ring"});
const Registry<NicAlgorithm>::Entry g_multiRing("nic-multi-ring",
                                                {"NICs execute `multi-ring` packet by packet",
                                                 "multi-ring"});
const Registry<NicAlgorithm>::Entry g_multitree(
    "nic-multitree",
    {"NICs execute `multitree` message by message, in the order of a schedule table (MULTITREE)",
     "multitree",
     {{"cut-through", "false"},
      {"lockstep", "estimate"},
      {"own-buffer", "0"},
      {"reception-buffer", "0"}}});
const Registry<NicAlgorithm>::Entry g_doubleBinaryTree(
    "nic-double-binary-tree",
    {"NICs execute `double-binary-tree` packet by packet", "double-binary-tree"});
const Registry<NicAlgorithm>::Entry g_hdrm("nic-hdrm",
                                           {"NICs execute `hdrm` packet by packet", "hdrm"});
const Registry<NicAlgorithm>::Entry g_ring2d("nic-ring-2d",
                                             {"NICs execute `ring-2d` packet by packet",
                                              "ring-2d"});
const Registry<NicAlgorithm>::Entry g_recursiveDoubling(
    "nic-recursive-doubling",
    {"NICs execute `recursive-doubling` packet by packet", "recursive-doubling"});

/** @return keys of the collective algorithm */
std::vector<Key>
GetAlgorithmKeys(const NicAlgorithm& entry)
{
    return GetKeys(Registry<CollectiveAlgorithm>::Find(entry.algorithm));
}

/** Refuses options that concern hosts only. */
void
CheckOptions(const ClusterOptions& options)
{
    const std::string with = " with " + options.algorithm + " (allowed: ";
    if (options.GetTransport().isStream && options.nic != CodecChoice::NONE)
    {
        throw ConfigurationError("nic",
                                 options.nic,
                                 " with collective " + options.algorithm +
                                     " over tcp (allowed: rdma or uec, or collectives of hosts, as "
                                     "each packet begins with the header of a message, which must "
                                     "not be coded)");
    }
    if (options.hostLatency.IsStrictlyPositive())
    {
        throw ConfigurationError("host latency",
                                 FormatTime(options.hostLatency),
                                 with + "0, as NICs send; see the key doorbell-latency)");
    }
    if (KeyValues::Split(options.hostModel).GetName() != "none")
    {
        throw ConfigurationError("host model", options.hostModel, with + "none)");
    }
    if (options.segments > 0)
    {
        throw ConfigurationError("segments",
                                 std::to_string(options.segments),
                                 with + "0, as a segment is a packet)");
    }
}

/** Refuses keys of a schedule table without one. */
void
CheckTableKeys(const KeyValues& values)
{
    for (const std::string key : {"table-entries", "interfaces"})
    {
        if (values.IsGiven(key) && values.GetText("lockstep") == "off")
        {
            throw ConfigurationError(values.GetName() + ": " + key + "=" + values.GetText(key) +
                                     " with lockstep=off (allowed: with lockstep=none, "
                                     "lockstep=estimate or lockstep=oracle, which use a schedule "
                                     "table)");
        }
    }
}

/** Refuses a size of sub-messages that nothing depends on. */
void
CheckSubMessageKey(const KeyValues& values)
{
    if (values.IsGiven("sub-message") && values.GetText("flow-control") == "none" &&
        values.GetText("lockstep") != "estimate")
    {
        throw ConfigurationError(
            values.GetName() + ": sub-message=" + values.GetText("sub-message") +
            " with flow-control=none and lockstep=" + values.GetText("lockstep") +
            " (allowed: with flow-control=packet or flow-control=message, "
            "which send sub-messages, or lockstep=estimate, which counts "
            "them)");
    }
}

/** Refuses head flits where they would not be whole, or not come back as they were sent. */
void
CheckHeads(const ClusterOptions& options, bool cutThrough, bool isFormatted)
{
    if (cutThrough)
    {
        throw ConfigurationError(options.algorithm +
                                 ": flow-control with cut-through=true (allowed: with "
                                 "cut-through=false, as a message has its head flits)");
    }
    if (isFormatted)
    {
        throw ConfigurationError(options.algorithm +
                                 ": flow-control with number-format of 16 bits (allowed: with "
                                 "float32)");
    }
    if (KeyValues::Split(options.nic).GetName() != "none")
    {
        throw ConfigurationError(options.algorithm + ": flow-control with nic " + options.nic +
                                 " (allowed: without codecs, which would code head flits as "
                                 "numbers)");
    }
}

} // namespace

std::vector<Key>
GetKeys(const NicAlgorithm& entry)
{
    std::vector<Key> keys = GetAlgorithmKeys(entry);
    keys.push_back(Key::Of(
        "cut-through",
        Key::Type::BOOLEAN,
        "true",
        "whether NICs add and forward each packet of a message as it comes; otherwise whole "
        "messages"));
    const auto ofEngine = GetAttributeKeys(NicCommunicator::GetTypeId());
    keys.insert(keys.end(), ofEngine.begin(), ofEngine.end());
    for (Key& key : keys)
    {
        const auto found = entry.defaults.find(key.name);
        key.initial = found == entry.defaults.end() ? key.initial : found->second;
    }
    return keys;
}

std::vector<std::string>
GetNotes(const NicAlgorithm& entry)
{
    std::string operations;
    for (CollectiveOperation operation :
         Registry<CollectiveAlgorithm>::Find(entry.algorithm).operations)
    {
        if (NicCommunicator::IsOffloaded(operation))
        {
            operations += (operations.empty() ? "" : ", ") + GetName(operation);
        }
    }
    return {"for " + operations + "; all other operations by the hosts"};
}

bool
IsInNic(const std::string& algorithm)
{
    return Registry<NicAlgorithm>::All().count(KeyValues::Split(algorithm).GetName()) > 0;
}

std::string
GetAlgorithmOfNic(const std::string& algorithm)
{
    const auto choice = Choose<NicAlgorithm>(algorithm);
    std::string text = choice.entry->algorithm;
    for (const Key& key : GetAlgorithmKeys(*choice.entry))
    {
        if (choice.values.IsGiven(key.name))
        {
            text += (text == choice.entry->algorithm ? ":" : ",") + key.name + "=" +
                    choice.values.GetText(key.name);
        }
    }
    return text;
}

NicCommunicators
InstallInNics(const ClusterOptions& options,
              const AttributeList& attributes,
              const Fabric& fabric,
              const std::vector<Ptr<ScheduledCommunicator>>& hosts,
              const ScheduledCommunicator::Planner& planner,
              const PacketSize& packet,
              const std::function<double(uint64_t rate)>& gain,
              uint64_t link,
              std::vector<std::string>& notes)
{
    CheckOptions(options);
    const auto choice = Choose<NicAlgorithm>(options.algorithm);
    CheckTableKeys(choice.values);
    CheckSubMessageKey(choice.values);
    AttributeList list;
    for (const Key& key : GetKeys(*choice.entry))
    {
        if (choice.entry->defaults.count(key.name) > 0 && !key.attribute.empty())
        {
            list.Set(key.attribute, key.initial);
        }
    }
    list.Add(choice.values.GetAttributes(GetKeys(*choice.entry)));
    list.Add(attributes);
    const auto sample = list.Create<NicCommunicator>();
    const bool isFormatted = sample->GetFormattedBytes(FLOAT_BYTES) < FLOAT_BYTES;
    if (isFormatted && options.nic != CodecChoice::NONE)
    {
        throw ConfigurationError("nic",
                                 options.nic,
                                 " with number-format of 16 bits in " + options.algorithm +
                                     " (allowed: one of both, as codecs code float32)");
    }
    NicCommunicators all;
    all.packets = std::make_shared<PacketPlanner>(
        planner,
        choice.values.GetBoolean("cut-through")
            ? packet.payload / sample->GetFormattedBytes(FLOAT_BYTES) * FLOAT_BYTES
            : 0);
    const auto oracles =
        Processes::GetCount() == 1
            ? std::make_shared<LockstepOracles>(static_cast<uint32_t>(hosts.size()))
            : nullptr;
    for (uint32_t rank = 0; rank < hosts.size(); rank++)
    {
        NicCommunicator::Lines lines;
        lines.count = static_cast<uint32_t>(fabric.rails[rank].size());
        lines.link = link;
        for (const auto& device : fabric.rails[rank])
        {
            lines.rate = std::max(lines.rate, device->GetPort().GetRate());
        }
        lines.gain = gain(lines.rate);
        lines.byteShare = 1 / (packet.GetGoodput() * lines.gain);
        auto communicator = list.Create<NicCommunicator>();
        communicator->Setup(
            hosts[rank],
            [packets = all.packets](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                return packets->Get(operation, bytes, root);
            },
            lines,
            oracles);
        communicator->CheckTable(*planner(CollectiveOperation::ALL_REDUCE, 0, 0));
        all.ranks.push_back(communicator);
    }
    const NicCommunicator& first = *all.ranks.front();
    if (first.HasHeads())
    {
        CheckHeads(options, choice.values.GetBoolean("cut-through"), isFormatted);
    }
    notes.push_back("engines of the NICs: " + std::to_string(first.GetLanes()) +
                    " adders each, up to " +
                    FormatRate(DataRate(static_cast<uint64_t>(first.GetAddRate()))));
    return all;
}

} // namespace ns3::training
