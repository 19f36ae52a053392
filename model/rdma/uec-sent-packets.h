/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_SENT_PACKETS_H
#define DISTRIBUTED_TRAINING_UEC_SENT_PACKETS_H

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The packets that a connection of Ultra Ethernet has sent, from the first one on that is not known
 * to have arrived: which are in flight, which are lost and must be sent again, how many bytes they
 * have, and which transmission is the oldest in flight.
 */
class UecSentPackets
{
  public:
    /** A packet, from its first transmission until it and all before have arrived. */
    struct Packet
    {
        /** What is known of it. */
        enum class State : uint8_t
        {
            IN_FLIGHT, ///< on its way
            LOST,      ///< to be sent again
            ARRIVED    ///< acknowledged
        };

        int64_t sentAt;   ///< last time, ps
        uint16_t bytes;   ///< of its frame on the line
        uint16_t entropy; ///< last value
        State state;      ///< what is known of it
        uint8_t sends;    ///< transmissions, at most 255
        uint16_t saved;   ///< bytes that a program in the NIC has taken from its frame
    };

    /** One of the transmissions of a packet. */
    struct Transmission
    {
        uint64_t psn; ///< number of the packet
        int64_t time; ///< when, ps
    };

    /** @return the first packet that is not known to have arrived */
    uint64_t GetUnacked() const
    {
        return m_unacked;
    }

    /** @return the next new packet */
    uint64_t GetNext() const
    {
        return m_next;
    }

    /**
     * @param psn number of a packet
     * @return whether At() knows it
     */
    bool Has(uint64_t psn) const
    {
        return psn >= m_unacked && psn < m_next;
    }

    /**
     * @param psn number of a packet
     * @return the packet
     */
    const Packet& At(uint64_t psn) const
    {
        return m_packets[psn & (m_packets.size() - 1)];
    }

    /** @return whether a packet is lost */
    bool HasLost() const
    {
        return !m_lost.empty();
    }

    /** @return the first lost packet; HasLost() must be true */
    uint64_t GetFirstLost() const
    {
        return *m_lost.begin();
    }

    /** @return bytes of frames of lost packets */
    uint64_t GetLostBytes() const
    {
        return m_lostBytes;
    }

    /** @return bytes of frames of packets that are known to have arrived */
    uint64_t GetArrivedBytes() const
    {
        return m_arrivedBytes;
    }

    /** @return bytes in flight, without those that the remote side has counted */
    uint64_t GetInFlight() const;

    /**
     * Notes a transmission.
     * @param psn the next new packet, or the first lost one
     * @param bytes of its frame
     * @param entropy its entropy value
     * @param now simulated time, ps
     */
    void Send(uint64_t psn, uint32_t bytes, uint16_t entropy, int64_t now);

    /**
     * Notes that a program in the NIC has made the frame of a packet in flight shorter.
     * @param psn number of the packet
     * @param bytes of its frame on the line
     * @param saved bytes taken from it
     */
    void Shorten(uint64_t psn, uint32_t bytes, uint32_t saved);

    /** @param psn number of a packet in flight, which is lost */
    void MarkLost(uint64_t psn);

    /** @param psn number of a packet that has arrived */
    void MarkArrived(uint64_t psn);

    /** @param psn number of the first packet that may not have arrived */
    void MarkArrivedBefore(uint64_t psn);

    /**
     * @param received bytes that the remote side has received, in quanta of the wire's width
     * @return how many more these are than those of earlier reports, bytes
     */
    uint64_t Report(uint32_t received);

    /** @return the oldest transmission that is in flight, or null; forgets those before */
    const Transmission* FindOldest();

  private:
    /// Ring of a new connection, packets.
    static constexpr std::size_t FIRST_RING = 16;

    Packet& Get(uint64_t psn)
    {
        return m_packets[psn & (m_packets.size() - 1)];
    }

    void MakeRoom();

    uint64_t m_unacked{0};
    uint64_t m_next{0};
    uint64_t m_inFlightBytes{0};  // frames of packets in the state IN_FLIGHT
    uint64_t m_arrivedBytes{0};   // frames of packets known to have arrived
    uint64_t m_reportedQuanta{0}; // received by the remote side, as it says
    uint64_t m_lostBytes{0};      // frames of packets in m_lost
    std::set<uint64_t> m_lost;    // packets to send again
    std::vector<Packet> m_packets = std::vector<Packet>(FIRST_RING); // ring from m_unacked on
    std::deque<Transmission> m_sendOrder;                            // of each transmission
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_SENT_PACKETS_H
