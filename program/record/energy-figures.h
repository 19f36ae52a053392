/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ENERGY_FIGURES_H
#define DISTRIBUTED_TRAINING_ENERGY_FIGURES_H

#include "run-figures.h"

#include "ns3/energy-model.h"
#include "ns3/iteration-record.h"
#include "ns3/result-store.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * What the energy and the cost of a run are computed from.
 */
struct EnergyOptions
{
    std::string model;       ///< a PowerEntry; empty: no energy
    double priceGpuHour{0};  ///< dollars for a GPU and hour
    double pricePortHour{0}; ///< dollars for a port of a switch and hour

    /** @return whether anything is asked for */
    bool IsEmpty() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Energy and cost of a run, warm-up included: from the start of the first iteration to the end of
 * the last one. Counters hold the few frames after it, too.
 */
struct EnergyFigures : Figures
{
    EnergyOptions options;             ///< powers and prices
    uint32_t iterations{0};            ///< complete ones
    double gradientBytes{0};           ///< of collectives and messages of rank 0 in an iteration
    ClusterActivity activity;          ///< what the cluster has done
    EnergyAccount account;             ///< its energy, if there is a power model
    bool countsRetransmissions{false}; ///< not over TCP and with systems in the network

    /** @return price of GPUs and ports, dollars */
    double GetDollars() const;

    /** @return the figures as a row of a results file, and the members of the JSON `energy` */
    EnergyRow GetRow() const;

    std::string GetName() const override
    {
        return "energy";
    }

    JsonValue ToJson() const override;
    std::string Format() const override;
};

/**
 * @ingroup distributed-training-helper
 *
 * Counts what a cluster has done. Collective: all processes call it (see Processes).
 *
 * @param cluster after the run and GatherCounters()
 * @param iterations of the run, all complete ones
 * @return the activity; the retransmitted part is set by GetRetransmittedPart()
 */
ClusterActivity GetActivity(const Cluster& cluster, const std::vector<IterationRecord>& iterations);

/**
 * @ingroup distributed-training-helper
 * Collective: all processes call it (see Processes).
 * @param cluster after the run
 * @return retransmitted data packets of all ranks / data packets sent; none if packets of the
 *         collectives are not counted: over TCP and with systems in the network
 */
std::optional<double> GetRetransmittedPart(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 *
 * Collective: all processes call it (see Processes).
 *
 * @param options power model and prices
 * @param cluster after the run and GatherCounters()
 * @param iterations of the run
 * @param gradientBytes of collectives and messages of rank 0 in an iteration
 * @return the figures; none if nothing is asked for or no iteration is complete
 */
std::shared_ptr<EnergyFigures> GetEnergyFigures(const EnergyOptions& options,
                                                const Cluster& cluster,
                                                const std::vector<IterationRecord>& iterations,
                                                double gradientBytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ENERGY_FIGURES_H
