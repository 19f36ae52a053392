/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-sorter.h"
#include "workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-input-file.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/// Bytes and numbers of a GOAL file stay below.
constexpr uint64_t MAX_NUMBER = uint64_t{1} << 62;

/// Maximum number of ranks of a file.
constexpr uint64_t MAX_RANKS = 1U << 20;

/** An operation of GOAL, in either form of the file. */
struct GoalOperation
{
    TaskKind kind{TaskKind::COMPUTE}; ///< SEND, RECEIVE or COMPUTE
    uint64_t amount{0};               ///< bytes, or ns
    uint32_t peer{0};                 ///< other rank
    uint32_t tag{0};                  ///< of the message
    uint32_t cpu{0};                  ///< that computes
};

/** The tasks of a rank of GOAL, and the operations that others wait for the start of. */
class GoalRank
{
  public:
    explicit GoalRank(ListedGraph& graph)
        : m_compute(graph.AddName("calc")),
          m_send(graph.AddName("send")),
          m_receive(graph.AddName("recv"))
    {
    }

    /** @return place of the operation */
    std::size_t Add(const GoalOperation& operation)
    {
        GraphTask task;
        task.kind = operation.kind;
        if (operation.kind == TaskKind::COMPUTE)
        {
            task.name = m_compute;
            task.stream = static_cast<uint16_t>(operation.cpu);
            task.length = NanoSeconds(static_cast<int64_t>(operation.amount));
        }
        else
        {
            task.name = operation.kind == TaskKind::SEND ? m_send : m_receive;
            task.stream = NO_STREAM;
            task.bytes = operation.amount;
            task.peer = operation.peer;
            task.tag = operation.tag;
        }
        m_operations.push_back(std::move(task));
        m_startIsAwaited.push_back(false);
        return m_operations.size() - 1;
    }

    /** @param onStart whether `operation` waits for the start of `earlier` rather than its end */
    void Require(std::size_t operation, std::size_t earlier, bool onStart)
    {
        m_waits.push_back({operation, earlier, onStart});
        m_startIsAwaited[earlier] = m_startIsAwaited[earlier] || onStart;
    }

    std::size_t GetSize() const
    {
        return m_operations.size();
    }

    /**
     * @param where the rank, for the message
     * @throw ConfigurationError if operations wait for each other
     */
    void MoveTo(ListedGraph& graph, uint32_t rank, const std::string& where)
    {
        TaskSorter sorter;
        std::vector<std::size_t> starts;  // by operation, place of its start, or of itself
        std::vector<std::size_t> ends;    // by operation, its place
        std::vector<std::size_t> numbers; // by place, its operation
        for (std::size_t operation = 0; operation < m_operations.size(); operation++)
        {
            GraphTask& task = m_operations[operation];
            if (m_startIsAwaited[operation])
            {
                GraphTask start; // takes no time
                start.name = task.name;
                start.stream = task.kind == TaskKind::COMPUTE ? task.stream : NO_STREAM;
                starts.push_back(sorter.Add(start));
                numbers.push_back(operation);
            }
            ends.push_back(sorter.Add(std::move(task)));
            numbers.push_back(operation);
            if (m_startIsAwaited[operation])
            {
                sorter.Require(ends.back(), starts.back());
            }
            else
            {
                starts.push_back(ends.back());
            }
        }
        for (const Wait& wait : m_waits)
        {
            sorter.Require(starts[wait.operation],
                           wait.onStart ? starts[wait.earlier] : ends[wait.earlier]);
        }
        const auto cycle = sorter.FindCycle();
        if (!cycle.empty())
        {
            std::set<std::size_t> operations;
            for (std::size_t place : cycle)
            {
                operations.insert(numbers[place]);
            }
            throw ConfigurationError(where + ": " + std::to_string(operations.size()) +
                                     " operations of rank " + std::to_string(rank) +
                                     " wait for each other, operation " +
                                     std::to_string(*operations.begin() + 1) +
                                     " is the first of them (allowed: no cycles)");
        }
        sorter.MoveTo(graph, rank);
    }

  private:
    /** A wait of an operation. */
    struct Wait
    {
        std::size_t operation;
        std::size_t earlier;
        bool onStart;
    };

    uint32_t m_compute;
    uint32_t m_send;
    uint32_t m_receive;
    std::vector<GraphTask> m_operations;
    std::vector<bool> m_startIsAwaited; // by operation
    std::vector<Wait> m_waits;
};

/** Reads the text form (Hoefler et al., LogGOPSim; txt2bin.re). */
class GoalText
{
  public:
    GoalText(const std::string& path, const std::string& text)
        : m_path(path),
          m_text(text)
    {
        m_token = Scan();
    }

    std::unique_ptr<ListedGraph> Read();

  private:
    [[noreturn]] void Fail(const std::string& allowed) const
    {
        throw ConfigurationError(m_path + ":" + std::to_string(m_line) + ": '" +
                                 MakePrintableName(m_token) + "' (allowed: " + allowed + ")");
    }

    /** Refuses a token that is taken already. */
    [[noreturn]] void FailTaken(const std::string& token, const std::string& allowed)
    {
        m_token = token;
        m_line = m_takenLine;
        Fail(allowed);
    }

    std::string Scan();
    std::string Take();
    void Expect(const std::string& word);
    uint64_t TakeNumber(const std::string& what, uint64_t most, const std::string& unit = "");
    void ReadRank(ListedGraph& graph, uint32_t rank, uint32_t ranks);
    GoalOperation ReadOperation(const std::string& word, uint32_t ranks);
    static bool IsLabel(const std::string& token);

    std::string m_path;
    const std::string& m_text;
    std::size_t m_next{0};
    uint32_t m_line{1};      // of the token
    uint32_t m_takenLine{1}; // of the token before it
    uint32_t m_scanLine{1};  // of the text after it
    std::string m_token;     // empty: the end
};

std::string
GoalText::Scan()
{
    for (;;)
    {
        while (m_next < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_next])))
        {
            m_scanLine += m_text[m_next++] == '\n' ? 1 : 0;
        }
        const std::string start = m_text.substr(m_next, 2);
        if (start != "//" && start != "/*")
        {
            break;
        }
        const std::size_t end = m_text.find(start == "//" ? "\n" : "*/", m_next + 2);
        const std::size_t past =
            end == std::string::npos ? m_text.size() : end + (start == "//" ? 1 : 2);
        m_scanLine +=
            static_cast<uint32_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_next),
                                             m_text.begin() + static_cast<std::ptrdiff_t>(past),
                                             '\n'));
        m_next = past;
    }
    m_line = m_scanLine;
    const std::size_t begin = m_next;
    const auto isWord = [this] {
        const auto letter = static_cast<unsigned char>(m_text[m_next]);
        return std::isalnum(letter) || letter == '_' || letter == '-';
    };
    while (m_next < m_text.size() && isWord())
    {
        m_next++;
    }
    if (m_next == begin && m_next < m_text.size())
    {
        m_next++; // a bracket or a colon
    }
    return m_text.substr(begin, m_next - begin);
}

std::string
GoalText::Take()
{
    std::string token = m_token;
    m_takenLine = m_line;
    m_token = Scan();
    return token;
}

void
GoalText::Expect(const std::string& word)
{
    if (m_token != word)
    {
        Fail("'" + word + "'");
    }
    Take();
}

uint64_t
GoalText::TakeNumber(const std::string& what, uint64_t most, const std::string& unit)
{
    const std::string digits = m_token.substr(0, m_token.find_first_not_of("0123456789"));
    if (digits.empty() || digits.size() > 18 || m_token != digits + unit ||
        std::stoull(digits) > most)
    {
        Fail(what + ", a whole number" + (unit.empty() ? "" : " followed by " + unit) + " up to " +
             std::to_string(most));
    }
    Take();
    return std::stoull(digits);
}

bool
GoalText::IsLabel(const std::string& token)
{
    return !token.empty() && std::isalpha(static_cast<unsigned char>(token[0]));
}

GoalOperation
GoalText::ReadOperation(const std::string& word, uint32_t ranks)
{
    GoalOperation operation;
    if (word == "calc")
    {
        operation.amount = TakeNumber("ns", MAX_NUMBER >> 10);
    }
    else
    {
        operation.kind = word == "send" ? TaskKind::SEND : TaskKind::RECEIVE;
        operation.amount = TakeNumber("bytes", MAX_NUMBER, "b");
        Expect(word == "send" ? "to" : "from");
        if (m_token == "-1")
        {
            Fail("a rank; messages from any rank cannot be matched");
        }
        operation.peer = static_cast<uint32_t>(TakeNumber("a rank", ranks - 1));
        if (m_token == "tag")
        {
            Take();
            if (m_token == "-1")
            {
                Fail("a tag; messages of any tag cannot be matched");
            }
            operation.tag = static_cast<uint32_t>(TakeNumber("a tag", UINT32_MAX));
        }
    }
    if (m_token == "cpu")
    {
        Take();
        operation.cpu = static_cast<uint32_t>(TakeNumber("a CPU", 255));
    }
    if (m_token == "nic")
    {
        Take();
        TakeNumber("a NIC", 255);
    }
    return operation;
}

void
GoalText::ReadRank(ListedGraph& graph, uint32_t rank, uint32_t ranks)
{
    Expect("rank");
    if (m_token != std::to_string(rank))
    {
        Fail("rank " + std::to_string(rank) + ", the next one");
    }
    Take();
    Expect("{");
    GoalRank tasks(graph);
    std::map<std::string, std::size_t> labels;
    const auto find = [&](const std::string& label) {
        const auto found = labels.find(label);
        if (found == labels.end())
        {
            FailTaken(label, "a label of the rank that was defined before");
        }
        return found->second;
    };
    while (m_token != "}")
    {
        std::string word = Take();
        if (word == "send" || word == "recv" || word == "calc")
        {
            tasks.Add(ReadOperation(word, ranks));
            continue;
        }
        if (!IsLabel(word))
        {
            FailTaken(word, "send, recv, calc, a label, or }");
        }
        if (m_token == ":")
        {
            Take();
            const std::string kind = Take();
            if (kind != "send" && kind != "recv" && kind != "calc")
            {
                FailTaken(kind, "send, recv, calc");
            }
            labels.emplace(word, tasks.Add(ReadOperation(kind, ranks))); // the first one counts
            continue;
        }
        const std::string relation = Take();
        if (relation != "requires" && relation != "irequires")
        {
            FailTaken(relation, "':', requires, irequires");
        }
        const std::string other = Take();
        tasks.Require(find(word), find(other), relation == "irequires");
    }
    tasks.MoveTo(graph, rank, m_path + ":" + std::to_string(m_line));
    Expect("}");
}

std::unique_ptr<ListedGraph>
GoalText::Read()
{
    Expect("num_ranks");
    const auto ranks = static_cast<uint32_t>(TakeNumber("number of ranks", MAX_RANKS));
    if (ranks == 0)
    {
        throw ConfigurationError(m_path + ": 0 ranks (allowed: at least 1)");
    }
    auto graph = std::make_unique<ListedGraph>(m_path, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        ReadRank(*graph, rank, ranks);
    }
    return graph;
}

/// First 8 bytes of the binary form.
constexpr uint64_t MAGIC = 4223;

/// Bytes of an operation in the binary form.
constexpr uint64_t NODE_BYTES = 39;

/** Reads the binary form, which txt2bin writes (LogGOPSim, Parser.hpp); little endian. */
class GoalBinary
{
  public:
    GoalBinary(const std::string& path, const std::string& text)
        : m_path(path),
          m_text(text)
    {
    }

    std::unique_ptr<ListedGraph> Read() const;

  private:
    template <class T>
    T At(uint64_t offset) const
    {
        T value;
        if (offset > m_text.size() || m_text.size() - offset < sizeof(T))
        {
            throw ConfigurationError(m_path + ": ends before byte " + std::to_string(offset) +
                                     ", which it refers to (allowed: whole files)");
        }
        std::memcpy(&value, m_text.data() + offset, sizeof(T));
        return value;
    }

    GoalOperation ReadOperation(uint64_t offset, uint32_t ranks) const;
    void ReadRank(ListedGraph& graph, uint32_t rank, uint64_t begin) const;

    std::string m_path;
    const std::string& m_text;
};

GoalOperation
GoalBinary::ReadOperation(uint64_t offset, uint32_t ranks) const
{
    GoalOperation operation;
    const auto type = At<uint8_t>(offset + 4);
    constexpr TaskKind KINDS[] = {TaskKind::SEND, TaskKind::RECEIVE, TaskKind::COMPUTE};
    if (type < 1 || type > 3)
    {
        throw ConfigurationError(m_path + ": byte " + std::to_string(offset + 4) + ": type " +
                                 std::to_string(type) + " (allowed: 1, 2, 3)");
    }
    operation.kind = KINDS[type - 1];
    operation.peer = At<uint32_t>(offset + 5);
    operation.amount = At<uint64_t>(offset + 9);
    operation.tag = At<uint32_t>(offset + 17);
    operation.cpu = At<uint8_t>(offset + 21);
    if (operation.amount > MAX_NUMBER >> 10)
    {
        throw ConfigurationError(m_path + ": byte " + std::to_string(offset + 9) + ": " +
                                 std::to_string(operation.amount) +
                                 " bytes or ns (allowed: up to " +
                                 std::to_string(MAX_NUMBER >> 10) + ")");
    }
    if (operation.kind != TaskKind::COMPUTE &&
        (operation.peer >= ranks || operation.tag == UINT32_MAX))
    {
        throw ConfigurationError(m_path + ": byte " + std::to_string(offset + 5) + ": peer " +
                                 std::to_string(operation.peer) + ", tag " +
                                 std::to_string(operation.tag) +
                                 " (allowed: a rank of the job, and a tag; messages from any rank "
                                 "or of any tag cannot be matched)");
    }
    return operation;
}

void
GoalBinary::ReadRank(ListedGraph& graph, uint32_t rank, uint64_t begin) const
{
    const auto nodes = At<uint32_t>(begin);
    const auto roots = At<uint32_t>(begin + 4);
    const uint64_t first = begin + 8 + uint64_t{4} * roots;
    const uint64_t appendix = first + NODE_BYTES * nodes;
    if (nodes > 0)
    {
        At<uint8_t>(appendix - 1); // before memory is taken
    }
    GoalRank tasks(graph);
    for (uint32_t node = 0; node < nodes; node++)
    {
        tasks.Add(ReadOperation(first + NODE_BYTES * node, graph.GetRanks()));
    }
    // An operation lists those that wait for its end, and those that wait for its start. No list
    // is part of another one.
    uint64_t waits = 0;
    for (uint32_t node = 0; node < nodes; node++)
    {
        for (const bool onStart : {false, true})
        {
            const uint64_t list = first + NODE_BYTES * node + (onStart ? 31 : 23);
            const auto count = At<uint32_t>(list);
            const auto index = At<uint32_t>(list + 4);
            waits += count;
            if (waits > m_text.size() / 4)
            {
                throw ConfigurationError(m_path + ": byte " + std::to_string(list) + ": " +
                                         std::to_string(count) +
                                         " waits (allowed: no more than the file has)");
            }
            for (uint32_t i = 0; i < count; i++)
            {
                const uint64_t at = appendix + 4 * (uint64_t{index} + i);
                const auto later = At<uint32_t>(at);
                if (later >= nodes)
                {
                    throw ConfigurationError(m_path + ": byte " + std::to_string(at) +
                                             ": operation " + std::to_string(later) +
                                             " (allowed: below " + std::to_string(nodes) + ")");
                }
                tasks.Require(later, node, onStart);
            }
        }
    }
    tasks.MoveTo(graph, rank, m_path + ": rank " + std::to_string(rank));
}

std::unique_ptr<ListedGraph>
GoalBinary::Read() const
{
    constexpr uint64_t JUMP_TABLE = 14;
    const auto ranks = At<uint32_t>(8);
    if (ranks == 0 || ranks > MAX_RANKS)
    {
        throw ConfigurationError(m_path + ": byte 8: " + std::to_string(ranks) +
                                 " ranks (allowed: 1 to " + std::to_string(MAX_RANKS) + ")");
    }
    At<uint64_t>(JUMP_TABLE + uint64_t{16} * ranks - 8); // before memory is taken
    auto graph = std::make_unique<ListedGraph>(m_path, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        // Offsets count from behind the first 8 bytes.
        ReadRank(*graph, rank, 8 + At<uint64_t>(JUMP_TABLE + uint64_t{16} * rank));
    }
    return graph;
}

bool
IsBinary(const std::string& text)
{
    uint64_t magic = 0;
    std::memcpy(&magic, text.data(), std::min(text.size(), sizeof(magic)));
    return magic == MAGIC;
}

bool
RecognizeGoal(const std::string& /* path */, const std::string& begin)
{
    std::size_t at = 0;
    for (std::size_t end = 0; end != std::string::npos && at != std::string::npos;)
    {
        at = begin.find_first_not_of(" \t\r\n", end);
        const std::string start = at == std::string::npos ? "" : begin.substr(at, 2);
        if (start != "//" && start != "/*")
        {
            break;
        }
        end = begin.find(start == "//" ? "\n" : "*/", at + 2);
        end += end == std::string::npos || start == "//" ? 0 : 2;
    }
    return IsBinary(begin) || (at != std::string::npos && begin.compare(at, 9, "num_ranks") == 0);
}

FormatResult
ReadGoal(const FormatRequest& request, const KeyValues& /* values */)
{
    const auto text = ReadPackedFile(request.path);
    if (!text)
    {
        throw ConfigurationError(request.path + ": cannot be read (allowed: a GOAL file)");
    }
    FormatResult result;
    result.graph = IsBinary(*text) ? GoalBinary(request.path, *text).Read()
                                   : GoalText(request.path, *text).Read();
    return result;
}

const Registry<WorkloadFormatEntry>::Entry g_goal("goal",
                                                  {"GOAL of LogGOPSim and ATLAHS, text or binary",
                                                   &RecognizeGoal,
                                                   &ReadGoal,
                                                   {},
                                                   FirstValue{"PATH", "the file", true, true, {}}});

} // namespace

} // namespace ns3::training
