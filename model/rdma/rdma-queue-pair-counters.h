/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_COUNTERS_H
#define DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_COUNTERS_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Counters of one queue pair. A data packet is either lost on the way, accepted, a duplicate,
 * refused, or (go-back-N) discarded as out of order. (A packet that selective repeat kept and then
 * refused stays kept.)
 */
struct QueuePairCounters
{
    uint64_t postedMessages{0};       ///< work requests posted
    uint64_t completedMessages{0};    ///< completed work requests
    uint64_t receivedMessages{0};     ///< messages received completely
    uint64_t receivedBytes{0};        ///< payload of the received messages
    uint64_t sentPackets{0};          ///< data packets sent, retransmissions included
    uint64_t retransmittedPackets{0}; ///< retransmitted data packets
    uint64_t receivedPackets{0};      ///< data packets accepted
    uint64_t duplicatePackets{0};     ///< data packets that had arrived before
    uint64_t outOfOrderPackets{0};    ///< data packets ahead of the expected one, kept or discarded
    uint64_t refusedPackets{0};       ///< data packets refused for lack of a posted receive
    uint64_t sentAcks{0};             ///< positive acknowledgements sent
    uint64_t sentNaks{0};             ///< NAKs sent for missing packets
    uint64_t receivedAcks{0};         ///< positive acknowledgements received
    uint64_t receivedNaks{0};         ///< NAKs received for missing packets
    uint64_t receivedRefusals{0};     ///< RNR NAKs received
    uint64_t sentCnps{0};             ///< congestion notification packets sent
    uint64_t receivedCnps{0};         ///< congestion notification packets received
    uint64_t timeouts{0};             ///< expiries of the retransmission timer
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_COUNTERS_H
