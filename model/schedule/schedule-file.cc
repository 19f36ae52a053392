/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/schedule-file.h"

#include "core/input-file.h"
#include "core/json-tree.h"
#include "core/memory.h"
#include "schedule-verifier.h"
#include "schedule/chunk-numbers.h"
#include "schedule/msccl-schedule.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-output-file.h"
#include "ns3/training-quantity.h"

#include <set>
#include <sstream>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Tree = boost::property_tree::ptree;

constexpr const char* FORMAT = "distributed-training schedule 1";
constexpr uint64_t MAX_RANKS = 1 << 20;
constexpr uint64_t MAX_CHUNKS = 1 << 26;

/// Memory for a parsed file, per character.
constexpr double BYTES_PER_CHARACTER = 30;

const std::vector<std::string> KINDS{"send", "receive", "receive-reduce", "copy", "reduce"};
const std::vector<std::string> ROTATIONS{"none", "ranks", "chunks", "exclusive-or"};
const std::vector<std::string> ORDERS{"data", "steps"};

/** A JSON object in the file, with its location for error messages. */
class Reader
{
  public:
    Reader(const Tree& tree, std::string where, const std::set<std::string>& keys)
        : m_tree(tree),
          m_where(std::move(where))
    {
        for (const auto& [key, value] : tree)
        {
            if (keys.count(key) == 0)
            {
                std::string allowed;
                for (const std::string& known : keys)
                {
                    allowed += (allowed.empty() ? "" : ", ") + known;
                }
                Refuse("'" + key + "' (allowed: " + allowed + ")");
            }
            if (tree.count(key) > 1)
            {
                Refuse(key + " twice (allowed: each once)");
            }
        }
    }

    [[noreturn]] void Refuse(const std::string& text) const
    {
        throw ConfigurationError(m_where + ": " + text);
    }

    const Tree* Find(const std::string& key) const
    {
        const auto found = m_tree.find(key);
        return found == m_tree.not_found() ? nullptr : &found->second;
    }

    const Tree* FindList(const std::string& key) const
    {
        const Tree* list = Find(key);
        if (list && !list->data().empty())
        {
            Refuse(key + " '" + list->data() + "' (allowed: an array)");
        }
        return list;
    }

    std::string GetText(const std::string& key, const std::string& byDefault) const
    {
        const Tree* value = Find(key);
        return value ? value->data() : byDefault;
    }

    uint32_t GetChoice(const std::string& key,
                       const std::string& byDefault,
                       const std::vector<std::string>& choices) const
    {
        const std::string text = GetText(key, byDefault);
        std::string allowed;
        for (uint32_t i = 0; i < choices.size(); i++)
        {
            if (choices[i] == text)
            {
                return i;
            }
            allowed += (i == 0 ? "" : ", ") + choices[i];
        }
        Refuse(key + " '" + text + "' (allowed: " + allowed + ")");
    }

    /** @return a number; mandatory unless there is a default */
    uint32_t GetNumber(const std::string& key,
                       const std::string& byDefault,
                       uint64_t least,
                       uint64_t most) const
    {
        return ToNumber(key, GetText(key, byDefault), least, most);
    }

    uint32_t ToNumber(const std::string& what,
                      const std::string& text,
                      uint64_t least,
                      uint64_t most) const
    {
        const auto number = ParseUnsigned(text);
        if (!number || *number < least || *number > most)
        {
            Refuse(what + " '" + text + "' (allowed: " + std::to_string(least) + " to " +
                   std::to_string(most) + ")");
        }
        return static_cast<uint32_t>(*number);
    }

  private:
    const Tree& m_tree;
    std::string m_where;
};

void
ReadAction(const Tree& tree,
           const std::string& where,
           uint32_t rank,
           uint32_t index,
           CollectiveSchedule& schedule)
{
    const Reader reader(tree, where, {"kind", "peer", "chunks", "step", "message", "after"});
    const auto kind = static_cast<Kind>(reader.GetChoice("kind", "", KINDS));
    const bool local = kind == Kind::COPY || kind == Kind::REDUCE;
    const uint32_t peer =
        reader.GetNumber("peer",
                         "",
                         0,
                         local ? CollectiveSchedule::MAX_COPIES - 1 : schedule.GetSize() - 1);
    std::vector<ChunkRun> runs;
    if (const Tree* list = reader.FindList("chunks"))
    {
        for (const auto& [none, run] : *list)
        {
            if (run.size() != 2)
            {
                reader.Refuse("chunks (allowed: pairs [first, count])");
            }
            const uint64_t numbers = uint64_t{schedule.chunks} * CollectiveSchedule::MAX_COPIES;
            runs.push_back(
                {reader.ToNumber("chunk",
                                 run.front().second.data(),
                                 0,
                                 std::min<uint64_t>(numbers, CollectiveSchedule::NONE) - 1),
                 reader.ToNumber("count", run.back().second.data(), 1, schedule.chunks)});
        }
    }
    if (runs.empty())
    {
        reader.Refuse("no chunks (allowed: pairs [first, count])");
    }
    std::vector<uint32_t> after;
    if (const Tree* list = reader.FindList("after"))
    {
        for (const auto& [none, before] : *list)
        {
            if (index == 0)
            {
                reader.Refuse("the first action is after '" + before.data() + "' (allowed: none)");
            }
            after.push_back(reader.ToNumber("after", before.data(), 0, index - 1));
        }
    }
    schedule.Add(rank,
                 kind,
                 peer,
                 runs,
                 reader.GetNumber("step", "", 0, CollectiveSchedule::MAX_STEPS),
                 after,
                 reader.GetNumber("message", "0", 0, CollectiveSchedule::MAX_MESSAGES - 1));
}

/** @return the chunks of an action, as the schedule stores them unless an exclusive or moves them
 */
std::vector<ChunkRun>
GetRuns(const ScheduleAction& action)
{
    std::vector<ChunkRun> runs;
    if (action.flip != 0)
    {
        std::vector<uint32_t> numbers;
        action.ForEachChunk([&](uint32_t chunk) { numbers.push_back(chunk); });
        return MakeChunkList(numbers, action.chunks).runs;
    }
    for (const ChunkRun* run = action.first; run != action.last; run++)
    {
        ScheduleAction part = action;
        part.first = run;
        part.last = run + 1;
        runs.push_back({part.GetFirstChunk(), run->count});
    }
    return runs;
}

std::string
ReadFile(const std::string& path)
{
    auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a schedule as JSON or MSCCL "
                                        "XML)");
    }
    CheckMemory(BYTES_PER_CHARACTER * static_cast<double>(text->size()), path);
    return *std::move(text);
}

} // namespace

CollectiveSchedule
ReadScheduleJson(const std::string& text, const std::string& name)
{
    const Tree tree = ReadJsonTree(text, name, "JSON");
    const Reader reader(tree,
                        name,
                        {"format",
                         "operation",
                         "algorithm",
                         "ranks",
                         "root",
                         "chunks",
                         "segments",
                         "window",
                         "proto",
                         "rotation",
                         "order",
                         "actions"});
    reader.GetChoice("format", "", {FORMAT});
    CollectiveSchedule schedule;
    try
    {
        schedule.operation = FindCollectiveOperation(reader.GetText("operation", ""));
    }
    catch (const ConfigurationError& error)
    {
        reader.Refuse(error.what());
    }
    schedule.algorithm = MakePrintableName(reader.GetText("algorithm", "file"));
    const uint32_t ranks = reader.GetNumber("ranks", "", 1, MAX_RANKS);
    schedule.root = reader.GetNumber("root", "0", 0, ranks - 1);
    schedule.chunks = reader.GetNumber("chunks", "", 1, MAX_CHUNKS);
    schedule.segments = reader.GetNumber("segments", "1", 1, CollectiveSchedule::MAX_MESSAGES);
    schedule.window = reader.GetNumber("window", "0", 0, CollectiveSchedule::MAX_MESSAGES);
    schedule.protocol = reader.GetChoice("proto", "Simple", CollectiveSchedule::GetProtocols());
    schedule.Resize(ranks);
    if (const uint32_t rotation = reader.GetChoice("rotation", "none", ROTATIONS))
    {
        if (rotation == 3 && !schedule.CanUseExclusiveOr())
        {
            reader.Refuse("rotation 'exclusive-or' of " + std::to_string(ranks) + " ranks and " +
                          std::to_string(schedule.chunks) +
                          " chunks (allowed: a power of two, and a multiple of it or, in an "
                          "all-to-all, of its square)");
        }
        rotation == 3 ? schedule.UseExclusiveOr() : schedule.UseRotation(rotation == 2);
    }
    schedule.stepwise = reader.GetChoice("order", "data", ORDERS) == 1;
    const Tree* actions = reader.FindList("actions");
    if (!actions || actions->size() != schedule.GetStoredRanks())
    {
        reader.Refuse("actions of " + std::to_string(actions ? actions->size() : 0) +
                      " ranks (allowed: " + std::to_string(schedule.GetStoredRanks()) + ")");
    }
    uint32_t rank = 0;
    for (const auto& [none, list] : *actions)
    {
        uint32_t index = 0;
        for (const auto& [nothing, action] : list)
        {
            const std::string where =
                name + ": rank " + std::to_string(rank) + ", action " + std::to_string(index);
            ReadAction(action, where, rank, index, schedule);
            index++;
        }
        rank++;
    }
    schedule.Close(false);
    if (uint64_t{schedule.chunks} * schedule.GetCopies() > MAX_CHUNKS)
    {
        reader.Refuse(std::to_string(schedule.GetCopies()) + " copies of " +
                      std::to_string(schedule.chunks) + " chunks (allowed: up to " +
                      std::to_string(MAX_CHUNKS) + " together)");
    }
    return schedule;
}

std::string
WriteScheduleJson(const CollectiveSchedule& schedule)
{
    using Symmetry = CollectiveSchedule::Symmetry;
    const uint32_t rotation = schedule.GetSymmetry() == Symmetry::NONE           ? 0
                              : schedule.GetSymmetry() == Symmetry::EXCLUSIVE_OR ? 3
                              : schedule.HasSymmetricChunks()                    ? 2
                                                                                 : 1;
    std::ostringstream out;
    out << "{\n  \"format\": " << QuoteJson(FORMAT)
        << ",\n  \"operation\": " << QuoteJson(GetName(schedule.operation))
        << ",\n  \"algorithm\": " << QuoteJson(schedule.algorithm)
        << ",\n  \"ranks\": " << schedule.GetSize() << ",\n  \"root\": " << schedule.root
        << ",\n  \"chunks\": " << schedule.chunks << ",\n  \"segments\": " << schedule.segments
        << (schedule.window == 0 ? "" : ",\n  \"window\": " + std::to_string(schedule.window))
        << (schedule.protocol == 0
                ? ""
                : ",\n  \"proto\": " +
                      QuoteJson(CollectiveSchedule::GetProtocols()[schedule.protocol]))
        << ",\n  \"rotation\": " << QuoteJson(ROTATIONS[rotation])
        << ",\n  \"order\": " << QuoteJson(ORDERS[schedule.stepwise ? 1 : 0])
        << ",\n  \"actions\": [";
    for (uint32_t rank = 0; rank < schedule.GetStoredRanks(); rank++)
    {
        out << (rank == 0 ? "\n    [" : ",\n    [");
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            auto chunks = JsonValue::Array();
            for (const ChunkRun* run = action.first; run != action.last; run++)
            {
                chunks.Append(JsonValue::Array().Append(run->first).Append(run->count));
            }
            auto after = JsonValue::Array();
            for (uint32_t before : schedule.GetDependencies(rank, i))
            {
                after.Append(before);
            }
            auto line = JsonValue::Object();
            line.Set("kind", KINDS[static_cast<uint8_t>(action.kind)])
                .Set("peer", action.peer)
                .Set("chunks", chunks)
                .Set("step", action.step)
                .Set("message", action.message / schedule.segments)
                .Set("after", after);
            out << (i == 0 ? "\n      " : ",\n      ") << line.Write();
        }
        out << "\n    ]";
    }
    out << "\n  ]\n}\n";
    return out.str();
}

CollectiveSchedule
LoadSchedule(const std::string& path)
{
    const std::string text = ReadFile(path);
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const bool xml = begin != std::string::npos && text[begin] == '<';
    CollectiveSchedule schedule =
        xml ? ReadMscclSchedule(text, path) : ReadScheduleJson(text, path);
    const std::string fault = VerifySchedule(schedule);
    if (!fault.empty())
    {
        throw ConfigurationError(path + ": " + fault);
    }
    return schedule;
}

void
SaveSchedule(const CollectiveSchedule& schedule, const std::string& path)
{
    const bool xml = path.size() >= 4 && path.compare(path.size() - 4, 4, ".xml") == 0;
    WriteOutputFile(path, xml ? WriteMscclSchedule(schedule) : WriteScheduleJson(schedule));
}

std::string
DescribeSchedule(const CollectiveSchedule& schedule)
{
    std::ostringstream out;
    out << GetName(schedule.operation) << " by " << schedule.algorithm << ": " << schedule.GetSize()
        << " ranks, " << schedule.chunks << " chunks, " << schedule.GetCopies()
        << (schedule.GetCopies() == 1 ? " copy, " : " copies, ") << schedule.segments
        << (schedule.segments == 1 ? " segment, " : " segments, ") << schedule.GetSteps()
        << " steps\n";
    static const char* const verbs[] = {"send to rank ",
                                        "receive from rank ",
                                        "receive and add from rank ",
                                        "copy from copy ",
                                        "add from copy "};
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        out << "rank " << rank << "\n";
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            out << "  " << i << ": step " << action.step << ", "
                << verbs[static_cast<uint8_t>(action.kind)] << action.peer << ": chunks";
            for (const auto& [first, count] : GetRuns(action))
            {
                out << " " << first % schedule.chunks;
                if (count > 1)
                {
                    out << "-" << (first % schedule.chunks + count - 1) % schedule.chunks;
                }
                if (first >= schedule.chunks)
                {
                    out << " (copy " << first / schedule.chunks << ")";
                }
            }
            std::string after;
            for (uint32_t before : schedule.GetDependencies(rank, i))
            {
                after += (after.empty() ? ", after " : " ") + std::to_string(before);
            }
            out << after << "\n";
        }
    }
    return out.str();
}

} // namespace ns3::training
