/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHECKED_OPERATORS_H
#define DISTRIBUTED_TRAINING_CHECKED_OPERATORS_H

#include "ns3/parallel-plan.h"
#include "ns3/rank-tasks.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * An operator of a transformer, and how long it takes.
 */
struct CheckedOperator
{
    std::string pass;     ///< see GetName(LayerPass)
    std::string name;     ///< what it is for
    std::string kernel;   ///< its kind
    std::string shape;    ///< its sizes
    std::string format;   ///< of its numbers
    uint64_t count{0};    ///< in a micro-batch, all layers and stages
    double operations{0}; ///< that it does, floating-point operations
    double bytes{0};      ///< that it moves
    double seconds{0};    ///< its time
    std::string bound;    ///< memory, compute, or measured
};

/**
 * @ingroup distributed-training-helper
 * @param plan who has which part of a model
 * @param rates of computations
 * @return its operators at the first rank; none if the rates know no operators
 */
std::vector<CheckedOperator> CheckOperators(const ParallelPlan& plan,
                                            const TransformerRates& rates);

/** @param all operators @return list of objects */
JsonValue ToJson(const std::vector<CheckedOperator>& all);

/** @param all operators @return a table, lines */
std::string ToText(const std::vector<CheckedOperator>& all);

/**
 * @ingroup distributed-training-helper
 * Tells the manifest which rows of a file of measured times count.
 * @param plan who has which part of a model
 * @param rates of computations
 * @return whether they are those of all operators; otherwise that the times are partly estimated,
 *         and the first operators that are missing. Empty: there is no such file
 */
std::string DescribeMeasured(const ParallelPlan& plan, const TransformerRates& rates);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHECKED_OPERATORS_H
