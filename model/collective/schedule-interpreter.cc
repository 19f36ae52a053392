/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-interpreter.h"

#include "ns3/log.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <deque>
#include <functional>
#include <map>
#include <tuple>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingScheduleInterpreter");

namespace
{

using Kind = ScheduleAction::Kind;

/** What a message is known by: sender, receiver, chunk, step. */
using MessageKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

std::string
Describe(uint32_t rank, const ScheduleAction& action)
{
    static const char* const verbs[] = {"sends to", "receives from", "receives and adds from"};
    return "rank " + std::to_string(rank) + ", step " + std::to_string(action.step) + ": " +
           verbs[static_cast<uint8_t>(action.kind)] + " rank " + std::to_string(action.peer) +
           " chunk " + std::to_string(action.chunk);
}

/**
 * Carries out the actions in some order that the schedule allows.
 * @param schedule whose actions
 * @param perform called for each; for a receive, with the content that was sent
 * @return a fault, or empty
 */
template <class Content>
std::string
Run(const CollectiveSchedule& schedule,
    const std::function<std::string(uint32_t rank, const ScheduleAction&, Content&)>& perform)
{
    std::map<MessageKey, Content> messages;
    std::map<MessageKey, uint32_t> waiting; // receives that wait: action index at the receiver
    std::vector<std::vector<uint32_t>> missing(schedule.GetSize()); // actions each waits for
    std::vector<std::vector<std::vector<uint32_t>>> next(schedule.GetSize());
    std::deque<std::pair<uint32_t, uint32_t>> ready;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        const auto& actions = schedule.ranks[rank];
        missing[rank].resize(actions.size());
        next[rank].resize(actions.size());
        for (uint32_t i = 0; i < actions.size(); i++)
        {
            if (actions[i].peer >= schedule.GetSize() || actions[i].peer == rank ||
                actions[i].chunk >= schedule.chunks)
            {
                return Describe(rank, actions[i]) + ", which does not exist";
            }
            missing[rank][i] = static_cast<uint32_t>(actions[i].after.size());
            for (uint32_t before : actions[i].after)
            {
                if (before >= i)
                {
                    return Describe(rank, actions[i]) + ", after an action that is not before it";
                }
                next[rank][before].push_back(i);
            }
            if (missing[rank][i] == 0)
            {
                ready.emplace_back(rank, i);
            }
        }
    }
    while (!ready.empty())
    {
        const auto [rank, index] = ready.front();
        ready.pop_front();
        const ScheduleAction& action = schedule.ranks[rank][index];
        Content content{};
        if (action.IsReceive())
        {
            const MessageKey key{action.peer, rank, action.chunk, action.step};
            const auto message = messages.find(key);
            if (message == messages.end())
            {
                if (!waiting.emplace(key, index).second)
                {
                    return Describe(rank, action) + " twice";
                }
                continue;
            }
            content = std::move(message->second);
            messages.erase(message);
        }
        const std::string fault = perform(rank, action, content);
        if (!fault.empty())
        {
            return fault;
        }
        if (!action.IsReceive())
        {
            const MessageKey key{rank, action.peer, action.chunk, action.step};
            if (!messages.emplace(key, std::move(content)).second)
            {
                return Describe(rank, action) + " twice";
            }
            const auto receiver = waiting.find(key);
            if (receiver != waiting.end())
            {
                ready.emplace_back(action.peer, receiver->second);
                waiting.erase(receiver);
            }
        }
        for (uint32_t i : next[rank][index])
        {
            if (--missing[rank][i] == 0)
            {
                ready.emplace_back(rank, i);
            }
        }
    }
    // A receive may wait only because its sender waits: look for the cause.
    for (const auto& [key, index] : waiting)
    {
        const auto& [from, rank, chunk, step] = key;
        const auto& theirs = schedule.ranks[from];
        const bool planned =
            std::any_of(theirs.begin(),
                        theirs.end(),
                        [to = rank, c = chunk, s = step](const ScheduleAction& action) {
                            return !action.IsReceive() && action.peer == to && action.chunk == c &&
                                   action.step == s;
                        });
        if (!planned)
        {
            return Describe(rank, schedule.ranks[rank][index]) + ", which is never sent";
        }
    }
    if (!waiting.empty())
    {
        const auto& [key, index] = *waiting.begin();
        const uint32_t rank = std::get<1>(key);
        return Describe(rank, schedule.ranks[rank][index]) + ", whose sending waits for this";
    }
    if (!messages.empty())
    {
        const auto& [from, to, chunk, step] = messages.begin()->first;
        return Describe(from, {Kind::SEND, to, chunk, step, {}}) + ", which is never received";
    }
    return "";
}

/** @return a fault if two actions of a rank touch one chunk, one writes it, and none is first */
std::string
CheckOrder(uint32_t rank, const std::vector<ScheduleAction>& actions)
{
    std::vector<boost::dynamic_bitset<>> before(actions.size());
    std::map<uint32_t, std::vector<uint32_t>> users; // per chunk
    for (uint32_t i = 0; i < actions.size(); i++)
    {
        before[i].resize(actions.size());
        for (uint32_t j : actions[i].after)
        {
            before[i] |= before[j];
            before[i].set(j);
        }
        for (uint32_t j : users[actions[i].chunk])
        {
            const bool writes = actions[i].IsReceive() || actions[j].IsReceive();
            if (writes && !before[i].test(j))
            {
                return Describe(rank, actions[i]) + ", in no order with step " +
                       std::to_string(actions[j].step) + " on the same chunk";
            }
        }
        users[actions[i].chunk].push_back(i);
    }
    return "";
}

} // namespace

std::string
VerifySchedule(const CollectiveSchedule& schedule)
{
    using Multiset = std::vector<uint16_t>; // how often each rank's contribution is in; empty: none
    const uint32_t n = schedule.GetSize();
    const bool parts = schedule.operation == CollectiveOperation::ALL_GATHER ||
                       schedule.operation == CollectiveOperation::REDUCE_SCATTER;
    if (n == 0 || schedule.chunks == 0 || (parts && n > 1 && schedule.chunks % n != 0))
    {
        return "the number of chunks (" + std::to_string(schedule.chunks) +
               ") is no multiple of the number of ranks (" + std::to_string(n) + ")";
    }
    const auto one = [n](uint32_t rank) {
        Multiset multiset(n);
        multiset[rank] = 1;
        return multiset;
    };
    std::vector<std::vector<Multiset>> state(n, std::vector<Multiset>(schedule.chunks));
    for (uint32_t rank = 0; rank < n; rank++)
    {
        for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
        {
            const bool has = schedule.operation == CollectiveOperation::BROADCAST
                                 ? rank == schedule.root
                                 : schedule.operation != CollectiveOperation::ALL_GATHER ||
                                       rank == schedule.GetOwner(chunk);
            if (has)
            {
                state[rank][chunk] = one(rank);
            }
        }
    }
    std::string fault = Run<Multiset>(
        schedule,
        [&](uint32_t rank, const ScheduleAction& action, Multiset& content) -> std::string {
            Multiset& mine = state[rank][action.chunk];
            switch (action.kind)
            {
            case Kind::SEND:
                if (mine.empty())
                {
                    return Describe(rank, action) + " before it has received it";
                }
                content = mine;
                break;
            case Kind::RECEIVE:
                mine = content;
                break;
            case Kind::RECEIVE_REDUCE:
                mine.resize(n);
                for (uint32_t i = 0; i < n; i++)
                {
                    mine[i] += content[i];
                    if (mine[i] > 1)
                    {
                        return Describe(rank, action) + " with rank " + std::to_string(i) +
                               "'s contribution a second time";
                    }
                }
                break;
            }
            return "";
        });
    for (uint32_t rank = 0; rank < n && fault.empty(); rank++)
    {
        fault = CheckOrder(rank, schedule.ranks[rank]);
    }
    for (uint32_t rank = 0; rank < n && fault.empty(); rank++)
    {
        for (uint32_t chunk = 0; chunk < schedule.chunks && fault.empty(); chunk++)
        {
            const uint32_t owner = parts ? schedule.GetOwner(chunk) : schedule.root;
            if (schedule.operation == CollectiveOperation::REDUCE_SCATTER && rank != owner)
            {
                continue;
            }
            const bool sum = schedule.operation == CollectiveOperation::ALL_REDUCE ||
                             schedule.operation == CollectiveOperation::REDUCE_SCATTER;
            if (state[rank][chunk] != (sum ? Multiset(n, 1) : one(owner)))
            {
                fault = "rank " + std::to_string(rank) + ", at the end: chunk " +
                        std::to_string(chunk) + " lacks a contribution";
            }
        }
    }
    return fault;
}

std::vector<std::vector<float>>
InterpretSchedule(const CollectiveSchedule& schedule, std::vector<std::vector<float>> inputs)
{
    const uint64_t bytes = inputs.empty() ? 0 : inputs[0].size() * sizeof(float);
    Run<std::vector<float>>(
        schedule,
        [&](uint32_t rank, const ScheduleAction& action, std::vector<float>& content) {
            const auto [begin, end] = schedule.GetRange(action.chunk, bytes);
            float* mine = inputs[rank].data() + begin / sizeof(float);
            const uint64_t length = (end - begin) / sizeof(float);
            switch (action.kind)
            {
            case Kind::SEND:
                content.assign(mine, mine + length);
                break;
            case Kind::RECEIVE:
                std::copy(content.begin(), content.end(), mine);
                break;
            case Kind::RECEIVE_REDUCE:
                for (uint64_t i = 0; i < length; i++)
                {
                    mine[i] += content[i];
                }
                break;
            }
            return std::string();
        });
    return inputs;
}

} // namespace ns3::training
