/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SIMULATED_WORK_H
#define DISTRIBUTED_TRAINING_SIMULATED_WORK_H

#include "ns3/cluster-options.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * What a run may leave out, apart from steady states and replicas.
 */
struct WorkShortcuts
{
    bool collectives{false};  ///< of groups that have links of their own, see CollectiveReplay
    bool quiet{false};        ///< of other groups in a server, while its links are quiet
    bool microBatches{false}; ///< those that repeat others, see MicroBatchRepetition
};

/** Messages of one size that a rank sends. */
struct SimulatedMessages
{
    double count;            ///< how many of them
    double packets;          ///< of each
    double links;            ///< that each packet crosses
    bool areTogether{false}; ///< whether all are sent at a time
    double sumCost{0};       ///< of a packet-hop whose values switches sum; 0: hosts sum

    /** @return their packet-hops */
    double GetHops() const
    {
        return count * packets * links;
    }
};

/**
 * @ingroup distributed-training-helper
 *
 * The packet-hops that a simulation does not skip, about, and what they cost. Its few numbers were
 * measured with the published steps of doc/model/micro-batches.
 */
class SimulatedWork
{
  public:
    /** @param cluster its network */
    explicit SimulatedWork(const ClusterOptions& cluster);

    /**
     * @param stages of a pipeline
     * @param microBatches of an iteration
     * @return part of them that is simulated if they repeat themselves
     */
    static double GetPartOfMicroBatches(double stages, double microBatches);

    /**
     * @param collectives of a kind and a group that may be derived
     * @param messages that come to a rank between them from elsewhere
     * @return how many of them are simulated
     */
    static double GetSimulated(double collectives, double messages);

    /** Adds messages, as many times as they are sent. */
    void Add(const SimulatedMessages& messages, double times = 1);

    /** @return packet-hops that are simulated */
    double GetHops() const
    {
        return m_hops;
    }

    /** @return packet-hops that cost as much, if nothing looks for steady states */
    double GetCost() const
    {
        return m_cost;
    }

    /** @param factor by which there is more work */
    void Scale(double factor)
    {
        m_hops *= factor;
        m_cost *= factor;
    }

  private:
    bool m_skips;    // steady states
    bool m_isHashed; // paths, so that messages over spines have some, too
    double m_hops{0};
    double m_cost{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SIMULATED_WORK_H
