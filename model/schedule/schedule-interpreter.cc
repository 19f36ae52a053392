/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/schedule-interpreter.h"

#include "chunk-store.h"
#include "schedule/schedule-order.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace ns3::training
{

std::vector<std::vector<float>>
InterpretSchedule(const CollectiveSchedule& schedule,
                  std::vector<std::vector<float>> inputs,
                  ByteMatrix matrix,
                  const MessageCoding& coding)
{
    using Kind = ScheduleAction::Kind;
    const ScheduleOrder order = OrderSchedule(schedule);
    if (!order.fault.empty())
    {
        throw ConfigurationError("algorithm " + schedule.algorithm + ": " + order.fault +
                                 " (allowed: algorithms whose schedules are right; --verify checks "
                                 "them for any number of ranks)");
    }
    const bool codes = coding.Codes(schedule.operation);
    const uint32_t n = schedule.GetSize();
    const uint64_t bytes = inputs.empty() ? 0 : inputs[0].size() * sizeof(float);
    const ChunkLayout layout(schedule, bytes, std::move(matrix));
    const auto round = [&](std::vector<float>& values) {
        std::vector<uint8_t> message(values.size() * sizeof(float));
        std::memcpy(message.data(), values.data(), message.size());
        coding.roundTrip(message, {});
        std::memcpy(values.data(), message.data(), message.size());
    };
    if (codes && coding.codesInputs)
    {
        std::for_each(inputs.begin(), inputs.end(), round);
    }
    std::vector<ChunkStore> stores;
    for (uint32_t rank = 0; rank < n; rank++)
    {
        stores.emplace_back(layout, rank, inputs[rank]);
    }
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint8_t>> messages; // by receiver, action
    const auto perform = [&](uint32_t rank, uint32_t index, uint32_t receive) {
        const ScheduleAction action = schedule.Get(rank, index);
        if (action.kind == Kind::SEND)
        {
            std::vector<uint8_t> message = stores[rank].Read(action);
            const MessagePlace place{rank, action.peer, action.step, action.message};
            if (codes && coding.codesOwner)
            {
                coding.roundTrip(message, place);
                stores[rank].Overwrite(action, message);
            }
            if (codes)
            {
                coding.roundTrip(message, place);
            }
            messages[{action.peer, receive}] = std::move(message);
        }
        else if (action.IsReceive())
        {
            const auto message = messages.find({rank, index});
            stores[rank].Receive(action, message->second);
            messages.erase(message);
        }
        else
        {
            stores[rank].Copy(action);
        }
    };
    for (uint32_t segment = 0; segment < schedule.segments; segment++)
    {
        for (const auto& entry : order.entries)
        {
            const bool all = schedule.GetStoredRanks() < n;
            for (uint32_t rank = all ? 0 : entry.rank; rank <= (all ? n - 1 : entry.rank); rank++)
            {
                const ScheduleAction action = schedule.Get(rank, entry.index);
                const uint32_t mine = segment * schedule.GetStoredActions(rank);
                const uint32_t theirs = action.kind == Kind::SEND
                                            ? segment * schedule.GetStoredActions(action.peer)
                                            : 0;
                perform(rank, mine + entry.index, theirs + entry.other);
            }
        }
    }
    for (ChunkStore& store : stores)
    {
        store.Finish();
    }
    for (std::vector<float>& values : inputs)
    {
        if (codes && coding.codesOwner && schedule.operation == CollectiveOperation::ALL_REDUCE &&
            !values.empty())
        {
            round(values);
        }
    }
    return inputs;
}

} // namespace ns3::training
