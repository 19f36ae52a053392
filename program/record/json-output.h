/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JSON_OUTPUT_H
#define DISTRIBUTED_TRAINING_JSON_OUTPUT_H

#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Destination of a program's JSON results.
 */
class JsonOutput
{
  public:
    /**
     * @ingroup distributed-training-helper
     * @param target a file, "-" for standard output, or empty for none
     */
    explicit JsonOutput(const std::string& target);

    /**
     * @ingroup distributed-training-helper
     * @param results written if there is a target and this is the first process, with `schema`
     * @throw std::runtime_error if the file cannot be written
     */
    void Write(const JsonValue& results) const;

    /// Version of the documents: doc/results.schema.json describes them.
    static constexpr uint64_t SCHEMA = 3;

  private:
    std::string m_target;
};

/**
 * @ingroup distributed-training-helper
 * @param document receives the members state, "failed", and reason, unless the run is complete
 * @param failure why the run ended early, one line; empty if it did not
 */
void AddFailure(JsonValue& document, const std::string& failure);

/**
 * @ingroup distributed-training-helper
 * @param options of the program, see ProgramOptions::ToJson()
 * @param cluster that was built from them
 * @param more resolved values of other options
 * @return every option's value, and under "resolved" the values chosen for "auto"
 */
JsonValue GetConfiguration(JsonValue options,
                           const Cluster& cluster,
                           const std::vector<std::pair<std::string, JsonValue>>& more = {});

/**
 * @ingroup distributed-training-helper
 * @param inputs what is given to a simulation rather than simulated, such as the hosts' times
 * @return the last line of a program's table
 */
std::string FormatInputs(const std::string& inputs);

/**
 * @ingroup distributed-training-helper
 * @param notes of a cluster, see Cluster::GetNotes()
 * @return a comment line for each, which precede a table
 */
std::string FormatNotes(const std::vector<std::string>& notes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JSON_OUTPUT_H
