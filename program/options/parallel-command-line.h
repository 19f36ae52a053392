/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_COMMAND_LINE_H
#define DISTRIBUTED_TRAINING_PARALLEL_COMMAND_LINE_H

#include "program-options.h"

#include "ns3/parallel-options.h"
#include "ns3/parallel-plan.h"
#include "ns3/rank-tasks.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A transformer and how it is divided among ranks: options of the command line.
 */
struct ParallelJobOptions
{
    /// No transformer.
    static constexpr const char* NONE = "none";

    ParallelJobOptions();

    std::string model{NONE};       ///< a transformer, a workload, or a JSON file
    uint64_t sequence{0};          ///< tokens of a sample; 0: those of the model
    std::string precision{"bf16"}; ///< of matrix products: bf16, fp8 or fp4
    /// Part of the rooflines of its operators that it reaches; 0: see GpuEntry::trained.
    double efficiency{0};
    std::string kernels;          ///< CSV file of a KernelTable; empty: all times are estimated
    double expectedParameters{0}; ///< 0: see GetExpectedParameters()
    std::string sampleLengths;    ///< see ReadSampleLengths(); empty: all samples are alike
    /// How it is divided; data 0: from the number of ranks; global batch 0: a micro-batch for each
    /// rank of a pipeline.
    ParallelOptions parallel;

    /**
     * Adds all fields but the bucket as options of a program.
     * @param options of the program
     */
    void AddTo(ProgramOptions& options);

    /**
     * Makes it the schedule of pipelines if it names one, or a CSV file.
     * @param schedule that of collectives or of pipelines; empty if it was taken
     */
    void TakeSchedule(std::string& schedule);

    /**
     * Refuses options that would have no effect.
     * @param options of the program, parsed
     * @throw ConfigurationError if an option of --model is given without it, or one of --workload
     *        with it
     */
    void CheckGiven(const ProgramOptions& options) const;

    /** @return whether a transformer is trained */
    bool HasTransformer() const;

    /**
     * @return how many parameters the model should have: what was given, or the number in the name
     *         of its file or the folder of a config.json, such as 405b in llama-3.1-405b; 0:
     * neither
     */
    double GetExpectedParameters() const;

    /**
     * @param ranks of the cluster; 0: as many as needed
     * @return who has which part
     * @throw ConfigurationError if the model is unknown, sizes do not fit, or do not multiply to
     *        the number of ranks
     */
    std::shared_ptr<const ParallelPlan> MakePlan(uint64_t ranks) const;

    /**
     * @param plan who has which part
     * @param gpu name of a GpuEntry
     * @return model, sizes and schedule; part of a line
     */
    std::string Describe(const ParallelPlan& plan, const std::string& gpu) const;

    /**
     * @param gpu name of a GpuEntry
     * @param computeScale factor of compute times
     * @return how fast a rank computes
     * @throw ConfigurationError if the GPU is unknown, or its peak with 8 bits, or the file of
     *        kernels is wrong
     */
    TransformerRates GetRates(const std::string& gpu, double computeScale) const;
};

/**
 * @ingroup distributed-training-helper
 * @param parameters of a model
 * @param expected how many it should have; 0: not known
 * @return how far they are apart, after a comma; empty: not known
 */
std::string CompareParameters(double parameters, double expected);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_COMMAND_LINE_H
