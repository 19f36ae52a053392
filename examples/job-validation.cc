/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Published times of whole training jobs next to ours. Rows of role calibration give what is not
 * known of the machine; the others follow from it.
 *
 *   ./ns3w run job-validation
 */

#include "hidden-global-values.h"
#include "job-validation-comparison.h"
#include "job-validation-experts.h"
#include "job-validation-models.h"
#include "job-validation-sockets.h"
#include "job-validation-zero.h"

#include "ns3/cluster-command-line.h"
#include "ns3/experiment.h"
#include "ns3/training-program.h"

using namespace ns3;
using namespace ns3::training;

namespace
{

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("job-validation", "Whole training jobs: published beside ours.");
    options.Group("Experiment");
    options.AddChoice(
        "part",
        "zero: ZeRO-3 and ZeRO++; replicas: of Megatron-LM; mlperf: Llama 3.1 405B; "
        "torchtitan: FSDP and schedules; experts: exchanges of tokens; operations: "
        "of ten models; sockets: collectives of NCCL over kernel TCP",
        setting.part,
        {"all", "zero", "replicas", "mlperf", "torchtitan", "experts", "operations", "sockets"});
    options.AddBool("full",
                    "simulate all bytes of a collective; otherwise vectors above 64 MiB take the "
                    "time on the line through this size and half of it",
                    setting.full);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"zero", [&] { comparison.CompareZero(); }},
         {"replicas", [&] { comparison.CompareReplicas(); }},
         {"mlperf", [&] { comparison.CompareMlPerf(); }},
         {"torchtitan", [&] { comparison.CompareTorchTitan(); }},
         {"experts", [&] { comparison.CompareExperts(); }},
         {"operations", [&] { comparison.CompareOperations(); }},
         {"sockets", [&] { comparison.CompareSockets(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost(),
        "over kernel TCP host model nccl-socket");
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("job-validation", [&] { return Compare(argc, argv); });
}
