/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/listed-graph.h"
#include "formats/workload-format.h"
#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace ns3::training
{

namespace
{

/** A schedule of a pipeline as a job: every stage takes the same times. */
class PipelineJob
{
  public:
    PipelineJob(const FormatRequest& request, const KeyValues& values)
        : m_path(request.path),
          m_bytes(values.GetBytes("bytes"))
    {
        const Time input = values.GetTime("input");
        const Time weight = values.GetTime("weight");
        m_times = {values.GetTime("forward"), input + weight, input, weight};
    }

    FormatResult Read();

  private:
    PipelineSchedule ReadSchedule();
    void CheckOrder(const std::string& line, const std::string& where);
    void AddAction(uint32_t rank, const PipelineAction& action);
    void AddMessage(uint32_t rank, TaskKind kind, const PipelineAction& action, uint64_t work);

    std::string m_path;
    uint64_t m_bytes;
    std::array<Time, 4> m_times; // by PipelineWork
    PipelineSchedule m_schedule;
    std::unique_ptr<ListedGraph> m_graph;
    FormatProblems m_problems;
};

/** Refuses a rank that uses a message before it receives it, or sends it before it is computed. */
void
PipelineJob::CheckOrder(const std::string& line, const std::string& where)
{
    static const std::regex CELL("([0-9]{1,7})(SEND_|RECV_)?(F|BW|B|I|W)([0-9]{1,7})(?![0-9])");
    std::set<std::string> computed;
    std::set<std::string> sent;
    for (std::sregex_iterator cell(line.begin(), line.end(), CELL), end; cell != end; ++cell)
    {
        const std::string message = (*cell)[2].str();
        // BW and I make the gradients that B sends; weights send nothing.
        const std::string work = (*cell)[3].str() == "F"   ? "F"
                                 : (*cell)[3].str() == "W" ? "W"
                                                           : "B";
        const std::string key = (*cell)[1].str() + work + (*cell)[4].str();
        const bool isLate = message == "RECV_" && computed.count(key) > 0;
        if (isLate || sent.count(key) > 0)
        {
            throw ConfigurationError(where + ": '" + cell->str() + "' behind what " +
                                     (isLate ? "needs it" : "sends its result") +
                                     " (allowed: receive, compute, send)");
        }
        if (!message.empty())
        {
            m_problems.Add("the order of sends and receives, which does not count: messages are "
                           "sent as soon as they are computed",
                           where);
        }
        else
        {
            computed.insert(key);
        }
        if (message == "SEND_" && computed.count(key) == 0)
        {
            sent.insert(key);
        }
    }
}

/** The file tells how many ranks and micro-batches there are. */
PipelineSchedule
PipelineJob::ReadSchedule()
{
    const auto text = ReadPackedFile(m_path);
    if (!text)
    {
        throw ConfigurationError(m_path + ": cannot be read (allowed: a schedule of PyTorch)");
    }
    static const std::regex CELL("[0-9]{1,7}[A-Z_]{1,8}([0-9]{1,7})");
    uint32_t microBatches = 1;
    for (std::sregex_iterator cell(text->begin(), text->end(), CELL), end; cell != end; ++cell)
    {
        microBatches =
            std::max(microBatches, static_cast<uint32_t>(std::stoul((*cell)[1].str()) + 1));
    }
    std::istringstream lines(*text);
    uint32_t ranks = 0;
    uint32_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        CheckOrder(line, m_path + ":" + std::to_string(number));
        ranks = line.find_first_not_of(" \t\r") == std::string::npos ? ranks : number;
    }
    return MakePipelineSchedule("file:" + m_path, ranks, microBatches);
}

/** @param work the computation that uses the message, or makes it */
void
PipelineJob::AddMessage(uint32_t rank, TaskKind kind, const PipelineAction& action, uint64_t work)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const bool sends = kind == TaskKind::SEND;
    // Activations go to the next stage, gradients to the one before.
    const int64_t other = int64_t{action.stage} + (isForward == sends ? 1 : -1);
    if (other < 0 || other >= m_schedule.GetStages() ||
        m_schedule.rankOfStage[static_cast<uint32_t>(other)] == rank)
    {
        return;
    }
    GraphTask task;
    task.kind = kind;
    task.name = m_graph->AddName(isForward ? "activations" : "gradients");
    task.parallelism = Parallelism::PIPELINE;
    task.stream = NO_STREAM;
    task.peer = m_schedule.rankOfStage[static_cast<uint32_t>(other)];
    task.microBatch = static_cast<int32_t>(action.microBatch);
    task.bytes = m_bytes;
    const uint64_t from = sends ? action.stage : static_cast<uint64_t>(other);
    task.tag = (from * m_schedule.microBatches + action.microBatch) * 2 + (isForward ? 1 : 0);
    if (sends)
    {
        task.after.push_back(work);
    }
    m_graph->Add(rank, task);
}

void
PipelineJob::AddAction(uint32_t rank, const PipelineAction& action)
{
    if (!IsCompute(action.work))
    {
        m_problems.Add("UNSHARD, RESHARD and REDUCE_GRAD, which are left out", m_path);
        return;
    }
    m_problems.Use();
    // Weights need nothing from other ranks, and nobody waits for them.
    const bool communicates = action.work != PipelineWork::WEIGHT_GRADIENT;
    GraphTask task;
    task.name = m_graph->AddName(action.ToString());
    task.microBatch = static_cast<int32_t>(action.microBatch);
    task.length = m_times[static_cast<uint32_t>(action.work)];
    if (communicates)
    {
        const std::size_t before = m_graph->GetSize(rank);
        AddMessage(rank, TaskKind::RECEIVE, action, 0);
        if (m_graph->GetSize(rank) > before)
        {
            task.after.push_back(m_graph->GetSize(rank)); // numbers are those of the order
        }
    }
    const uint64_t work = m_graph->Add(rank, task);
    if (communicates)
    {
        AddMessage(rank, TaskKind::SEND, action, work);
    }
}

FormatResult
PipelineJob::Read()
{
    m_problems.SetFile(InputManifest::Begin(m_path));
    m_schedule = ReadSchedule();
    m_graph = std::make_unique<ListedGraph>(m_path, m_schedule.GetRanks());
    for (uint32_t rank = 0; rank < m_schedule.GetRanks(); rank++)
    {
        for (const PipelineAction& action : m_schedule.actions[rank])
        {
            AddAction(rank, action);
        }
    }
    m_problems.Add("a schedule has neither times nor sizes: those of forward=, input=, weight= and "
                   "bytes= are taken; --schedule=FILE with --model= has those of a model",
                   m_path);
    FormatResult result;
    result.graph = std::move(m_graph);
    result.problems = m_problems.GetLines();
    return result;
}

bool
RecognizePipeline(const std::string& /* path */, const std::string& begin)
{
    static const std::regex CELL(R"([\s,"(]*[0-9]{1,7}(F|BW|B|I|W|SEND_F|RECV_F|SEND_B|RECV_B))"
                                 R"(([0-9]{1,7})[\s,;")][^]*|[\s,"]*[0-9]{1,7}UNSHARD,[^]*)");
    return std::regex_match(begin.substr(0, 256), CELL);
}

FormatResult
ReadPipeline(const FormatRequest& request, const KeyValues& values)
{
    return PipelineJob(request, values).Read();
}

const Registry<WorkloadFormatEntry>::Entry g_pipeline(
    "pipeline-csv",
    {"schedules of pipelines of PyTorch, of either dialect, with times and sizes that are given",
     &RecognizePipeline,
     &ReadPipeline,
     {Key::Of("forward", Key::Type::TIME, "1ms", "time of a forward pass in a stage"),
      Key::Of("input", Key::Type::TIME, "1ms", "time of the gradients of a stage's inputs"),
      Key::Of("weight", Key::Type::TIME, "1ms", "time of the gradients of its weights"),
      Key::Of("bytes", Key::Type::BYTES, "1MiB", "activations of a micro-batch between stages")},
     FirstValue{"PATH", "the file", false, true, {}}});

} // namespace

} // namespace ns3::training
