/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_FIGURES_H
#define DISTRIBUTED_TRAINING_NIC_FIGURES_H

#include "coding-errors.h"

#include "ns3/codec-engine.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What the engines in the NICs of all ranks have coded.
 */
struct NicFigures
{
    std::string codec;                  ///< with its keys
    bool codesOwner{false};             ///< whether a rank keeps coded numbers of what it sends
    bool isDeclared{false};             ///< whether the user declared the size of codes
    CodecCounters counters;             ///< of all engines
    std::optional<CodingErrors> errors; ///< with real payload

    /** @return the JSON object `nic` */
    JsonValue ToJson() const;

    /** @return lines for the end of a program's output */
    std::string Format() const;
};

/**
 * @ingroup distributed-training-helper
 * Collects the counters of all engines. Collective: all processes call it (see Processes).
 * @param cluster after the run
 * @return counters by index of the device; none without engines
 */
std::vector<CodecCounters> GatherEngines(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 * @param classes of a codec
 * @return the count of each by its name
 */
JsonValue ToJson(const std::vector<CodecClass>& classes);

/**
 * @ingroup distributed-training-helper
 *
 * Sums up the figures of all ranks. Collective: all processes call it (see Processes).
 *
 * @param cluster after the run
 * @param errors with real payload
 * @return the figures; none without engines
 */
std::optional<NicFigures> GetNicFigures(const Cluster& cluster,
                                        const std::optional<CodingErrors>& errors);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_FIGURES_H
