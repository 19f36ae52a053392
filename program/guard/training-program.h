/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_H
#define DISTRIBUTED_TRAINING_PROGRAM_H

#include "ns3/program-options.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-version.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @addtogroup distributed-training-helper
 * Common parts of the example programs.
 * @{
 */

/**
 * Runs a program's body and maps its exceptions to exit statuses, each with one line on standard
 * error: 2 for a ConfigurationError, 3 for SimulationStuck, 1 for anything else, also if standard
 * output cannot be written. After SimulationInterrupted the signal ends the program. With several
 * processes (see Processes) only the first one writes to standard output and error.
 * @param name of the program
 * @param body returns the exit status: 0, or 4 for a wrong result
 * @return the exit status; 0 in all processes but the first
 */
int RunProgram(const std::string& name, const std::function<int()>& body);

/**
 * @param text any text
 * @return the text as one line for a terminal: control characters are replaced by '?', and the
 *         middle of very long words is left out
 */
std::string ToLine(const std::string& text);

/**
 * @param option name of the option, for messages
 * @param text `begin:end:xFACTOR`, `begin:end:STEP`, or a list `a,b,c` of sizes with units
 * @return the sizes in bytes
 * @throw ConfigurationError if the text is invalid
 */
std::vector<uint64_t> ParseSizes(const std::string& option, const std::string& text);

/** Destination of a program's JSON results. */
class JsonOutput
{
  public:
    /**
     * @param target a file, "-" for standard output, or empty for none
     */
    explicit JsonOutput(const std::string& target);

    /**
     * @param document written if there is a target and this is the first process
     * @throw std::runtime_error if the file cannot be written
     */
    void Write(const JsonValue& document) const;

  private:
    std::string m_target;
};

/**
 * @param document receives the members state, "failed", and reason, unless the run is complete
 * @param failure why the run ended early, one line; empty if it did not
 */
void AddFailure(JsonValue& document, const std::string& failure);

/**
 * @param options of the program
 * @param cluster that was built from them
 * @param choices values chosen for "auto" of other options than those of the cluster
 * @return every option's value, and under "resolved" the values chosen for "auto"
 */
JsonValue GetConfiguration(const ProgramOptions& options,
                           const Cluster& cluster,
                           const std::vector<std::pair<std::string, std::string>>& choices = {});

/**
 * @param document receives the members events, packet_hops, packet_hops_per_cpu_s, cpu_s,
 *        peak_memory_MiB
 * @param cost their values
 */
void AddRunCost(JsonValue& document, const RunCost& cost);

/**
 * @param cost of a simulation
 * @return the cost in one line
 */
std::string FormatRunCost(const RunCost& cost);

/**
 * @param inputs what is given to a simulation rather than simulated, such as the hosts' times
 * @return the last line of a program's table
 */
std::string FormatInputs(const std::string& inputs);

/**
 * @param notes of a cluster, see Cluster::GetNotes()
 * @return a comment line for each, which precede a table
 */
std::string FormatNotes(const std::vector<std::string>& notes);

/**
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

/** Parts of an experiment by name, for the option --part. */
using ExperimentParts = std::vector<std::pair<std::string, std::function<void()>>>;

/**
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

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_H
