/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/memory.h"
#include "schedule/chunk-numbers.h"
#include "schedule/msccl-program.h"
#include "schedule/msccl-schedule.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;
using Place = MscclPlace;

/// Pseudo-buffer for chunks that are received, reduced and forwarded without being stored; one slot
/// per thread block.
constexpr char TEMPORARY = 't';

/// Memory for a chunk of a GPU: nodes of the maps of Gpu.
constexpr double BYTES_PER_CHUNK = 300;

/** Execution state of a thread block. */
struct Block
{
    /** The result of a step. */
    struct Done
    {
        std::vector<uint32_t> last; // final actions of the step
        uint32_t depth{0};          // length of the message chain that leads to it
    };

    uint32_t gpu;
    uint32_t number;
    const MscclBlock& program;
    std::vector<Done> done; // results of the executed steps
};

/** A message in flight between two GPUs on a channel. */
struct Message
{
    std::vector<uint32_t> chunks;
    uint32_t step;
    uint32_t number;
};

/** The buffers of a GPU. */
struct Gpu
{
    std::map<uint32_t, Block> blocks;                      // by id
    std::map<Place, uint32_t> holds;                       // chunk by slot
    std::map<std::pair<Place, uint32_t>, uint32_t> copies; // copy number of a chunk by slot
    std::map<uint32_t, uint32_t> used;                     // number of copies by chunk
};

/** Builds the schedule of a program by executing it. */
class MscclImport
{
  public:
    explicit MscclImport(const std::string& name)
        : m_name(name)
    {
    }

    CollectiveSchedule Import(const std::string& text)
    {
        m_program = ReadMscclProgram(text, m_name);
        const auto n = static_cast<uint32_t>(m_program.gpus.size());
        const bool pairs = m_program.operation == Operation::ALL_TO_ALL;
        m_schedule.algorithm = m_program.name;
        m_schedule.operation = m_program.operation;
        m_schedule.protocol = m_program.protocol;
        m_schedule.root = m_program.root;
        m_schedule.chunks = m_program.chunks * (pairs ? n : 1);
        m_schedule.Resize(n);
        CheckMemory(BYTES_PER_CHUNK * n * m_schedule.chunks,
                    m_name + ": " + std::to_string(m_schedule.chunks) + " chunks on " +
                        std::to_string(n) + " gpus");
        m_gpus.resize(n);
        for (uint32_t id = 0; id < n; id++)
        {
            for (const auto& [number, block] : m_program.gpus[id].blocks)
            {
                m_gpus[id].blocks.emplace(number, Block{id, number, block, {}});
            }
        }
        PlaceChunks();
        CarryOut();
        CollectOutputs();
        m_schedule.Close(false);
        return std::move(m_schedule);
    }

  private:
    /** @return the actual slot: if the program is in place, output slots are input slots */
    Place Resolve(uint32_t gpu, Place place) const
    {
        const uint32_t part = gpu * (m_program.chunks / static_cast<uint32_t>(m_gpus.size()));
        if (m_program.inPlace && m_program.operation == Operation::ALL_GATHER &&
            place.buffer == 'i')
        {
            return {'o', place.offset + part};
        }
        if (m_program.inPlace && place.buffer == 'o' &&
            m_program.operation != Operation::ALL_GATHER)
        {
            const bool scatters = m_program.operation == Operation::REDUCE_SCATTER;
            return {'i', place.offset + (scatters ? part : 0)};
        }
        return place;
    }

    /** @return the chunks of a buffer at the start (input) or the end (output), in order */
    std::vector<uint32_t> GetContent(uint32_t gpu, bool input) const
    {
        const auto n = static_cast<uint32_t>(m_gpus.size());
        const uint32_t parts =
            std::max<uint32_t>(1, m_program.chunks / n); // chunks per pair in an all-to-all
        std::vector<uint32_t> content;
        for (uint32_t i = 0; i < m_program.chunks; i++)
        {
            const uint32_t peer = i / parts;
            switch (m_program.operation)
            {
            case Operation::ALL_TO_ALL:
                content.push_back(
                    (input ? gpu * n + (peer + n - gpu) % n : peer * n + (gpu + n - peer) % n) *
                        parts +
                    i % parts);
                break;
            case Operation::ALL_GATHER:
            case Operation::REDUCE_SCATTER:
                if (input == (m_program.operation == Operation::REDUCE_SCATTER) ||
                    m_schedule.GetOwner(i) == gpu)
                {
                    content.push_back(i);
                }
                break;
            default:
                if (input ? m_schedule.HasAtStart(gpu, i)
                          : m_schedule.GetPromise(gpu, i) != CollectiveSchedule::Promise::NOTHING)
                {
                    content.push_back(i);
                }
            }
        }
        return content;
    }

    /** Assigns copy 0 of each chunk to its initial slot or, if there is none, to its final slot. */
    void PlaceChunks()
    {
        for (uint32_t id = 0; id < m_gpus.size(); id++)
        {
            Gpu& gpu = m_gpus[id];
            for (bool input : {true, false})
            {
                uint64_t offset = 0;
                for (uint32_t chunk : GetContent(id, input))
                {
                    const Place place = Resolve(id, {input ? 'i' : 'o', offset++});
                    if (gpu.used.emplace(chunk, 1).second)
                    {
                        gpu.copies[{place, chunk}] = 0;
                    }
                    if (input)
                    {
                        gpu.holds[place] = chunk;
                    }
                }
            }
        }
    }

    /** @return chunk number of the copy in a slot */
    uint32_t GetNumber(uint32_t id, Place place, uint32_t chunk)
    {
        Gpu& gpu = m_gpus[id];
        const auto [found, isNew] = gpu.copies.emplace(std::pair(place, chunk), 0);
        if (isNew)
        {
            found->second = gpu.used[chunk]++;
            if (found->second >= CollectiveSchedule::MAX_COPIES)
            {
                throw ConfigurationError(m_name + ": gpu " + std::to_string(id) + " keeps " +
                                         std::to_string(found->second + 1) + " copies of chunk " +
                                         std::to_string(chunk) + " (allowed: up to " +
                                         std::to_string(CollectiveSchedule::MAX_COPIES) + ")");
            }
        }
        return found->second * m_schedule.chunks + chunk;
    }

    std::vector<uint32_t> GetNumbers(uint32_t id, Place place, const std::vector<uint32_t>& chunks)
    {
        std::vector<uint32_t> numbers;
        for (uint32_t chunk : chunks)
        {
            numbers.push_back(GetNumber(id, Resolve(id, place), chunk));
            place.offset++;
        }
        return numbers;
    }

    std::vector<uint32_t> GetHeld(uint32_t id, Place place, const MscclStep& step) const
    {
        std::vector<uint32_t> chunks;
        for (uint32_t i = 0; i < step.count; i++, place.offset++)
        {
            const auto held = m_gpus[id].holds.find(Resolve(id, place));
            if (held == m_gpus[id].holds.end())
            {
                throw ConfigurationError(step.where + ": there is nothing yet in " + place.buffer +
                                         "[" + std::to_string(place.offset) + "]");
            }
            chunks.push_back(held->second);
        }
        return chunks;
    }

    void Hold(uint32_t id, Place place, const std::vector<uint32_t>& chunks)
    {
        for (uint32_t chunk : chunks)
        {
            m_gpus[id].holds[Resolve(id, place)] = chunk;
            place.offset++;
        }
    }

    /** Appends actions that move chunks between slots of a GPU. @return the actions */
    std::vector<uint32_t> AddLocal(Kind kind,
                                   uint32_t id,
                                   uint32_t depth,
                                   const std::vector<uint32_t>& from,
                                   const std::vector<uint32_t>& to,
                                   const std::vector<uint32_t>& after)
    {
        std::map<uint32_t, std::vector<uint32_t>> byCopy; // by copy number of the source
        for (std::size_t i = 0; i < from.size(); i++)
        {
            if (from[i] != to[i])
            {
                byCopy[from[i] / m_schedule.chunks].push_back(to[i]);
            }
        }
        std::vector<uint32_t> actions;
        for (const auto& [copy, numbers] : byCopy)
        {
            actions.push_back(
                m_schedule
                    .Add(id, kind, copy, MakeChunkList(numbers, m_schedule.chunks), depth, after));
        }
        return actions.empty() ? after : actions;
    }

    bool IsReady(const Block& block) const
    {
        const MscclStep& step = block.program.steps[block.done.size()];
        if (step.receives)
        {
            const auto queue =
                m_messages.find({*block.program.receive, block.gpu, block.program.channel});
            if (queue == m_messages.end() || queue->second.empty())
            {
                return false;
            }
        }
        return !step.block || m_gpus[block.gpu].blocks.at(*step.block).done.size() > step.step;
    }

    void CarryOut()
    {
        bool progress = true;
        while (progress)
        {
            progress = false;
            for (Gpu& gpu : m_gpus)
            {
                for (auto& [number, block] : gpu.blocks)
                {
                    while (block.done.size() < block.program.steps.size() && IsReady(block))
                    {
                        block.done.push_back(CarryOut(block));
                        progress = true;
                    }
                }
            }
        }
        for (const Gpu& gpu : m_gpus)
        {
            for (const auto& [number, block] : gpu.blocks)
            {
                if (block.done.size() < block.program.steps.size())
                {
                    throw ConfigurationError(
                        block.program.steps[block.done.size()].where +
                        ": deadlock: waits for a message or step that never completes");
                }
            }
        }
        for (const auto& [key, queue] : m_messages)
        {
            if (!queue.empty())
            {
                const auto [from, to, channel] = key;
                throw ConfigurationError(m_name + ": a message from gpu " + std::to_string(from) +
                                         " to gpu " + std::to_string(to) + " on channel " +
                                         std::to_string(channel) + " is never received");
            }
        }
    }

    Block::Done CarryOut(const Block& block)
    {
        const MscclStep& step = block.program.steps[block.done.size()];
        const uint32_t id = block.gpu;
        std::vector<uint32_t> after;
        uint32_t depth = 0;
        const auto waitFor = [&](const Block::Done& before) {
            after.insert(after.end(), before.last.begin(), before.last.end());
            depth = std::max(depth, before.depth);
        };
        if (!block.done.empty())
        {
            waitFor(block.done.back());
        }
        if (step.block)
        {
            waitFor(m_gpus[id].blocks.at(*step.block).done[step.step]);
        }
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (step.receives)
        {
            after = Receive(block, step, after, depth);
        }
        else if (step.copies || step.adds)
        {
            const auto chunks = GetHeld(id, step.source, step);
            if (step.adds && GetHeld(id, step.target, step) != chunks)
            {
                throw ConfigurationError(step.where + ": adds different chunks");
            }
            const auto from = GetNumbers(id, step.source, chunks);
            const auto to = GetNumbers(id, step.target, chunks);
            if (step.adds && from == to)
            {
                throw ConfigurationError(step.where + ": adds chunks to themselves");
            }
            after = AddLocal(step.adds ? Kind::REDUCE : Kind::COPY, id, depth, from, to, after);
            Hold(id, step.target, chunks);
        }
        if (step.sends)
        {
            const Place place = !step.receives ? step.source
                                : step.stores
                                    ? step.target
                                    : Place{TEMPORARY, block.number * MscclProgram::MAX_CHUNKS};
            const auto chunks = GetHeld(id, place, step);
            const uint32_t message = m_counts[{id, *block.program.send, depth}]++;
            m_messages[{id, *block.program.send, block.program.channel}].push_back(
                {chunks, depth, message});
            after = {m_schedule.Add(id,
                                    Kind::SEND,
                                    *block.program.send,
                                    MakeChunkList(GetNumbers(id, place, chunks), m_schedule.chunks),
                                    depth,
                                    after,
                                    message)};
        }
        return {after, depth};
    }

    std::vector<uint32_t> Receive(const Block& block,
                                  const MscclStep& step,
                                  std::vector<uint32_t> after,
                                  uint32_t& depth)
    {
        const uint32_t id = block.gpu;
        auto& queue = m_messages[{*block.program.receive, id, block.program.channel}];
        const Message message = queue.front();
        queue.pop_front();
        if (message.chunks.size() != step.count)
        {
            throw ConfigurationError(
                step.where + ": receives " + std::to_string(message.chunks.size()) +
                " chunks (allowed: cnt=\"" + std::to_string(step.count) + "\")");
        }
        const Place target =
            step.stores ? step.target : Place{TEMPORARY, block.number * MscclProgram::MAX_CHUNKS};
        const auto to = GetNumbers(id, target, message.chunks);
        if (step.adds)
        {
            if (GetHeld(id, step.source, step) != message.chunks)
            {
                throw ConfigurationError(step.where + ": adds different chunks");
            }
            after = AddLocal(Kind::COPY,
                             id,
                             depth,
                             GetNumbers(id, step.source, message.chunks),
                             to,
                             after);
        }
        Hold(id, target, message.chunks);
        const uint32_t action = m_schedule.Add(id,
                                               step.adds ? Kind::RECEIVE_REDUCE : Kind::RECEIVE,
                                               *block.program.receive,
                                               MakeChunkList(to, m_schedule.chunks),
                                               message.step,
                                               after,
                                               message.number);
        depth = std::max(depth, message.step + 1);
        return {action};
    }

    /** Copies chunks to their final slots, after all other actions. */
    void CollectOutputs()
    {
        for (uint32_t id = 0; id < m_gpus.size(); id++)
        {
            std::vector<uint32_t> after;
            uint32_t depth = 0;
            for (const auto& [number, block] : m_gpus[id].blocks)
            {
                if (!block.done.empty())
                {
                    const Block::Done& last = block.done.back();
                    after.insert(after.end(), last.last.begin(), last.last.end());
                    depth = std::max(depth, last.depth);
                }
            }
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            std::vector<uint32_t> from;
            std::vector<uint32_t> to;
            uint64_t offset = 0;
            for (uint32_t chunk : GetContent(id, false))
            {
                const Place place = Resolve(id, {'o', offset});
                const auto held = m_gpus[id].holds.find(place);
                if (held == m_gpus[id].holds.end() || held->second != chunk)
                {
                    throw ConfigurationError(
                        m_name + ": gpu " + std::to_string(id) + ": o[" + std::to_string(offset) +
                        "] holds " +
                        (held == m_gpus[id].holds.end() ? "nothing" : "another chunk") +
                        " at the end");
                }
                from.push_back(GetNumber(id, place, chunk));
                to.push_back(chunk);
                offset++;
            }
            AddLocal(Kind::COPY, id, depth, from, to, after);
        }
    }

    using Connection = std::tuple<uint32_t, uint32_t, uint32_t>; // gpu, peer, channel or step

    std::string m_name;
    MscclProgram m_program;
    CollectiveSchedule m_schedule;
    std::vector<Gpu> m_gpus;
    std::map<Connection, std::deque<Message>> m_messages; // in flight, by from, to, channel
    std::map<Connection, uint32_t> m_counts;              // number of messages by from, to, step
};

} // namespace

CollectiveSchedule
ReadMscclSchedule(const std::string& text, const std::string& name)
{
    return MscclImport(name).Import(text);
}

} // namespace ns3::training
