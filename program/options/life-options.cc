/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life-options.h"

#include "ns3/failure-model.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <limits>

namespace ns3::training
{

namespace
{

/** @throw ConfigurationError because an option has no use */
void
RefuseUnused(bool isGiven,
             const std::string& field,
             const std::string& value,
             const std::string& rest)
{
    if (isGiven)
    {
        throw ConfigurationError(field, value, rest);
    }
}

} // namespace

FirstValue
LifeOptions::GetFailureTime()
{
    return {"TIME", "time of the failure, with a unit", false, true, [](const std::string& text) {
                return ParseTime(text).has_value();
            }};
}

void
LifeOptions::AddTo(ProgramOptions& options)
{
    options.Group("Life");
    options.AddChoice("checkpoint",
                      "state that is saved: blocking, training waits until it is stored; "
                      "asynchronous, training waits for a copy in the memory of the hosts",
                      checkpoint,
                      {NONE, BLOCKING, ASYNCHRONOUS});
    options.AddUnsigned("checkpoint-every",
                        "iterations from checkpoint to checkpoint",
                        every,
                        1,
                        std::numeric_limits<uint32_t>::max());
    options.AddAutomatic({"checkpoint-bytes",
                          Key::Type::BYTES,
                          "of a checkpoint, in equal shares of the ranks; auto: 14 for each "
                          "parameter of the model",
                          "",
                          1,
                          1e18},
                         bytes);
    options.AddUnsigned("storage-hosts",
                        "hosts that store, behind those of the ranks; 0: each rank has a disk",
                        storageHosts,
                        0,
                        1 << 20);
    options.AddRate("storage-rate", "rate of the storage of such a host, or disk", storageRate);
    options.AddRate("snapshot-rate",
                    "rate of the copy of an asynchronous checkpoint, of each rank",
                    snapshotRate);
    options.AddKind("failures",
                    "failure-log",
                    "how often nodes fail, such as llama3:factor=1e6; empty: never",
                    failures,
                    &DescribeAlternatives<FailureLogEntry>);
    options.AddList(
        "fail",
        "TARGET:TIME,...: rank3:100ms, node1:2s or host3-switch0:100ms fails at this "
        "time; may be repeated",
        fail,
        AlternativeDescription{"TARGET",
                               "a rank such as rank3, a node such as node1, or a link such as "
                               "host3-switch0",
                               {},
                               {},
                               GetFailureTime()});
    options.AddUnsigned("spares", "nodes besides those of the job", spares, 0, 1 << 24);
    options.AddTime("repair", "from a failure until the node is a spare", repair);
    options.AddTime("detection", "from a failure until the job stops", detection);
    options.AddTime("rendezvous", "of a restart, before checkpoints are loaded", rendezvous);
}

void
LifeOptions::Check() const
{
    const LifeOptions usual;
    if (checkpoint != NONE && checkpoint != BLOCKING && checkpoint != ASYNCHRONOUS)
    {
        throw ConfigurationError("checkpoint",
                                 checkpoint,
                                 " (allowed: none, blocking, asynchronous)");
    }
    if (every == 0 || every > std::numeric_limits<uint32_t>::max())
    {
        throw ConfigurationError("checkpoint-every",
                                 std::to_string(every),
                                 " (allowed: 1 to " +
                                     std::to_string(std::numeric_limits<uint32_t>::max()) + ")");
    }
    if (storageRate.GetBitRate() == 0 || snapshotRate.GetBitRate() == 0)
    {
        throw ConfigurationError(storageRate.GetBitRate() == 0 ? "storage-rate" : "snapshot-rate",
                                 "0",
                                 " (allowed: more than 0)");
    }
    if (!HasCheckpoints())
    {
        const std::string rest = " without checkpoint (allowed: with checkpoint=blocking or "
                                 "asynchronous)";
        RefuseUnused(every != usual.every, "checkpoint-every", std::to_string(every), rest);
        RefuseUnused(bytes != usual.bytes, "checkpoint-bytes", FormatBytes(bytes), rest);
        RefuseUnused(storageHosts != usual.storageHosts,
                     "storage-hosts",
                     std::to_string(storageHosts),
                     rest);
        RefuseUnused(storageRate != usual.storageRate,
                     "storage-rate",
                     FormatRate(storageRate),
                     rest);
    }
    RefuseUnused(checkpoint != ASYNCHRONOUS && snapshotRate != usual.snapshotRate,
                 "snapshot-rate",
                 FormatRate(snapshotRate),
                 " with checkpoint " + checkpoint + " (allowed: with checkpoint=asynchronous)");
    if (!failures.empty())
    {
        MakeFailureModel(failures);
    }
    if (!HasFailures())
    {
        const std::string rest = " without failures (allowed: with failures or fail)";
        RefuseUnused(spares != usual.spares, "spares", std::to_string(spares), rest);
        RefuseUnused(repair != usual.repair, "repair", FormatTime(repair), rest);
        RefuseUnused(detection != usual.detection, "detection", FormatTime(detection), rest);
        RefuseUnused(rendezvous != usual.rendezvous, "rendezvous", FormatTime(rendezvous), rest);
    }
    for (const auto& [name, time] : {std::make_pair("repair", repair),
                                     std::make_pair("detection", detection),
                                     std::make_pair("rendezvous", rendezvous)})
    {
        if (time.IsStrictlyNegative() || time.GetSeconds() > MAX_SECONDS)
        {
            throw ConfigurationError(name,
                                     FormatTime(time),
                                     " (allowed: 0 to " + FormatDouble(MAX_SECONDS) + " s)");
        }
    }
}

std::string
LifeOptions::Describe(uint64_t checkpointBytes) const
{
    std::string text;
    if (HasCheckpoints())
    {
        text = checkpoint + " checkpoints of " + std::to_string(checkpointBytes) + " bytes each " +
               (every == 1 ? "iteration" : std::to_string(every) + " iterations") + ", " +
               (storageHosts == 0 ? "a disk at each rank"
                                  : FormatCount(storageHosts, "storage host")) +
               " of " + FormatRate(storageRate);
        text += checkpoint == ASYNCHRONOUS ? ", copies at " + FormatRate(snapshotRate) : "";
    }
    if (HasFailures())
    {
        std::string causes = failures;
        for (const std::string& one : fail)
        {
            causes += (causes.empty() ? "" : ", ") + one;
        }
        text += (text.empty() ? "" : "; ") + ("failures " + causes) + ", " +
                FormatCount(spares, "spare") + ", repair " + FormatTime(repair) + ", detection " +
                FormatTime(detection) + ", rendezvous " + FormatTime(rendezvous);
    }
    return text;
}

} // namespace ns3::training
