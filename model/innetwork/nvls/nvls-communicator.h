/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H

#include "ns3/sharp-endpoint.h"

#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A GPU at a switch that adds on demand, as NVLink SHARP (NCCL's NVLS all-reduce): behind a
 * barrier, each rank reads its part of the sums, packet by packet; the switch asks all ranks for
 * their numbers and answers with the sum (multimem.ld_reduce); the rank writes that to all through
 * the switch (multimem.st). So each link carries the tensor 1 + 1/n times in each direction,
 * without requests.
 *
 * Each rank is the owner of a tree of one switch, by which its part is added. An all-reduce is
 * complete at a rank when all parts have been written there; then all have read its numbers.
 */
class NvlsCommunicator : public SharpEndpoint
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** What the controller tells a rank. */
    struct Session
    {
        uint32_t switchEndpoint{0};        ///< the switch
        std::vector<uint32_t> connections; ///< there, by owner
        uint32_t window{1};                ///< packets that a rank reads at a time
        uint32_t elements{64};             ///< numbers in a packet
    };

    /** @param session as the switch has it; SetGroup() and SetSums() come first */
    void SetSession(const Session& session);

  protected:
    std::string GetName() const override;
    std::string GetMissing() const override;
    // SharpEndpoint
    void Start() override;
    void OnMessage(uint32_t connection, const Frame& frame) override;

  private:
    /** A rank's part of the tensor under way, which it has the sums of first. */
    struct Part
    {
        uint64_t first{0};   ///< number of its first packet on the owner's tree
        uint64_t packets{0}; ///< how many
        uint64_t read{0};    ///< of these, asked for by the owner
        uint64_t written{0}; ///< of these, written by the owner
        uint64_t next{0};    ///< number on the owner's tree behind the operation
    };

    void Read();
    void Contribute(uint32_t owner, uint64_t packet);
    void Write(const Frame& frame);
    void SendPacket(uint32_t owner, uint64_t number, SharpMessage message);
    bool IsNumber(uint32_t owner, uint64_t packet, const Frame& frame) const;
    std::pair<uint64_t, uint64_t> GetRange(uint32_t owner, uint64_t packet) const;

    Session m_session;
    std::vector<Part> m_parts; // by owner
    uint64_t m_barrier{0};     // its number on the first rank's tree
    bool m_behindBarrier{false};
    uint64_t m_asked{0};    // packets of this rank's part
    uint64_t m_answered{0}; // of these
    uint64_t m_left{0};     // packets of all parts that are not written yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H
