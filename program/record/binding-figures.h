/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BINDING_FIGURES_H
#define DISTRIBUTED_TRAINING_BINDING_FIGURES_H

#include "run-figures.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A part of a cluster that may limit it, and the time for which it was busy, s.
 */
struct BusyPart
{
    std::string what;  ///< link, router, engine, adders or host
    std::string name;  ///< of the part
    double seconds{0}; ///< for which it was busy
};

/**
 * @ingroup distributed-training-helper
 * What is known of a run when it asks what limits it.
 */
struct BindingFacts
{
    double seconds{0};            ///< of all iterations; 0: no job
    double computeSeconds{0};     ///< of these, of the slowest rank
    double bubbleSeconds{0};      ///< ranks wait for other ranks
    double exposedSeconds{0};     ///< ranks wait for communication
    bool hasPipeline{false};      ///< whether stages exchange activations
    double communication{0};      ///< time of communication, or of the run without a job, s
    double bound{0};              ///< lower bound of that time; 0: unknown
    std::vector<BusyPart> busy{}; ///< the busiest part of each kind
    std::string limit{};          ///< of a system in the network, in words; empty: none
    double lostShare{0};          ///< of frames, those that were lost or dropped
    double repeatedShare{0};      ///< of packets, those that were sent again
    double markedShare{0};        ///< of frames, those with a mark
    std::string control{};        ///< congestion control that hears of marks or delays
    std::string hosts{};          ///< host model; empty: hosts take no time
    double pauseShare{0};         ///< of all pauses, those that the node of the link sent
    uint64_t lostFrames{0};       ///< lost by links
    uint64_t droppedFrames{0};    ///< dropped by switches and hosts
};

/**
 * @ingroup distributed-training-helper
 * @param fabric of a run
 * @return time for which each port has sent so far, s: both ends of each link
 */
std::vector<double> GetPortSeconds(const Fabric& fabric);

/**
 * @ingroup distributed-training-helper
 *
 * Names what limits a run: computation, waiting, pipeline, link, router, engine, adders, host,
 * slots, losses, congestion control, or latency. A part that is busy for SHARE of the communication
 * binds.
 * @param facts of the run
 * @return its kind, name, share and sentence
 */
BindingRow FindBinding(const BindingFacts& facts);

/**
 * @ingroup distributed-training-helper
 * @param request a run: its cluster, with iterations and times of ports if it is a job
 * @return what limits it
 */
BindingRow FindBinding(const FiguresRequest& request);

/**
 * @ingroup distributed-training-helper
 * @param row what limits a run
 * @return the JSON object `binding`
 */
JsonValue ToJson(const BindingRow& row);

/**
 * @ingroup distributed-training-helper
 * What limits a run, in the table, the JSON and the results file.
 */
struct BindingFigures : Figures
{
    BindingRow row; ///< what limits it

    std::string GetName() const override
    {
        return "binding";
    }

    JsonValue ToJson() const override;
    void AddRows(ResultStore& store) const override;

    /** @return a line */
    std::string Format() const override
    {
        return row.sentence + "\n";
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BINDING_FIGURES_H
