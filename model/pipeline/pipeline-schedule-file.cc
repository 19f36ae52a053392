/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Allowed cells, for messages.
constexpr const char* ALLOWED =
    " (allowed: <stage><action><micro-batch> with the actions F, B, I, W, SEND_F, RECV_F, SEND_B, "
    "RECV_B; <stage> with UNSHARD, RESHARD, REDUCE_GRAD; (cell;cell)OVERLAP_F_B)";

/// Maximum number of stages and of micro-batches.
constexpr uint64_t MAX_NUMBER = 1U << 20;

/** A cell of the file, or one of two that overlap. */
struct Cell
{
    std::string where; // file:line and cell
    uint32_t rank;
    std::string action; // its name
    uint32_t stage;
    uint32_t microBatch; // or 0
    bool joinsNext;      // runs together with the next one
};

/** Stage and micro-batch of a message, and whether it has activations rather than gradients. */
using Message = std::tuple<uint32_t, uint32_t, bool>;

/**
 * Reads a schedule file of PyTorch (torch.distributed.pipelining): a row for each rank, a cell for
 * each step, empty if the rank does nothing.
 */
class ScheduleFileReader
{
  public:
    explicit ScheduleFileReader(const std::string& path)
        : m_path(path)
    {
    }

    PipelineSchedule Read(uint32_t ranks, uint32_t microBatches);

  private:
    void ReadRow(uint32_t rank, std::string row);
    void ReadCell(uint32_t rank, const std::string& text, bool joinsNext);
    bool HasOldLetters() const;
    std::vector<uint32_t> PlaceStages() const;
    void CheckMessages(const PipelineSchedule& schedule) const;

    std::string m_path;
    std::vector<Cell> m_cells; // of all ranks, in order
};

void
ScheduleFileReader::ReadRow(uint32_t rank, std::string row)
{
    static const std::regex OVERLAP(R"(\(([^;()]*);([^;()]*)\)OVERLAP_F_B)");
    std::vector<std::string> cells;
    boost::split(cells, row, boost::is_any_of(","));
    for (std::string& cell : cells)
    {
        boost::trim_if(cell, boost::is_any_of(" \t\r\""));
        std::smatch match;
        if (std::regex_match(cell, match, OVERLAP))
        {
            ReadCell(rank, boost::trim_copy(match[1].str()), true);
            ReadCell(rank, boost::trim_copy(match[2].str()), false);
        }
        else if (!cell.empty())
        {
            ReadCell(rank, cell, false);
        }
    }
}

void
ScheduleFileReader::ReadCell(uint32_t rank, const std::string& text, bool joinsNext)
{
    static const std::regex OF_MICRO_BATCH(
        "([0-9]{1,7})(F|BW|B|I|W|SEND_F|RECV_F|SEND_B|RECV_B)([0-9]{1,7})");
    static const std::regex OF_STAGE("([0-9]{1,7})(UNSHARD|RESHARD|REDUCE_GRAD)()");
    const std::string where =
        m_path + ":" + std::to_string(rank + 1) + ": cell '" + MakePrintableName(text) + "'";
    std::smatch match;
    if (!std::regex_match(text, match, OF_MICRO_BATCH) && !std::regex_match(text, match, OF_STAGE))
    {
        throw ConfigurationError(where + ALLOWED);
    }
    const uint64_t stage = std::stoul(match[1]);
    const uint64_t microBatch = match[3].length() > 0 ? std::stoul(match[3]) : 0;
    if (std::max(stage, microBatch) >= MAX_NUMBER)
    {
        throw ConfigurationError(where + " (allowed: stages and micro-batches below " +
                                 std::to_string(MAX_NUMBER) + ")");
    }
    m_cells.push_back({where,
                       rank,
                       match[2],
                       static_cast<uint32_t>(stage),
                       static_cast<uint32_t>(microBatch),
                       joinsNext});
}

/**
 * @return whether B means the gradients of inputs, and BW both: the letters before 2025. Then a
 *         stage has B and W of one micro-batch
 */
bool
ScheduleFileReader::HasOldLetters() const
{
    std::set<std::pair<uint32_t, uint32_t>> inputs; // or both
    std::set<std::pair<uint32_t, uint32_t>> weights;
    for (const Cell& cell : m_cells)
    {
        if (cell.action == "BW")
        {
            return true;
        }
        if (cell.action == "B")
        {
            inputs.emplace(cell.stage, cell.microBatch);
        }
        if (cell.action == "W")
        {
            weights.emplace(cell.stage, cell.microBatch);
        }
    }
    return std::any_of(weights.begin(), weights.end(), [&inputs](const auto& weight) {
        return inputs.count(weight) > 0;
    });
}

std::vector<uint32_t>
ScheduleFileReader::PlaceStages() const
{
    std::map<uint32_t, uint32_t> places;
    for (const Cell& cell : m_cells)
    {
        const auto [place, isNew] = places.emplace(cell.stage, cell.rank);
        if (place->second != cell.rank)
        {
            throw ConfigurationError(cell.where +
                                     " (allowed: a stage on one rank, this one is on "
                                     "rank " +
                                     std::to_string(place->second) + ")");
        }
    }
    std::vector<uint32_t> rankOfStage;
    for (const auto& [stage, rank] : places)
    {
        if (stage != rankOfStage.size())
        {
            throw ConfigurationError(m_path + ": no stage " + std::to_string(rankOfStage.size()) +
                                     " (allowed: stages from 0 without a gap)");
        }
        rankOfStage.push_back(rank);
    }
    return rankOfStage;
}

/** Sends and receives follow from the work. If the file has any, they must be those. */
void
ScheduleFileReader::CheckMessages(const PipelineSchedule& schedule) const
{
    std::set<Message> sent;
    std::set<Message> received;
    for (const Cell& cell : m_cells)
    {
        if (cell.action.find('_') == std::string::npos || cell.action == "REDUCE_GRAD")
        {
            continue;
        }
        // A receive is named after the stage that receives.
        const bool isActivation = cell.action.back() == 'F';
        const bool sends = cell.action[0] == 'S';
        const uint32_t other = isActivation == sends ? cell.stage + 1 : cell.stage - 1;
        const uint32_t from = sends ? cell.stage : other;
        if (other >= schedule.GetStages() ||
            schedule.rankOfStage[other] == schedule.rankOfStage[cell.stage] ||
            !(sends ? sent : received).emplace(from, cell.microBatch, isActivation).second)
        {
            throw ConfigurationError(cell.where +
                                     " (allowed: one message for each micro-batch and each "
                                     "neighbouring stage on another rank)");
        }
    }
    if (sent.empty() && received.empty())
    {
        return;
    }
    for (uint32_t stage = 0; stage < schedule.GetStages(); stage++)
    {
        for (const bool isActivation : {true, false})
        {
            const uint32_t other = isActivation ? stage + 1 : stage - 1;
            if (other >= schedule.GetStages() ||
                schedule.rankOfStage[other] == schedule.rankOfStage[stage])
            {
                continue;
            }
            for (uint32_t microBatch = 0; microBatch < schedule.microBatches; microBatch++)
            {
                const Message message{stage, microBatch, isActivation};
                if (sent.count(message) + received.count(message) != 2)
                {
                    const std::string letter = isActivation ? "F" : "B";
                    const std::string number = letter + std::to_string(microBatch);
                    throw ConfigurationError(
                        m_path + ": " +
                        (sent.count(message) == 0 ? std::to_string(stage) + "SEND_" + number
                                                  : std::to_string(other) + "RECV_" + number) +
                        " is missing (allowed: all sends and receives, or none)");
                }
            }
        }
    }
}

PipelineSchedule
ScheduleFileReader::Read(uint32_t ranks, uint32_t microBatches)
{
    const auto text = ReadPackedFile(m_path);
    if (!text)
    {
        throw ConfigurationError(m_path +
                                 ": cannot be read (allowed: a schedule of PyTorch, a row for each "
                                 "rank)");
    }
    std::vector<std::string> rows;
    boost::split(rows, boost::trim_right_copy(*text), boost::is_any_of("\n"));
    if (rows.size() != ranks)
    {
        throw ConfigurationError(m_path + ": " + std::to_string(rows.size()) + " rows (allowed: " +
                                 std::to_string(ranks) + ", one for each rank of the pipeline)");
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        ReadRow(rank, rows[rank]);
    }
    const bool hasOldLetters = HasOldLetters();
    const std::map<std::string, PipelineWork> works{
        {"F", PipelineWork::FORWARD},
        {"B", hasOldLetters ? PipelineWork::INPUT_GRADIENT : PipelineWork::BACKWARD},
        {"BW", PipelineWork::BACKWARD},
        {"I", PipelineWork::INPUT_GRADIENT},
        {"W", PipelineWork::WEIGHT_GRADIENT},
        {"UNSHARD", PipelineWork::UNSHARD},
        {"RESHARD", PipelineWork::RESHARD},
        {"REDUCE_GRAD", PipelineWork::REDUCE_GRADIENT},
    };
    PipelineSchedule schedule{0, PlaceStages(), {}};
    schedule.actions.resize(ranks);
    for (const Cell& cell : m_cells)
    {
        const auto work = works.find(cell.action);
        if (work != works.end())
        {
            schedule.actions[cell.rank].push_back(
                {work->second, cell.stage, cell.microBatch, cell.joinsNext});
        }
        schedule.microBatches = std::max(schedule.microBatches, cell.microBatch + 1);
    }
    if (schedule.microBatches != microBatches)
    {
        throw ConfigurationError(m_path + ": " + std::to_string(schedule.microBatches) +
                                 " micro-batches (allowed: " + std::to_string(microBatches) +
                                 ", those of the job)");
    }
    CheckMessages(schedule);
    return schedule;
}

PipelineSchedule
ReadScheduleFile(uint32_t ranks, uint32_t microBatches, const KeyValues& values)
{
    return ScheduleFileReader(values.GetFirst()).Read(ranks, microBatches);
}

const Registry<PipelineScheduleEntry>::Entry g_file(
    "file",
    {"a schedule file of PyTorch, with or without sends and receives",
     &ReadScheduleFile,
     {},
     FirstValue{"PATH", "the file", true, true, {}}});

} // namespace

} // namespace ns3::training
