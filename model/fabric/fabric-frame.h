/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_FRAME_H
#define DISTRIBUTED_TRAINING_FABRIC_FRAME_H

#include "ns3/assert.h"
#include "ns3/event-impl.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace ns3::training
{

class FabricPort;
class Frame;

/** How the devices of the fabric handle a frame. */
enum class FrameKind : uint8_t
{
    IP,        ///< a packet of a stock ns-3 stack, in `packet`
    PAUSE,     ///< IEEE 802.1Qbb priority flow control
    ROCE_DATA, ///< RoCEv2 request packet (SEND or RDMA WRITE)
    ROCE_ACK,  ///< RoCEv2 acknowledge, positive or negative
    ROCE_CNP,  ///< RoCEv2 congestion notification packet
    PROGRAM    ///< a packet of a protocol of its own, for programs in switches and hosts
};

/**
 * @param kind of a frame
 * @return whether it is RoCEv2
 */
inline bool
IsRoce(FrameKind kind)
{
    return kind >= FrameKind::ROCE_DATA && kind <= FrameKind::ROCE_CNP;
}

/** The ECN field of the IP header (RFC 3168). */
enum class Ecn : uint8_t
{
    NOT_ECT = 0, ///< not ECN capable
    ECT = 2,     ///< ECN capable, no congestion met
    CE = 3       ///< congestion experienced
};

/** The telemetry that a port on the path adds to a frame when it begins to send it. */
struct HopTelemetry
{
    int64_t time;        ///< when, ps
    uint64_t sentBytes;  ///< bytes it had sent until then, with preambles and gaps
    uint64_t queueBytes; ///< bytes that waited in all its queues
    uint64_t rate;       ///< its line rate, bit/s
};

/** In-band network telemetry (INT) of a frame, in the order of the hops. */
using TelemetryStack = std::vector<HopTelemetry>;

/**
 * @ingroup distributed-training-fabric
 *
 * The headers of a frame that fit plain fields, with their defaults. This is the one list of them:
 * Frame::Allocate() assigns a default FrameHeaders, Frame::Clone() copies one, and the frame
 * archive writes its bytes. It has no padding, and the fields that every hop reads come first.
 */
struct FrameHeaders
{
    uint32_t bytes{0};             ///< frame size with frame check sequence, bytes
    uint32_t source{0};            ///< endpoint that sent it
    uint32_t destination{0};       ///< endpoint it goes to
    uint32_t flowHash{0};          ///< hash of the 5-tuple, for ECMP
    FrameKind kind{FrameKind::IP}; ///< how devices handle it
    uint8_t priority{0};           ///< traffic class, 0 to 7
    Ecn ecn{Ecn::NOT_ECT};         ///< ECN field
    bool ackRequest{false};        ///< BTH acknowledge request
    bool ecnEcho{false};           ///< ROCE_ACK: the packet it answers was marked (BTH BECN bit)
    uint8_t opcode{0};             ///< BTH opcode
    uint16_t protocol{0};          ///< IP: EtherType; PROGRAM: number of its WireFormat
    uint32_t payloadBytes{0};      ///< bytes of payload
    uint32_t destinationQp{0};     ///< BTH destination queue pair
    uint32_t psn{0};               ///< BTH packet sequence number, 24 bit
    uint32_t immediate{0};         ///< immediate data
    uint64_t payloadOffset{0};     ///< first byte of this frame's payload in `payload`
    uint64_t remoteAddress{0};     ///< RETH virtual address (first packet of a WRITE)
    uint64_t messageBytes{0};      ///< RETH DMA length (first packet of a WRITE), bytes
    int64_t timestamp{0}; ///< ROCE_DATA: time of sending, ps; ROCE_ACK: that of the data packet
    uint32_t sourceQp{0}; ///< DETH source queue pair (datagrams)
    uint32_t messageNumber{0}; ///< AETH message sequence number, 24 bit
    uint32_t selectivePsn{0};  ///< selective repeat: packet that caused a NAK, 24 bit
    uint16_t pauseQuanta{0};   ///< PAUSE: time for all enabled classes, 512 bit times each
    uint8_t pauseClasses{0};   ///< PAUSE: class-enable vector
    uint8_t syndrome{0};       ///< AETH syndrome
};

static_assert(std::is_trivially_copyable_v<FrameHeaders> &&
                  std::has_unique_object_representations_v<FrameHeaders>,
              "the archive copies the bytes of FrameHeaders, so it must have no padding");

/**
 * @ingroup distributed-training-fabric
 *
 * The position of a frame in the simulated fabric, in the first cache line of a Frame together with
 * the first headers. It means nothing in another place, so it is no part of the frame's contents.
 */
class FrameInTransit : public EventImpl
{
  public:
    uint8_t ingressPriority{0}; ///< in a switch: traffic class it came in by
    uint16_t ingress{0};        ///< index of the port it arrives at next, or came in by

    union {
        Frame* next{nullptr}; ///< link for the queue it waits in
        uint64_t sequence;    ///< in flight: order of insertion into the event list
    };

    FabricPort* port{nullptr}; ///< where it arrives next; once arrived, where it came in
    /// In-band telemetry that the sender asked for; ports add to it, and the receiver returns it.
    std::unique_ptr<TelemetryStack> telemetry;
};

/**
 * @ingroup distributed-training-fabric
 *
 * One packet on the wire, with its headers as plain fields (FrameHeaders) and its payload as a byte
 * count (virtual) or as a range of a ByteBuffer (real).
 *
 * A frame of kind PROGRAM has a protocol of its own, whose header is any trivially copyable struct
 * of up to PROGRAM_HEADER_BYTES with a number `PROTOCOL`. The fabric carries the header without
 * knowing it: Make() or Set() writes it as a whole, As() accesses it in place. The protocol's
 * WireFormat says how the frame looks on the wire.
 *
 * A frame in flight is its own simulator event: Notify() is its arrival at the far end of a link.
 * So a hop allocates nothing. Frames come from a pool (Allocate, Free); the pool keeps a reference
 * of its own, so the simulator's Unref() after an event never deletes one.
 *
 * Exactly one holder owns a frame at a time: a queue, the link, or the device it has arrived at.
 */
class alignas(64) Frame : public FrameInTransit, public FrameHeaders
{
  public:
    /// Destination address, source address, EtherType and frame check sequence, bytes.
    static constexpr uint32_t ETHERNET_BYTES = 18;
    /// Shortest Ethernet frame, bytes.
    static constexpr uint32_t MIN_BYTES = 64;
    /// Preamble and start delimiter, on the line ahead of each frame, bytes.
    static constexpr uint32_t PREAMBLE_BYTES = 8;
    /// Inter-packet gap, on the line behind each frame, bytes.
    static constexpr uint32_t GAP_BYTES = 12;
    /// Room for the header of a PROGRAM frame, bytes.
    static constexpr std::size_t PROGRAM_HEADER_BYTES = 48;

    /**
     * @param kind how devices handle it
     * @return a frame with all other fields at their defaults, owned by the caller; the header of a
     *         PROGRAM frame is all zeros
     */
    static Frame* Allocate(FrameKind kind);

    /**
     * @tparam Header of a protocol
     * @param header its contents
     * @return a PROGRAM frame with that header and all other fields at their defaults, owned by the
     *         caller
     */
    template <class Header>
    static Frame* Make(const Header& header)
    {
        Frame* frame = Allocate(FrameKind::PROGRAM);
        frame->Set(header);
        return frame;
    }

    /** @return a frame with the same contents and ingress port, owned by the caller */
    Frame* Clone() const;

    /**
     * Gives a frame back.
     * @param frame owned by the caller until now
     */
    static void Free(Frame* frame);

    /** @return frames now allocated in the simulation under way (for conservation checks) */
    static uint64_t GetInUse();

    /**
     * @return whether the simulation is under way; when it is being destroyed, frames in flight are
     *         still there, but ports may not be
     */
    static bool AreAlive()
    {
        return m_alive;
    }

    /**
     * @tparam Header of a protocol
     * @return whether this is a frame of that protocol
     */
    template <class Header>
    bool Is() const
    {
        return kind == FrameKind::PROGRAM && protocol == Header::PROTOCOL;
    }

    /**
     * Makes this a frame of a protocol, with its header.
     * @tparam Header of the protocol
     * @param header its contents
     */
    template <class Header>
    void Set(const Header& header)
    {
        CheckHeader<Header>();
        kind = FrameKind::PROGRAM;
        protocol = Header::PROTOCOL;
        ::new (programHeader) Header(header);
    }

    /**
     * @tparam Header of the frame's protocol: Is<Header>() is true
     * @return the header, in place
     */
    template <class Header>
    Header& As()
    {
        CheckHeader<Header>();
        NS_ASSERT_MSG(Is<Header>(), "a frame of protocol " << protocol);
        return *std::launder(reinterpret_cast<Header*>(programHeader));
    }

    /**
     * @tparam Header of the frame's protocol: Is<Header>() is true
     * @return the header, in place
     */
    template <class Header>
    const Header& As() const
    {
        CheckHeader<Header>();
        NS_ASSERT_MSG(Is<Header>(), "a frame of protocol " << protocol);
        return *std::launder(reinterpret_cast<const Header*>(programHeader));
    }

    Ptr<Packet> packet;      ///< IP: the packet from its IP header on
    Ptr<ByteBuffer> payload; ///< real payload, or null
    /// PROGRAM: the header, by Set() and As(); of other kinds undefined.
    alignas(8) std::byte programHeader[PROGRAM_HEADER_BYTES];

  protected:
    void Notify() override;

  private:
    friend class FramePool;
    Frame() = default;

    template <class Header>
    static constexpr void CheckHeader()
    {
        static_assert(std::is_trivially_copyable_v<Header>, "Clone() copies its bytes");
        static_assert(sizeof(Header) <= PROGRAM_HEADER_BYTES, "larger than the room for it");
        static_assert(alignof(Header) <= 8, "more aligned than the room for it");
    }

    static inline bool m_alive{false};
};

/**
 * @ingroup distributed-training-fabric
 * @param a source endpoint
 * @param b destination endpoint
 * @param ports source and destination port, or another 32 bits that tell flows apart
 * @return hash that spreads flows evenly
 */
uint32_t HashFlow(uint32_t a, uint32_t b, uint32_t ports);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_FRAME_H
