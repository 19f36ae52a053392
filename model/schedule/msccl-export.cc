/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/msccl-schedule.h"
#include "schedule/schedule-order.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <sstream>
#include <tuple>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** A buffer slot for a chunk: buffer (i, o or s) and offset. */
using Slot = std::pair<char, uint32_t>;

/** A step of a thread block. */
struct WrittenStep
{
    std::string type;
    Slot source{'i', 0};
    Slot target{'o', 0};
    uint32_t count{0};
    int64_t block{-1}; // thread block of the dependency
    int64_t step{-1};  // step of the dependency
    bool awaited{false};
};

/** A thread block: its send peer, receive peer, channel, and steps in order. */
struct WrittenBlock
{
    int64_t send;
    int64_t receive;
    uint32_t channel;
    std::vector<WrittenStep> steps;
};

/** The steps of one rank. */
struct WrittenGpu
{
    std::vector<WrittenBlock> blocks;
    std::map<std::tuple<bool, uint32_t, uint32_t>, uint32_t> find; // by isSend, peer, channel
    std::map<uint32_t, uint32_t> scratch;                          // scratch offset by chunk
    std::vector<std::pair<uint32_t, uint32_t>> end;                // per action: block, last step
};

/** Exports one schedule. */
class MscclExport
{
  public:
    explicit MscclExport(const CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_gpus(schedule.GetSize()),
          m_chunks(schedule.operation == Operation::ALL_TO_ALL
                       ? schedule.chunks / schedule.GetSize()
                       : schedule.chunks)
    {
    }

    std::string Write()
    {
        FindCollective();
        AssignScratch();
        const ScheduleOrder order = OrderSchedule(m_schedule);
        FindChannels(order);
        const bool rotated = m_schedule.GetStoredRanks() < m_schedule.GetSize();
        for (uint32_t rank = 0; rank < m_schedule.GetSize(); rank++)
        {
            m_gpus[rank].end.resize(m_schedule.GetStoredActions(rank));
            if (m_schedule.operation == Operation::ALL_TO_ALL)
            {
                const uint32_t parts = m_schedule.GetPartsOfPair();
                WrittenStep own{"cpy", {'i', rank * parts}, {'o', rank * parts}, parts};
                GetBlock(rank, false, rank, 0).steps.push_back(own);
            }
        }
        for (const auto& entry : order.entries)
        {
            for (uint32_t rank = rotated ? 0 : entry.rank;
                 rank < (rotated ? m_schedule.GetSize() : entry.rank + 1);
                 rank++)
            {
                AddAction(rank, entry.index);
            }
        }
        return Format();
    }

  private:
    void FindCollective()
    {
        static const std::map<Operation, std::string> names{
            {Operation::ALL_GATHER, "allgather"},
            {Operation::ALL_REDUCE, "allreduce"},
            {Operation::ALL_TO_ALL, "alltoall"},
            {Operation::BROADCAST, "broadcast"},
            {Operation::REDUCE, "reduce"},
            {Operation::REDUCE_SCATTER, "reduce_scatter"}};
        const auto name = names.find(m_schedule.operation);
        if (name == names.end())
        {
            throw ConfigurationError("MSCCL has no " + GetName(m_schedule.operation) +
                                     " (allowed: all-reduce, reduce-scatter, all-gather, "
                                     "broadcast, reduce, all-to-all)");
        }
        m_collective = name->second;
    }

    /**
     * Assigns a scratch slot to every chunk of a rank that is in neither its input nor its output
     * buffer.
     */
    void AssignScratch()
    {
        for (uint32_t rank = 0; rank < m_schedule.GetSize(); rank++)
        {
            auto& scratch = m_gpus[rank].scratch;
            const auto visit = [&](uint32_t number) {
                if (IsScratch(rank, number))
                {
                    scratch[number] = 0;
                }
            };
            for (uint32_t i = 0; i < m_schedule.GetStoredActions(rank); i++)
            {
                const ScheduleAction action = m_schedule.Get(rank, i);
                const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
                action.ForEachChunk([&](uint32_t number) {
                    visit(number);
                    if (local)
                    {
                        visit(GetOther(action, number));
                    }
                });
            }
            uint32_t offset = 0;
            for (auto& [number, place] : scratch)
            {
                place = offset++;
            }
        }
    }

    static uint32_t GetOther(const ScheduleAction& action, uint32_t number)
    {
        return number % action.chunks + action.peer * action.chunks;
    }

    bool IsScratch(uint32_t rank, uint32_t number) const
    {
        if (number >= m_schedule.chunks)
        {
            return true;
        }
        return m_schedule.operation == Operation::ALL_TO_ALL &&
               m_schedule.GetSource(number) != rank &&
               m_schedule.GetPromise(rank, number) == CollectiveSchedule::Promise::NOTHING;
    }

    Slot GetByteRange(uint32_t rank, uint32_t number) const
    {
        const auto scratch = m_gpus[rank].scratch.find(number);
        if (scratch != m_gpus[rank].scratch.end())
        {
            return {'s', scratch->second};
        }
        if (m_schedule.operation == Operation::ALL_GATHER)
        {
            return {'o', number};
        }
        if (m_schedule.operation == Operation::ALL_TO_ALL)
        {
            const uint32_t parts = m_schedule.GetPartsOfPair();
            const uint32_t source = m_schedule.GetSource(number);
            return source == rank ? Slot('i', m_schedule.GetTarget(number) * parts + number % parts)
                                  : Slot('o', source * parts + number % parts);
        }
        return {'i', number};
    }

    /**
     * Assigns each message to the first channel that preserves the message order at both ends: the
     * previous message of the channel is received before this one.
     */
    void FindChannels(const ScheduleOrder& order)
    {
        const bool rotated = m_schedule.GetStoredRanks() < m_schedule.GetSize();
        std::map<std::pair<uint32_t, uint32_t>, uint32_t>
            place; // position of each receive in the order
        for (uint32_t i = 0; i < order.entries.size(); i++)
        {
            place[{order.entries[i].rank, order.entries[i].index}] = i;
        }
        std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> last; // by pair, channel
        for (const auto& entry : order.entries)
        {
            const ScheduleAction action = m_schedule.Get(entry.rank, entry.index);
            if (action.kind != Kind::SEND)
            {
                continue;
            }
            const uint32_t received = place.at({rotated ? 0 : action.peer, entry.other});
            auto& channels = last[{entry.rank, action.peer}];
            const auto free = std::find_if(channels.begin(), channels.end(), [&](uint32_t before) {
                return before < received;
            });
            const auto channel = static_cast<uint32_t>(free - channels.begin());
            if (free == channels.end())
            {
                channels.push_back(received);
            }
            else
            {
                *free = received;
            }
            m_nChannels = std::max(m_nChannels, channel + 1);
            m_channels[{entry.rank, entry.index}] = channel;
            m_channels[{rotated ? 0 : action.peer, entry.other}] = channel;
            m_matches[{entry.rank, entry.index}] = entry.other;
            m_matches[{rotated ? 0 : action.peer, entry.other}] = entry.index;
        }
    }

    WrittenBlock& GetBlock(uint32_t rank, bool sends, uint32_t peer, uint32_t channel)
    {
        WrittenGpu& gpu = m_gpus[rank];
        const auto [found, isNew] =
            gpu.find.emplace(std::make_tuple(sends, peer, channel), gpu.blocks.size());
        if (isNew)
        {
            const bool local = peer == rank;
            gpu.blocks.push_back({local || !sends ? -1 : int64_t{peer},
                                  local || sends ? -1 : int64_t{peer},
                                  channel,
                                  {}});
        }
        return gpu.blocks[found->second];
    }

    void AddAction(uint32_t rank, uint32_t index)
    {
        WrittenGpu& gpu = m_gpus[rank];
        const ScheduleAction action = m_schedule.Get(rank, index);
        const uint32_t stored = m_schedule.GetStoredRanks() == 1 ? 0 : rank;
        const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
        const bool sends = action.kind == Kind::SEND;
        std::vector<Slot> sources;
        std::vector<Slot> targets;
        if (local)
        {
            action.ForEachChunk([&](uint32_t number) {
                sources.push_back(GetByteRange(rank, GetOther(action, number)));
                targets.push_back(GetByteRange(rank, number));
            });
        }
        else
        {
            const ScheduleAction other = m_schedule.Get(action.peer, m_matches.at({stored, index}));
            const auto mine = GetPlaces(rank, action);
            const auto theirs = GetPlaces(action.peer, other);
            sources = sends ? mine : theirs;
            targets = sends ? theirs : mine;
        }
        const uint32_t channel = local ? 0 : m_channels.at({stored, index});
        WrittenBlock& block = GetBlock(rank, sends, local ? rank : action.peer, channel);
        const auto me = static_cast<uint32_t>(&block - gpu.blocks.data());
        AddWaits(rank, index, me);
        static const char* const types[] = {"s", "r", "rrc", "cpy", "re"};
        for (std::size_t begin = 0; begin < sources.size();)
        {
            std::size_t end = begin + 1;
            while (end < sources.size() && IsNext(sources[end - 1], sources[end]) &&
                   IsNext(targets[end - 1], targets[end]))
            {
                end++;
            }
            WrittenStep step{types[static_cast<uint8_t>(action.kind)],
                             sources[begin],
                             targets[begin],
                             static_cast<uint32_t>(end - begin)};
            if (action.kind == Kind::RECEIVE_REDUCE)
            {
                step.source = step.target; // the partial sum
            }
            block.steps.push_back(step);
            begin = end;
        }
        PassWait(block);
        gpu.end[index] = {me, static_cast<uint32_t>(block.steps.size() - 1)};
    }

    std::vector<Slot> GetPlaces(uint32_t rank, const ScheduleAction& action) const
    {
        std::vector<Slot> places;
        action.ForEachChunk([&](uint32_t number) { places.push_back(GetByteRange(rank, number)); });
        return places;
    }

    static bool IsNext(const Slot& before, const Slot& place)
    {
        return place == Slot(before.first, before.second + 1);
    }

    /** Adds a nop for each other thread block that an action depends on. */
    void AddWaits(uint32_t rank, uint32_t index, uint32_t me)
    {
        WrittenGpu& gpu = m_gpus[rank];
        std::map<uint32_t, uint32_t> waits; // block, last step
        for (uint32_t before : m_schedule.GetDependencies(rank, index))
        {
            const auto [block, step] = gpu.end[before];
            if (block != me)
            {
                auto& last = waits.emplace(block, step).first->second;
                last = std::max(last, step);
            }
        }
        for (const auto& [block, step] : waits)
        {
            gpu.blocks[block].steps[step].awaited = true;
            WrittenStep wait{"nop"};
            wait.block = block;
            wait.step = step;
            gpu.blocks[me].steps.push_back(wait);
        }
        m_waits = waits.size();
    }

    /** Moves the dependency of the nop before an action to the first step of the action. */
    void PassWait(WrittenBlock& block) const
    {
        if (m_waits == 0)
        {
            return;
        }
        const auto nop = std::find_if(block.steps.rbegin(),
                                      block.steps.rend(),
                                      [](const WrittenStep& s) { return s.type == "nop"; });
        const auto first = nop.base();
        first->block = nop->block;
        first->step = nop->step;
        block.steps.erase(std::prev(first));
    }

    std::string Format() const
    {
        using boost::property_tree::ptree;
        const auto set = [](ptree& element, const std::string& key, const auto& value) {
            element.put("<xmlattr>." + key, value);
        };
        const uint32_t n = m_schedule.GetSize();
        ptree algorithm;
        set(algorithm, "name", m_schedule.algorithm);
        set(algorithm, "proto", CollectiveSchedule::GetProtocols()[m_schedule.protocol]);
        set(algorithm, "nchannels", m_nChannels);
        set(algorithm, "nchunksperloop", m_chunks);
        set(algorithm, "ngpus", n);
        set(algorithm, "coll", m_collective);
        set(algorithm, "inplace", m_schedule.operation == Operation::ALL_TO_ALL ? 0 : 1);
        if (HasRoot(m_schedule.operation))
        {
            set(algorithm, "root", m_schedule.root);
        }
        const bool gathers = m_schedule.operation == Operation::ALL_GATHER;
        const bool scatters = m_schedule.operation == Operation::REDUCE_SCATTER;
        for (uint32_t rank = 0; rank < n; rank++)
        {
            ptree gpu;
            set(gpu, "id", rank);
            set(gpu, "i_chunks", gathers ? m_chunks / n : m_chunks);
            set(gpu, "o_chunks", scatters ? m_chunks / n : m_chunks);
            set(gpu, "s_chunks", m_gpus[rank].scratch.size());
            uint32_t id = 0;
            for (const WrittenBlock& block : m_gpus[rank].blocks)
            {
                ptree tb;
                set(tb, "id", id++);
                set(tb, "send", block.send);
                set(tb, "recv", block.receive);
                set(tb, "chan", block.channel);
                uint32_t place = 0;
                for (const WrittenStep& step : block.steps)
                {
                    ptree element;
                    const bool nop = step.type == "nop";
                    set(element, "s", place++);
                    set(element, "type", step.type);
                    set(element, "srcbuf", std::string(1, step.source.first));
                    set(element, "srcoff", nop ? -1 : int64_t{step.source.second});
                    set(element, "dstbuf", std::string(1, step.target.first));
                    set(element, "dstoff", nop ? -1 : int64_t{step.target.second});
                    set(element, "cnt", step.count);
                    set(element, "depid", step.block);
                    set(element, "deps", step.step);
                    set(element, "hasdep", step.awaited ? 1 : 0);
                    tb.add_child("step", element);
                }
                gpu.add_child("tb", tb);
            }
            algorithm.add_child("gpu", gpu);
        }
        ptree document;
        document.add_child("algo", algorithm);
        std::ostringstream out;
        boost::property_tree::write_xml(
            out,
            document,
            boost::property_tree::xml_writer_settings<std::string>(' ', 2));
        return out.str() + "\n";
    }

    const CollectiveSchedule& m_schedule;
    std::string m_collective;
    std::vector<WrittenGpu> m_gpus;
    uint32_t m_chunks; // chunks of the whole vector; all-to-all: of the data of one rank
    uint32_t m_nChannels{1};
    std::size_t m_waits{0};                                       // dependencies of the action
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_channels; // channel by stored rank, action
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_matches;  // matching action by rank, action
};

} // namespace

std::string
WriteMscclSchedule(const CollectiveSchedule& schedule)
{
    return MscclExport(schedule).Write();
}

} // namespace ns3::training
