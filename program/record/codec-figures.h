/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_FIGURES_H
#define DISTRIBUTED_TRAINING_CODEC_FIGURES_H

#include "coding-errors.h"
#include "run-figures.h"

#include "ns3/coding-unit.h"
#include "ns3/training-cluster.h"

#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A row of the table `codec_counter`: what a rank has coded.
 */
struct CodecCounterRow : CodingCounters
{
    uint32_t rank{0}; ///< the rank

    /** @return the columns */
    static std::vector<RecordField<CodecCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-helper
 *
 * What the hosts of all ranks have coded.
 */
struct CodecFigures : Figures
{
    std::string codec;                  ///< with its keys
    std::string place;                  ///< message or bucket
    std::string device;                 ///< gpu or cpu
    bool isDeclared{false};             ///< whether the user declared the size of codes
    bool canCodeOwner{false};           ///< whether owner=coded mends drift
    CodingCounters counters;            ///< of all ranks
    double longestS{0};                 ///< time of coding of the rank that coded longest, s
    std::optional<CodingErrors> errors; ///< with real payload
    std::vector<CodecCounterRow> rows;  ///< by rank

    /** @return bytes of gradients before coding per byte sent */
    double GetRatio() const;

    std::string GetName() const override
    {
        return "codec";
    }

    JsonValue ToJson() const override;
    void AddRows(ResultStore& store) const override;

    /** @return lines for the end of a program's output */
    std::string Format() const override;
};

/**
 * @ingroup distributed-training-helper
 * Collects the counters of all ranks. Collective: all processes call it (see Processes).
 * @param cluster after the run
 * @return counters by rank; none without a codec
 */
std::vector<CodingCounters> GatherCoding(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_FIGURES_H
