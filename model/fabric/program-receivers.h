/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_RECEIVERS_H
#define DISTRIBUTED_TRAINING_PROGRAM_RECEIVERS_H

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace ns3::training
{

class Frame;

/** The receivers of a host's frames of programs, by protocol and key. */
class ProgramReceivers
{
  public:
    /** Takes over a frame. */
    using Receiver = std::function<void(Frame*)>;

    /**
     * @param protocol protocol number; it must have registered a WireFormat with a key
     * @param key key of the receiver in its frames, such as a job number
     * @param receiver takes over the frames; null: none
     */
    void Set(uint16_t protocol, uint32_t key, Receiver receiver);

    /**
     * @param frame a frame of a program
     * @return whether a receiver has taken it over
     */
    bool Deliver(Frame* frame) const;

    /** Removes all receivers. */
    void Clear();

  private:
    /** The receivers of a protocol. */
    struct Protocol
    {
        uint16_t protocol;
        uint32_t (*getKey)(const Frame& frame);
        std::map<uint32_t, Receiver> byKey;
    };

    std::vector<Protocol> m_protocols;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_RECEIVERS_H
