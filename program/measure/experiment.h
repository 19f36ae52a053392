/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EXPERIMENT_H
#define DISTRIBUTED_TRAINING_EXPERIMENT_H

#include "ns3/program-options.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"
#include "ns3/training-json-writer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Records all simulations of a program into files, see RunOutputs::GetCurrent().
 * @param options of the program
 * @param files of the simulations; of none, they are not recorded
 * @param simulate runs them
 * @throw ConfigurationError if a file cannot be written
 * @throw SimulationStuck if a simulation does; the files are complete up to then
 */
void RecordAll(const ProgramOptions& options,
               const RunFilesOptions& files,
               const std::function<void()>& simulate);

/**
 * @ingroup distributed-training-helper
 * Parts of an experiment by name, for the option --part.
 */
using ExperimentParts = std::vector<std::pair<std::string, std::function<void()>>>;

/**
 * @ingroup distributed-training-helper
 * Runs an experiment of several simulations in a single process. Then prints its cost, unless JSON
 * goes to standard output, and writes its results.
 * @param options of the program
 * @param json as for JsonOutput
 * @param files record all simulations
 * @param part name of one part, or "all"
 * @param parts the parts
 * @param results called at the end; cost, configuration and version are added
 * @param cost of all simulations, read at the end
 * @param hosts what else is assumed of hosts, one line; empty: they have no model
 * @throw ConfigurationError if there are several processes, or the file cannot be written
 */
void RunExperiment(const ProgramOptions& options,
                   const std::string& json,
                   const RunFilesOptions& files,
                   const std::string& part,
                   const ExperimentParts& parts,
                   const std::function<JsonValue()>& results,
                   const RunCost& cost,
                   const std::string& hosts = "");

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EXPERIMENT_H
