/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-schedule.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveSchedule");

uint32_t
CollectiveSchedule::Add(uint32_t rank,
                        ScheduleAction::Kind kind,
                        uint32_t peer,
                        uint32_t chunk,
                        uint32_t step,
                        std::vector<uint32_t> after)
{
    ranks[rank].push_back({kind, peer, chunk, step, std::move(after)});
    return static_cast<uint32_t>(ranks[rank].size() - 1);
}

std::pair<uint64_t, uint64_t>
CollectiveSchedule::GetRange(uint32_t chunk, uint64_t bytes) const
{
    const uint64_t unit = bytes % 4 == 0 ? 4 : 1;
    const uint64_t elements = bytes / unit;
    // elements * chunk / chunks without the product, which may not fit into 64 bits
    const auto border = [&](uint64_t c) {
        return (elements / chunks * c + elements % chunks * c / chunks) * unit;
    };
    return {border(chunk), border(uint64_t{chunk} + 1)};
}

void
CollectiveSchedule::FillNext()
{
    for (auto& actions : ranks)
    {
        for (ScheduleAction& action : actions)
        {
            action.next.clear();
        }
        for (uint32_t i = 0; i < actions.size(); i++)
        {
            for (uint32_t before : actions[i].after)
            {
                actions[before].next.push_back(i);
            }
        }
    }
}

uint32_t
CollectiveSchedule::GetSteps() const
{
    uint32_t steps = 0;
    for (const auto& actions : ranks)
    {
        for (const ScheduleAction& action : actions)
        {
            steps = std::max(steps, action.step + 1);
        }
    }
    return steps;
}

} // namespace ns3::training
