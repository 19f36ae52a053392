/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIFE_FIGURES_H
#define DISTRIBUTED_TRAINING_LIFE_FIGURES_H

#include "run-figures.h"

#include "ns3/life-ledger.h"
#include "ns3/result-rows.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A checkpoint on its way to storage beside the training.
 */
struct CheckpointWrite
{
    Time start;            ///< the training goes on
    Time end;              ///< all shares are stored
    uint32_t iteration{0}; ///< at whose end it was made
};

/**
 * @ingroup distributed-training-helper
 * Where the time of a job has gone.
 */
struct LifeFigures : Figures
{
    LifeLedger ledger;                   ///< spans and times
    std::vector<CheckpointWrite> writes; ///< asynchronous checkpoints that were stored
    uint64_t failures{0};                ///< that have stopped the job
    uint64_t checkpoints{0};             ///< stored
    uint64_t restarts{0};                ///< that have brought the job back to work
    std::vector<std::string> missed;     ///< given failures after the end of the job

    std::string GetName() const override
    {
        return "life";
    }

    JsonValue ToJson() const override;

    /** @return two lines */
    std::string Format() const override;

    /** @return rows of a results file: spans, then writes */
    std::vector<LifeRow> GetRows() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIFE_FIGURES_H
