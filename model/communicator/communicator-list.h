/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_LIST_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_LIST_H

#include "training-communicator.h"

#include "ns3/node.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-communicator
 *
 * The communicators of a node, aggregated to it. It makes their trace sources and attributes
 * reachable by Config paths such as
 * `/NodeList/0/$ns3::training::CommunicatorList/Communicators/0/$ns3::training::ScheduledCommunicator/Send`.
 */
class CommunicatorList : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * Adds a communicator to the list of a node, which is made if there is none.
     * @param node of the rank
     * @param communicator of the rank; the node keeps it until the simulation is destroyed
     */
    static void Add(Ptr<Node> node, Ptr<Communicator> communicator);

    /** @return number of communicators */
    uint32_t GetN() const;

    /**
     * @param index in the order of Add(), below GetN()
     * @return the communicator
     */
    Ptr<Communicator> Get(uint32_t index) const;

  private:
    void DoDispose() override;

    std::vector<Ptr<Communicator>> m_communicators;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_LIST_H
