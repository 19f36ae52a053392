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
 * Counts of one queue pair. A data packet sent is lost on the way, accepted, a duplicate, refused,
 * or with go-back-N discarded as out of order. (One that selective repeat refuses after it was kept
 * stays kept.)
 */
struct QueuePairCounters
{
    uint64_t postedMessages{0};       ///< work requests posted
    uint64_t completedMessages{0};    ///< of these, acknowledged
    uint64_t receivedMessages{0};     ///< messages complete at this side
    uint64_t receivedBytes{0};        ///< their payload
    uint64_t sentPackets{0};          ///< data packets sent, retransmissions included
    uint64_t retransmittedPackets{0}; ///< of these, sent before
    uint64_t receivedPackets{0};      ///< data packets accepted
    uint64_t duplicatePackets{0};     ///< data packets that had arrived before
    uint64_t outOfOrderPackets{0};    ///< data packets ahead of the expected one, kept or discarded
    uint64_t refusedPackets{0};       ///< data packets that found no posted receive
    uint64_t sentAcks{0};             ///< positive acknowledgements sent
    uint64_t sentNaks{0};             ///< negative acknowledgements sent, of missing packets
    uint64_t receivedAcks{0};         ///< positive acknowledgements received
    uint64_t receivedNaks{0};         ///< negative acknowledgements received, of missing packets
    uint64_t receivedRefusals{0};     ///< "receiver not ready" received
    uint64_t sentCnps{0};             ///< congestion notification packets sent
    uint64_t receivedCnps{0};         ///< congestion notification packets received
    uint64_t timeouts{0};             ///< expiries of the retransmission timer
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_COUNTERS_H
