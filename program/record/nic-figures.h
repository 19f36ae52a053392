/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_FIGURES_H
#define DISTRIBUTED_TRAINING_NIC_FIGURES_H

#include "coding-errors.h"
#include "run-figures.h"

#include "ns3/codec-engine.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A row of the table `nic_counter`: what an engine has counted.
 */
struct NicCounterRow : CodecCounters
{
    std::string node;         ///< name of the host
    uint32_t port{0};         ///< number of the port at that host
    std::string classNumbers; ///< numbers by class of the codec, as a JSON object

    /** @return the columns */
    static std::vector<RecordField<NicCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-helper
 *
 * What the engines in the NICs of all ranks have coded.
 */
struct NicFigures : Figures
{
    std::string codec;                  ///< with its keys
    bool codesOwner{false};             ///< whether a rank keeps coded numbers of what it sends
    bool isDeclared{false};             ///< whether the user declared the size of codes
    CodecCounters counters;             ///< of all engines
    std::optional<CodingErrors> errors; ///< with real payload
    std::vector<NicCounterRow> rows;    ///< by link

    std::string GetName() const override
    {
        return "nic";
    }

    JsonValue ToJson() const override;
    void AddRows(ResultStore& store) const override;

    /** @return lines for the end of a program's output */
    std::string Format() const override;
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

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_FIGURES_H
