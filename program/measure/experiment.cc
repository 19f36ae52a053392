/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "experiment.h"

#include "ns3/cluster-options.h"
#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-version.h"

#include <iostream>
#include <limits>

namespace ns3::training
{

void
RecordAll(const ProgramOptions& options,
          const RunFilesOptions& files,
          const std::function<void()>& simulate)
{
    files.Check(std::numeric_limits<uint32_t>::max());
    if (!files.IsGiven())
    {
        simulate();
        return;
    }
    RunOutputs outputs(files, options.GetName());
    outputs.MakeCurrent(options.ToJson());
    try
    {
        simulate();
    }
    catch (const SimulationStuck&) // the runs so far are kept
    {
        outputs.Complete();
        throw;
    }
    outputs.Complete();
}

void
RunExperiment(const ProgramOptions& options,
              const std::string& json,
              const RunFilesOptions& files,
              const std::string& part,
              const ExperimentParts& parts,
              const std::function<JsonValue()>& results,
              const RunCost& cost,
              const std::string& hosts)
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1)");
    }
    const JsonOutput output(json);
    RecordAll(options, files, [&] {
        for (const auto& [name, run] : parts)
        {
            if (part == "all" || part == name)
            {
                run();
            }
        }
    });
    auto document = results();
    const std::string inputs =
        ClusterOptions().DescribeHosts() + (hosts.empty() ? "" : "; " + hosts);
    if (json != "-")
    {
        std::cout << FormatRunCost(cost) << "\n" << FormatInputs(inputs) << std::flush;
    }
    AddRunCost(document, cost);
    document.Set("inputs", inputs);
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    output.Write(document);
}

} // namespace ns3::training
