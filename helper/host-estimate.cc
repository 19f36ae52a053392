/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-estimate.h"

#include "ns3/training-key-values.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

HostEstimate
Estimate(const HostModel& model,
         const std::vector<uint32_t>& hosts,
         const CollectiveSchedule& schedule,
         uint64_t bytes)
{
    const HostCost cost = model.GetCost(schedule, bytes);
    const auto getHost = [&](uint32_t rank) { return hosts.empty() ? rank : hosts[rank]; };
    const double share =
        CollectiveCost::GetShare(schedule) * static_cast<double>(bytes) / schedule.segments;
    std::map<uint32_t, Time> hops;                                       // by step
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, double> channels; // rank, peer, lane
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (!action.IsReceive())
            {
                continue;
            }
            const bool isLocal = model.IsLocal(getHost(rank), getHost(action.peer));
            Time& hop = hops[action.step];
            hop = std::max(hop, isLocal ? cost.localHop : cost.remoteHop);
            uint64_t chunks = 0;
            for (const ChunkRun* run = action.first; run != action.last; run++)
            {
                chunks += run->count;
            }
            const double size = share * static_cast<double>(chunks);
            double seconds =
                size * (isLocal ? cost.localSecondsPerByte
                                : std::max(cost.remoteSecondsPerByte, cost.sendSecondsPerByte));
            if (!isLocal)
            {
                const auto slots = static_cast<int64_t>(size / static_cast<double>(cost.slotBytes));
                const auto windows =
                    static_cast<int64_t>(size / static_cast<double>(cost.windowBytes));
                seconds += (cost.perMessage + cost.perSlot * slots + cost.perWindow * windows)
                               .GetSeconds();
            }
            const bool isCommon = cost.hasCommonChannel && !isLocal;
            channels[{rank,
                      isCommon ? rank : action.peer,
                      isCommon ? 0 : action.message % schedule.GetLanes()}] +=
                seconds * schedule.segments;
        }
    }
    HostEstimate estimate;
    estimate.wireFactor = cost.wireFactor;
    estimate.seconds = cost.start.GetSeconds();
    for (const auto& [step, hop] : hops)
    {
        estimate.seconds += hop.GetSeconds();
    }
    for (const auto& [channel, seconds] : channels)
    {
        estimate.channel = std::max(estimate.channel, seconds);
    }
    return estimate;
}

/** @return names of the algorithms of the hosts' library, without keys */
std::vector<std::string>
ListAlgorithms(const HostModel& model, CollectiveOperation operation)
{
    constexpr uint64_t LARGE = 1 << 30;
    std::set<std::string> names;
    for (const uint64_t bytes : {uint64_t{1}, LARGE})
    {
        for (const LibraryPlan& plan : model.GetLibraryPlans(operation, bytes))
        {
            names.insert(KeyValues::Split(plan.algorithm).GetName());
        }
    }
    if (names.count("multi-ring") > 0)
    {
        names.insert("ring"); // one of them
    }
    return {names.begin(), names.end()};
}

} // namespace

HostQuestions
AnswerForHosts(std::shared_ptr<const HostModel> model, std::vector<uint32_t> hosts)
{
    if (!model)
    {
        return {};
    }
    HostQuestions questions;
    questions.estimate = [model, hosts = std::move(hosts)](const CollectiveSchedule& schedule,
                                                           uint64_t bytes) {
        return Estimate(*model, hosts, schedule, bytes);
    };
    questions.listAlgorithms = [model](CollectiveOperation operation) {
        return ListAlgorithms(*model, operation);
    };
    return questions;
}

} // namespace ns3::training
