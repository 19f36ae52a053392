/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "formats/goal-matching.h"
#include "formats/goal-rank.h"
#include "formats/goal-reader.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

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

    std::unique_ptr<ListedGraph> Read(FormatProblems& problems);

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
    GoalRank ReadRank(ListedGraph& graph, uint32_t rank);
    bool TakeAny(const GoalOperation& operation);
    GoalOperation ReadOperation(const std::string& word, uint32_t ranks);
    static bool IsLabel(const std::string& token);

    std::string m_path;
    const std::string& m_text;
    std::size_t m_next{0};
    uint32_t m_line{1};      // of the token
    uint32_t m_takenLine{1}; // of the token before it
    uint32_t m_scanLine{1};  // of the text after it
    std::string m_token;     // empty: the end
    FormatProblems* m_problems{nullptr};
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

/** Takes the word for any rank or any tag, which receives may have. @return whether it was there */
bool
GoalText::TakeAny(const GoalOperation& operation)
{
    const bool isAny = operation.kind == TaskKind::RECEIVE && m_token == "-1";
    if (isAny)
    {
        Take();
    }
    return isAny;
}

GoalOperation
GoalText::ReadOperation(const std::string& word, uint32_t ranks)
{
    GoalOperation operation;
    operation.place = m_takenLine;
    if (word == "calc")
    {
        operation.amount = TakeNumber("ns", MAX_GOAL_NUMBER >> 10);
    }
    else
    {
        operation.kind = word == "send" ? TaskKind::SEND : TaskKind::RECEIVE;
        operation.amount = TakeNumber("bytes", MAX_GOAL_NUMBER, "b");
        Expect(word == "send" ? "to" : "from");
        const uint32_t line = m_line;
        operation.anySource = TakeAny(operation);
        if (!operation.anySource)
        {
            operation.peer = static_cast<uint32_t>(TakeNumber("a rank", ranks - 1));
        }
        if (m_token == "tag")
        {
            Take();
            operation.anyTag = TakeAny(operation);
            operation.tag =
                operation.anyTag ? 0 : static_cast<uint32_t>(TakeNumber("a tag", UINT32_MAX));
        }
        if (operation.anySource || operation.anyTag)
        {
            operation.where = m_path + ":" + std::to_string(line);
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
        operation.nic = static_cast<uint32_t>(TakeNumber("a NIC", 255));
    }
    NoteGoalLabels(operation, m_path + ":" + std::to_string(operation.place), *m_problems);
    return operation;
}

GoalRank
GoalText::ReadRank(ListedGraph& graph, uint32_t rank)
{
    const uint32_t ranks = graph.GetRanks();
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
    tasks.Sort(rank, m_path + ":" + std::to_string(m_line));
    Expect("}");
    return tasks;
}

std::unique_ptr<ListedGraph>
GoalText::Read(FormatProblems& problems)
{
    m_problems = &problems;
    Expect("num_ranks");
    const auto ranks = static_cast<uint32_t>(TakeNumber("number of ranks", MAX_GOAL_RANKS));
    if (ranks == 0)
    {
        throw ConfigurationError(m_path + ": 0 ranks (allowed: at least 1)");
    }
    auto graph = std::make_unique<ListedGraph>(m_path, ranks);
    graph->SetPlaces([path = m_path](uint32_t rank, const GraphTask& task) {
        const std::string line = task.id == 0 ? "" : std::to_string(task.place) + ":";
        return path + ":" + line + " rank " + std::to_string(rank);
    });
    std::vector<GoalRank> all;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        all.push_back(ReadRank(*graph, rank));
    }
    if (!m_token.empty())
    {
        Fail("the end of the file behind rank " + std::to_string(ranks - 1) + ", as num_ranks is " +
             std::to_string(ranks));
    }
    MatchWildcards(all, m_path, problems);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        all[rank].GetSorter().MoveTo(*graph, rank);
    }
    return graph;
}

} // namespace

std::unique_ptr<ListedGraph>
ReadGoalText(const std::string& path, const std::string& text, FormatProblems& problems)
{
    return GoalText(path, text).Read(problems);
}

} // namespace ns3::training
