/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_STATISTICS_H
#define DISTRIBUTED_TRAINING_RUN_STATISTICS_H

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Mean of independent measurements, and half the width of its 95 % confidence interval.
 */
struct MeanEstimate
{
    double mean{0};      ///< arithmetic mean
    double halfWidth{0}; ///< the true mean is within mean +- halfWidth with 95 % confidence
};

/**
 * @ingroup distributed-training-helper
 *
 * Estimates by Student's t distribution, which assumes that measurements vary normally.
 *
 * @param values at least one; one alone has no interval (0)
 * @return the estimate
 */
MeanEstimate EstimateMean(const std::vector<double>& values);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_STATISTICS_H
