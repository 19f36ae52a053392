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
 * The wire encoding of the frames of one protocol, and the key in the frames that selects the
 * receiver at a host. A protocol registers its format in its own source file:
 *
 * @code
 *   const WireFormat::Entry g_barrier({"barrier",
 *                                      BarrierHeader::PROTOCOL,
 *                                      &GetGroup,
 *                                      &PutBarrier,
 *                                      {WireFormat::Udp(0xbf00, &ReadBarrier)}});
 * @endcode
 *
 * ToPacket() and FromPacket() look up formats for captures, and HostDevice when a receiver is set.
 * The forwarding path never uses formats.
 */
struct WireFormat
{
    /**
     * Appends a frame's bytes, from the Ethernet header on.
     * @param out buffer to append to
     * @param frame a frame of this protocol
     */
    using Write = void (*)(WireBytes& out, const Frame& frame);

    /**
     * Parses the output of Write.
     * @param at first byte after the IPv4 header; the header has no options and directly precedes
     *        it
     * @param bytes number of bytes from there to the end of the IPv4 packet; for a UDP binding, at
     *        least a UDP header
     * @param frame frame to fill in; kind PROGRAM, protocol, size, addresses, priority and ECN
     *        field are already set
     * @return an error message, or an empty string
     */
    using Read = std::string (*)(const uint8_t* at, uint32_t bytes, Frame& frame);

    /**
     * @param at as for Read
     * @param bytes as for Read
     * @return whether the packet is of this protocol
     */
    using Accept = bool (*)(const uint8_t* at, uint32_t bytes);

    /**
     * @param frame a frame of this protocol
     * @return the key that selects the receiver at a host, such as a job number
     */
    using Key = uint32_t (*)(const Frame& frame);

    /**
     * Cuts a frame to its header, for a switch whose queue is full (packet trimming).
     * @param frame a frame of this protocol; its size and payload are changed
     * @param isLastHop whether the full queue is that of the link to the destination
     * @return whether it was cut; false: such frames are dropped
     */
    using Trim = bool (*)(Frame& frame, bool isLastHop);

    /** The packets on the wire that are parsed as this protocol. */
    struct Binding
    {
        bool isUdp;      ///< UDP in EtherType IPv4; otherwise IPv4 with its own EtherType
        uint16_t number; ///< UDP destination port or EtherType
        uint16_t mask;   ///< bits of `number` to compare
        Read read;       ///< parser
        Accept accept{}; ///< filter for formats that share a port; null: all other packets
    };

    /**
     * @param port UDP destination port
     * @param read parser of packets to that port
     * @param mask bits of the port to compare
     * @param accept filter for formats that share a port; null: all other packets
     * @return the binding
     */
    static Binding Udp(uint16_t port, Read read, uint16_t mask = 0xffff, Accept accept = nullptr)
    {
        return {true, port, mask, read, accept};
    }

    /**
     * @param etherType EtherType used by IPv4 packets of this protocol only
     * @param read parser of these packets
     * @return the binding
     */
    static Binding EtherType(uint16_t etherType, Read read)
    {
        return {false, etherType, 0xffff, read, nullptr};
    }

    /** Registers a format for the lifetime of the program. */
    class Entry
    {
      public:
        /**
         * @param format format to register
         * @throw ConfigurationError if its number, or one of its ports or EtherTypes, is taken
         */
        explicit Entry(const WireFormat& format);
    };

    /**
     * @param protocol protocol number
     * @return its format
     * @throw ConfigurationError that lists the registered protocols if there is no such protocol
     */
    static const WireFormat& Find(uint16_t protocol);

    /** A format and the parser of its binding that matches a packet. */
    struct Match
    {
        const WireFormat* format{nullptr}; ///< null: no match
        Read read{nullptr};                ///< parser of the packet
    };

    /**
     * @param etherType EtherType of a packet
     * @return the format that owns the EtherType, if any
     */
    static Match FindEtherType(uint16_t etherType);

    /**
     * @param udp UDP datagram in a packet of EtherType IPv4
     * @param bytes its length, at least a UDP header
     * @return the format that matches it, if any
     */
    static Match FindUdp(const uint8_t* udp, uint32_t bytes);

    std::string name;              ///< for messages
    uint16_t protocol;             ///< Frame::protocol; up to 255: reserved for this module
    Key key;                       ///< extracts the receiver's key; null: no receivers at hosts
    Write write;                   ///< serializer
    std::vector<Binding> bindings; ///< packets that are parsed as this protocol
    Trim trim{nullptr};            ///< cuts frames to their headers; null: they are dropped
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_WIRE_FORMAT_H
