/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "repetition-figures.h"

namespace ns3::training
{

void
RepetitionFigures::AddTo(JsonValue& document) const
{
    document.Set("iterations_simulated", simulatedIterations)
        .Set("iterations_derived", derivedIterations);
    if (!reason.empty())
    {
        document.Set(derivedIterations == 0 ? "not_derived" : "derived_about", reason);
    }
    if (derivedRanks > 0)
    {
        document.Set("ranks_simulated", simulatedRanks).Set("ranks_derived", derivedRanks);
        if (!imageReason.empty())
        {
            document.Set("replicas_about", imageReason);
        }
    }
    if (simulatedMicroBatches + derivedMicroBatches > 0)
    {
        document.Set("micro_batches_simulated", simulatedMicroBatches)
            .Set("micro_batches_derived", derivedMicroBatches);
    }
    if (!microBatchReason.empty())
    {
        document.Set(derivedMicroBatches == 0 ? "micro_batches_not_derived" : "micro_batches_about",
                     microBatchReason);
    }
    if (simulatedCollectives + derivedCollectives > 0)
    {
        document.Set("collectives_simulated", simulatedCollectives)
            .Set("collectives_derived", derivedCollectives);
    }
    if (!collectiveReason.empty())
    {
        document.Set("collectives_not_derived", collectiveReason);
    }
}

std::string
RepetitionFigures::Format() const
{
    std::string text = "iterations: " + std::to_string(simulatedIterations) + " simulated, " +
                       std::to_string(derivedIterations) + " derived" +
                       (reason.empty() ? "" : " (" + reason + ")") + "\n";
    if (derivedRanks > 0)
    {
        text += "ranks: " + std::to_string(simulatedRanks) + " simulated, " +
                std::to_string(derivedRanks) + " derived" +
                (imageReason.empty() ? "" : " (" + imageReason + ")") + "\n";
    }
    if (simulatedMicroBatches + derivedMicroBatches > 0)
    {
        text += "micro-batches: " + std::to_string(simulatedMicroBatches) + " simulated, " +
                std::to_string(derivedMicroBatches) + " derived" +
                (microBatchReason.empty() ? "" : " (" + microBatchReason + ")") + "\n";
    }
    else if (!microBatchReason.empty())
    {
        text += "micro-batches: none derived (" + microBatchReason + ")\n";
    }
    if (derivedCollectives > 0)
    {
        text += "collectives: " + std::to_string(simulatedCollectives) + " simulated, " +
                std::to_string(derivedCollectives) + " derived\n";
    }
    if (!collectiveReason.empty())
    {
        text += "collectives: none derived (" + collectiveReason + ")\n";
    }
    return text;
}

} // namespace ns3::training
