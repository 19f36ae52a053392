/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_FIGURES_H
#define DISTRIBUTED_TRAINING_CODEC_FIGURES_H

#include "coding-errors.h"

#include "ns3/coding-unit.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What the hosts of all ranks have coded.
 */
struct CodecFigures
{
    std::string codec;                  ///< with its keys
    std::string place;                  ///< message or bucket
    std::string device;                 ///< gpu or cpu
    bool isDeclared{false};             ///< whether the user declared the size of codes
    bool canCodeOwner{false};           ///< whether owner=coded mends drift
    CodingCounters counters;            ///< of all ranks
    double longestS{0};                 ///< time of coding of the rank that coded longest, s
    std::optional<CodingErrors> errors; ///< with real payload

    /** @return bytes of gradients before coding per byte sent */
    double GetRatio() const;

    /** @return the JSON object `codec` */
    JsonValue ToJson() const;

    /** @return lines for the end of a program's output */
    std::string Format() const;
};

/**
 * @ingroup distributed-training-helper
 * Collects the counters of all ranks. Collective: all processes call it (see Processes).
 * @param cluster after the run
 * @return counters by rank; none without a codec
 */
std::vector<CodingCounters> GatherCoding(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 * Sums up the figures of all ranks. Collective: all processes call it (see Processes).
 * @param cluster after the run
 * @param isReal whether messages carried numbers
 * @param errors with real payload
 * @return the figures; none without a codec
 */
std::optional<CodecFigures> GetCodecFigures(const Cluster& cluster,
                                            bool isReal,
                                            const std::optional<CodingErrors>& errors);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_FIGURES_H
