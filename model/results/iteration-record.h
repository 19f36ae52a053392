/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ITERATION_RECORD_H
#define DISTRIBUTED_TRAINING_ITERATION_RECORD_H

#include "ns3/nstime.h"
#include "ns3/training-record-field.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Measurements of one rank in one iteration.
 */
struct RankIteration
{
    Time start;             ///< start of its forward pass
    Time end;               ///< end of its last step
    Time computeTime;       ///< compute time; of several ranks, the longest
    Time leastCompute;      ///< the same; of several ranks, the shortest
    Time totalCompute;      ///< the same; of several ranks, the sum
    Time communicationTime; ///< time with at least one collective or message in progress
    Time collectiveTime;    ///< time with at least one collective in progress
    Time bubble;            ///< idle until what it waited for could begin at other ranks
    Time exposedData;       ///< idle while gradients or parameters of replicas were exchanged
    Time exposedTensor;     ///< idle while parts of a layer were exchanged
    Time exposedPipeline;   ///< idle while stages exchanged activations or gradients
    Time exposedContext;    ///< idle while parts of a sequence were exchanged
    Time exposedExpert;     ///< idle while tokens went to their experts and back
    Time exposedOther;      ///< idle during communication for unknown reasons
    Time otherIdle;         ///< idle for other reasons
    Time overlapCost;       ///< of otherIdle: what computations lost to collectives beside them

    /**
     * Merges the measurements of two groups of ranks, each field by its IterationField::RankMerge.
     * @param other measurements of the other ranks
     */
    void Merge(const RankIteration& other);

    /**
     * Adds the times of another part of the same iteration of a rank.
     * @param other its times
     * @param count how many times
     */
    void Add(const RankIteration& other, int64_t count = 1);
};

/**
 * @ingroup distributed-training-results
 *
 * One iteration of a whole job, or a mean of iterations. GB is 10^9 bytes. GetIterationFields()
 * describes every member.
 */
struct IterationRecord
{
    uint32_t iteration{0};           ///< number, from 0; in a mean: number of iterations
    bool warmup{false};              ///< excluded from means
    bool derived{false};             ///< like the one before, and not simulated
    double startS{0};                ///< start of the job, or end of the previous iteration, s
    double endS{0};                  ///< end of the last rank, s
    double iterationTimeS{0};        ///< endS - startS
    double computeTimeS{0};          ///< compute time of the slowest rank, s
    double stragglerTimeS{0};        ///< compute time above that of the fastest rank, sum, s
    double communicationTimeS{0};    ///< mean of RankIteration::communicationTime over the ranks, s
    double idleS{0};                 ///< iterationTimeS - computeTimeS, s
    double exposedCommunicationS{0}; ///< sum of the six parts by kind, s
    double bubbleS{0};               ///< mean of RankIteration::bubble, s
    double exposedDataS{0};          ///< mean of RankIteration::exposedData, s
    double exposedTensorS{0};        ///< mean of RankIteration::exposedTensor, s
    double exposedPipelineS{0};      ///< mean of RankIteration::exposedPipeline, s
    double exposedContextS{0};       ///< mean of RankIteration::exposedContext, s
    double exposedExpertS{0};        ///< mean of RankIteration::exposedExpert, s
    double exposedOtherS{0};         ///< mean of RankIteration::exposedOther, s
    double otherIdleS{0};            ///< mean of RankIteration::otherIdle, s
    double overlapCostS{0};          ///< mean of RankIteration::overlapCost, s
    double busbwGBps{0};             ///< busBytes / collectiveTimeS, GB/s
    double lowerBoundS{0};           ///< lower bound of the communication time, s
    double scalingEfficiency{1};     ///< computeTimeS / iterationTimeS
    bool verified{false};            ///< every sum of every rank was compared and correct
    double leastComputeS{0};         ///< compute time of the fastest rank, s
    double meanComputeS{0};          ///< compute time, mean over the ranks, s
    double collectiveTimeS{0};       ///< mean of RankIteration::collectiveTime, s
    double busBytes{0};              ///< bytes for the bus bandwidth, see GetBusFactor()

    /** @return the fields that results files store */
    static const std::vector<RecordField<IterationRecord>>& GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * Description of one member of IterationRecord. Results files, JSON, the printed table, the merge
 * of ranks and processes, and means derive from these descriptions alone. A new quantity needs only
 * a member of the record, its field, and the line that measures it.
 */
struct IterationField : RecordField<IterationRecord>
{
    /** Role of the value, which determines its outputs. */
    enum class Kind
    {
        LABEL,    ///< identifies or qualifies an iteration: tables; last in JSON
        SPAN,     ///< simulated times: tables only
        QUANTITY, ///< a measurement: tables, JSON, means in JSON
        TERM      ///< term of a ratio: no output
    };

    /** Aggregation of iterations to a mean. */
    enum class Mean
    {
        COUNT, ///< number of iterations
        FIRST, ///< value of the first iteration
        LAST,  ///< value of the last iteration
        MEAN,  ///< arithmetic mean
        ALL,   ///< true if all are true
        RATIO  ///< ratio of the means of its terms
    };

    /** Aggregation of ranks to the job. */
    enum class RankMerge
    {
        EARLIEST, ///< minimum
        LATEST,   ///< maximum
        MEAN      ///< arithmetic mean
    };

    /** Quotient of two members. */
    struct Ratio
    {
        double IterationRecord::*numerator{nullptr};   ///< null: not a ratio
        double IterationRecord::*denominator{nullptr}; ///< member it is divided by
        double unit{1};                                ///< unit of the field, in units of its terms
    };

    /** Column of the printed table. */
    struct Column
    {
        uint32_t place{0};     ///< 1 for the first column; 0: not in the table
        std::string heading{}; ///< with the unit
        double factor{1};      ///< converts the member's unit to the column's
        int width{12};         ///< in characters, without the suffix
        int digits{3};         ///< digits after the decimal point
        std::string suffix{};  ///< printed after the number
    };

    Kind kind;                              ///< role of the value
    Mean mean;                              ///< aggregation to a mean
    Column column{};                        ///< column of the printed table
    Ratio ratio{};                          ///< terms, if the value is a ratio
    RankMerge merge{};                      ///< aggregation of ranks, if ranks measure the value
    Time RankIteration::*measured{nullptr}; ///< the ranks' measurement, or null
};

/**
 * @ingroup distributed-training-results
 * @return the description of every member, in the order of columns in results files
 */
const std::vector<IterationField>& GetIterationFields();

/**
 * @ingroup distributed-training-results
 * @return the fields that are measurements, in the order of JSON members
 */
const std::vector<RecordField<IterationRecord>>& GetIterationQuantities();

/**
 * @ingroup distributed-training-results
 * @param ranks measurements of all ranks, merged
 * @param count number of ranks
 * @param record receives the members that ranks measure
 */
void SetMeasurements(const RankIteration& ranks, uint32_t count, IterationRecord& record);

/**
 * @ingroup distributed-training-results
 * @param record its ratios are computed from their terms; a ratio with denominator 0 is unchanged
 */
void SetRatios(IterationRecord& record);

/**
 * @ingroup distributed-training-results
 * @param records iterations in order
 * @return mean over the iterations after warm-up; all zero if there are none
 */
IterationRecord GetMean(const std::vector<IterationRecord>& records);

/**
 * @ingroup distributed-training-results
 * @param mean of iterations
 * @return JSON object of its quantities
 */
JsonValue MeanToJson(const IterationRecord& mean);

/**
 * @ingroup distributed-training-results
 * @param record an iteration
 * @return JSON object of its quantities and labels
 */
JsonValue IterationToJson(const IterationRecord& record);

/** @return headings of the table of iterations, one line @ingroup distributed-training-results */
std::string FormatIterationHeadings();

/**
 * @ingroup distributed-training-results
 * @param name first column
 * @param record an iteration or a mean
 * @return its row in the table of iterations, one line
 */
std::string FormatIteration(const std::string& name, const IterationRecord& record);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ITERATION_RECORD_H
