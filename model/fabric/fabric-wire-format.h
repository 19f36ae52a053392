/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_FABRIC_WIRE_FORMAT_H

#include "wire-bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * How the frames of one protocol look on the wire, and which number in them their receivers at a
 * host are known by. A protocol registers its format beside its own code:
 *
 * @code
 *   const WireFormat::Entry g_barrier({"barrier",
 *                                      BarrierHeader::PROTOCOL,
 *                                      &GetGroup,
 *                                      &PutBarrier,
 *                                      {WireFormat::Udp(0xbf00, &ReadBarrier)}});
 * @endcode
 *
 * ToPacket() and FromPacket() look formats up for captures, and HostDevice when a receiver is set;
 * no hop of a frame does.
 */
struct WireFormat
{
    /**
     * Appends a frame's bytes, from the Ethernet header on.
     * @param out to append to
     * @param frame of this protocol
     */
    using Write = void (*)(WireBytes& out, const Frame& frame);

    /**
     * Reads the bytes that Write has written.
     * @param at behind the IPv4 header, which has no options and lies in front of it
     * @param bytes from there to the end of the IPv4 packet; with a UDP port at least a UDP header
     * @param frame to be filled in; its kind is PROGRAM, and its protocol, size, addresses,
     *        priority and ECN field are set
     * @return what is wrong, or nothing
     */
    using Read = std::string (*)(const uint8_t* at, uint32_t bytes, Frame& frame);

    /**
     * @param at as for Read
     * @param bytes as for Read
     * @return whether the packet is of this protocol
     */
    using Accept = bool (*)(const uint8_t* at, uint32_t bytes);

    /**
     * @param frame of this protocol
     * @return number by which its receiver at a host is known, such as that of a job
     */
    using Key = uint32_t (*)(const Frame& frame);

    /** The packets on the wire that are read as this protocol. */
    struct Binding
    {
        bool isUdp;      ///< UDP behind EtherType IPv4; otherwise IPv4 behind its own EtherType
        uint16_t number; ///< UDP destination port or EtherType
        uint16_t mask;   ///< the bits of it that count
        Read read;       ///< reads them
        Accept accept{}; ///< picks them where formats share a port; null: all others
    };

    /**
     * @param port UDP destination port
     * @param read reads packets to it
     * @param mask bits of the port that count
     * @param accept picks packets of a port that several formats share; null: all others
     * @return the binding
     */
    static Binding Udp(uint16_t port, Read read, uint16_t mask = 0xffff, Accept accept = nullptr)
    {
        return {true, port, mask, read, accept};
    }

    /**
     * @param etherType of IPv4 packets of this protocol alone
     * @param read reads them
     * @return the binding
     */
    static Binding EtherType(uint16_t etherType, Read read)
    {
        return {false, etherType, 0xffff, read, nullptr};
    }

    /** Registers a format for as long as the program runs. */
    class Entry
    {
      public:
        /**
         * @param format to register
         * @throw ConfigurationError if its number, or one of its ports or EtherTypes, is taken
         */
        explicit Entry(const WireFormat& format);
    };

    /**
     * @param protocol number of a protocol
     * @return its format
     * @throw ConfigurationError that lists the protocols there are
     */
    static const WireFormat& Find(uint16_t protocol);

    /** A format and that of its bindings which a packet matches. */
    struct Match
    {
        const WireFormat* format{nullptr}; ///< null: none
        Read read{nullptr};                ///< reads the packet
    };

    /**
     * @param etherType of a packet
     * @return the format that has it for its own, if any
     */
    static Match FindEtherType(uint16_t etherType);

    /**
     * @param udp a datagram behind EtherType IPv4
     * @param bytes its length, at least that of the UDP header
     * @return the format that reads it, if any
     */
    static Match FindUdp(const uint8_t* udp, uint32_t bytes);

    std::string name;              ///< for messages
    uint16_t protocol;             ///< Frame::protocol; up to 255: of this module
    Key key;                       ///< reads the receiver's number; null: none at hosts
    Write write;                   ///< writes a frame
    std::vector<Binding> bindings; ///< the packets that are read as this protocol
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_WIRE_FORMAT_H
