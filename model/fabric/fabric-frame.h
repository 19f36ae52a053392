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
#include <utility>
#include <vector>

namespace ns3::training
{

class FabricPort;
class Frame;
class StateVisitor;

/** Frame kind: determines how the devices of the fabric handle a frame. */
enum class FrameKind : uint8_t
{
    IP,        ///< a packet of a stock ns-3 stack, in `packet`
    PAUSE,     ///< IEEE 802.1Qbb priority flow control
    ROCE_DATA, ///< RoCEv2 request packet (SEND or RDMA WRITE)
    ROCE_ACK,  ///< RoCEv2 acknowledge, positive or negative
    ROCE_CNP,  ///< RoCEv2 congestion notification packet
    PROGRAM,   ///< packet of a custom protocol, for programs in switches and hosts
    CREDIT     ///< credits for the peer, which ride in headers and take no time on the line
};

/**
 * @param kind kind of a frame
 * @return whether the kind is a RoCEv2 packet
 */
inline bool
IsRoce(FrameKind kind)
{
    return kind >= FrameKind::ROCE_DATA && kind <= FrameKind::ROCE_CNP;
}

/** The ECN field of the IP header (RFC 3168). */
enum class Ecn : uint8_t
{
    NOT_ECT = 0, ///< not ECN-capable transport
    ECT = 2,     ///< ECN-capable transport
    CE = 3       ///< congestion experienced
};

/** Telemetry record that a port on the path adds to a frame at the start of transmission. */
struct HopTelemetry
{
    int64_t time;        ///< time stamp, ps
    uint64_t sentBytes;  ///< bytes sent by the port so far, including preambles and gaps
    uint64_t queueBytes; ///< bytes in all queues of the port
    uint64_t rate;       ///< line rate of the port, bit/s
    uint64_t link{0};    ///< number of the link in this direction; 0 once it was on the wire
};

/** In-band network telemetry (INT) records of a frame, in hop order. */
using TelemetryStack = std::vector<HopTelemetry>;

/**
 * @ingroup distributed-training-fabric
 *
 * The header fields of a frame with their defaults, as a plain struct. Frame::Allocate() assigns a
 * default FrameHeaders, Frame::Clone() copies it, and the frame archive writes its bytes. It has no
 * padding, and the fields that every hop reads come first.
 */
struct FrameHeaders
{
    uint32_t bytes{0};             ///< frame size including frame check sequence, bytes
    uint32_t source{0};            ///< source endpoint
    uint32_t destination{0};       ///< destination endpoint
    uint32_t flowHash{0};          ///< hash of the 5-tuple, for ECMP
    FrameKind kind{FrameKind::IP}; ///< frame kind
    uint8_t priority{0};           ///< traffic class, 0 to 7
    Ecn ecn{Ecn::NOT_ECT};         ///< ECN field
    bool ackRequest{false};        ///< BTH acknowledge request
    bool ecnEcho{false};           ///< ROCE_ACK: data packet was ECN-marked (BTH BECN bit)
    uint8_t opcode{0};             ///< BTH opcode
    uint16_t protocol{0};          ///< IP: EtherType; PROGRAM: protocol number of its WireFormat
    uint32_t payloadBytes{0};      ///< bytes of payload
    uint32_t destinationQp{0};     ///< BTH destination queue pair
    uint32_t psn{0};               ///< BTH packet sequence number, 24 bit

    union {
        uint32_t immediate{0}; ///< RoCE: immediate data
        uint32_t savedBytes;   ///< PROGRAM, restored by a codec: bytes that its code has saved
    };

    uint64_t payloadOffset{0}; ///< offset of this frame's payload in `payload`
    uint64_t remoteAddress{0}; ///< RETH virtual address (first packet of a WRITE)
    uint64_t messageBytes{0};  ///< RETH DMA length (first packet of a WRITE), bytes
    int64_t timestamp{0};      ///< ROCE_DATA: send time, ps; ROCE_ACK: send time of the data packet
    uint32_t sourceQp{0};      ///< DETH source queue pair (datagrams)
    uint32_t messageNumber{0}; ///< AETH message sequence number, 24 bit
    uint32_t selectivePsn{0};  ///< after the AETH, see SELECTIVE_BYTES

    union {
        uint16_t pauseQuanta{0}; ///< PAUSE: pause time of all enabled classes, in 512 bit times
        uint16_t identification; ///< others: IPv4 identification; not 0: see IsCoded()
    };

    union {
        uint8_t pauseClasses{0}; ///< PAUSE: class-enable vector
        /// others: type of service that the host has set, of a coded segment of TCP that of its
        /// code; 0: that of the traffic class
        uint8_t typeOfService;
    };

    uint8_t syndrome{0}; ///< AETH syndrome
};

static_assert(std::is_trivially_copyable_v<FrameHeaders> &&
                  std::has_unique_object_representations_v<FrameHeaders>,
              "the archive copies the bytes of FrameHeaders, so it must have no padding");

/**
 * @ingroup distributed-training-fabric
 *
 * Location-dependent state of a frame in the simulated fabric. It shares the first cache line of a
 * Frame with the first headers. It is not part of the frame's contents, because it is meaningless
 * elsewhere.
 */
class FrameInTransit : public EventImpl
{
  public:
    FrameInTransit()
        : ingressPriority(0),
          hasTelemetry(0),
          isEmitted(0),
          isCopy(0)
    {
    }

    uint8_t ingressPriority : 5; ///< in a switch: ingress traffic class
    uint8_t hasTelemetry : 1;    ///< see Frame::GetTelemetry()
    uint8_t isEmitted : 1;       ///< in a switch: whether a program has emitted it
    uint8_t isCopy : 1;          ///< in a switch: whether it is a copy of `multicast`
    uint16_t ingress{0};         ///< index of the next port, or of the ingress port after arrival

    union {
        Frame* next{nullptr}; ///< next frame in the same queue
        uint64_t sequence;    ///< in flight: insertion order in the event list
    };

    union {
        FabricPort* port{nullptr}; ///< next port; after arrival, the ingress port
        uint64_t multicast;        ///< of a copy in a switch: see SharedBuffer::BeginMulticast()
    };

    Ptr<ByteBuffer> payload; ///< real payload, or null; contents, but here it takes no other line
};

/**
 * @ingroup distributed-training-fabric
 *
 * One packet on the wire, with its headers as plain fields (FrameHeaders) and its payload as a byte
 * count (virtual payload) or as a range of a ByteBuffer (real payload).
 *
 * A frame of kind PROGRAM belongs to a custom protocol, whose header is any trivially copyable
 * struct of up to PROGRAM_HEADER_BYTES with a constant `PROTOCOL`. The fabric treats the header as
 * opaque: Make() or Set() writes the whole header, As() accesses it in place. The WireFormat of the
 * protocol defines the encoding on the wire.
 *
 * A frame in flight is its own simulator event: Notify() is its arrival at the far end of a link.
 * So a hop needs no memory allocation. Frames are allocated from a pool (Allocate, Free). The pool
 * holds its own reference to each frame, so the simulator's Unref() after an event never deletes a
 * frame.
 *
 * A frame has exactly one owner at a time: a queue, the link, or the device at which it has
 * arrived.
 */
class alignas(64) Frame : public FrameInTransit, public FrameHeaders
{
  public:
    /// Destination address, source address, EtherType and frame check sequence, bytes.
    static constexpr uint32_t ETHERNET_BYTES = 18;
    /// Shortest Ethernet frame, bytes.
    static constexpr uint32_t MIN_BYTES = 64;
    /// Preamble and start frame delimiter before each frame, bytes.
    static constexpr uint32_t PREAMBLE_BYTES = 8;
    /// Inter-packet gap after each frame, bytes.
    static constexpr uint32_t GAP_BYTES = 12;
    /// Maximum header size of a PROGRAM frame, bytes.
    static constexpr std::size_t PROGRAM_HEADER_BYTES = 48;

    /**
     * @param kind kind of frame
     * @return a frame with all other fields at their defaults, owned by the caller; the header of a
     *         PROGRAM frame is zeroed
     */
    static Frame* Allocate(FrameKind kind);

    /**
     * @tparam Header header type of a protocol
     * @param header header contents
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

    /**
     * Visits what decides its way. Only credits, and data and acknowledgements of RoCE without
     * contents repeat.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    /** @return a frame with the same contents and ingress port, owned by the caller */
    Frame* Clone() const;

    /**
     * Returns a frame to the pool.
     * @param frame frame owned by the caller, invalid afterwards
     */
    static void Free(Frame* frame);

    /**
     * @return number of frames currently allocated in the running simulation (for conservation
     *         checks)
     */
    static uint64_t GetInUse();

    /**
     * @return whether the simulation is running; during its destruction, frames in flight still
     *         exist, but ports may not
     */
    static bool IsSimulationRunning()
    {
        return m_alive;
    }

    /**
     * @tparam Header header type of a protocol
     * @return whether this is a frame of the protocol
     */
    template <class Header>
    bool Is() const
    {
        return kind == FrameKind::PROGRAM && protocol == Header::PROTOCOL;
    }

    /**
     * Turns this frame into a frame of a protocol and sets its header.
     * @tparam Header header type of the protocol
     * @param header header contents
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
     * @tparam Header header type of the frame's protocol; Is<Header>() must be true
     * @return reference to the header in the frame
     */
    template <class Header>
    Header& As()
    {
        CheckHeader<Header>();
        NS_ASSERT_MSG(Is<Header>(), "a frame of protocol " << protocol);
        return *std::launder(reinterpret_cast<Header*>(programHeader));
    }

    /**
     * @tparam Header header type of the frame's protocol; Is<Header>() must be true
     * @return reference to the header in the frame
     */
    template <class Header>
    const Header& As() const
    {
        CheckHeader<Header>();
        NS_ASSERT_MSG(Is<Header>(), "a frame of protocol " << protocol);
        return *std::launder(reinterpret_cast<const Header*>(programHeader));
    }

    /** @return in-band telemetry that the sender has requested, or null */
    const TelemetryStack* GetTelemetry() const
    {
        return hasTelemetry ? m_telemetry.get() : nullptr;
    }

    /** @param record appended by a port to the telemetry; GetTelemetry() must not be null */
    void AddTelemetry(const HopTelemetry& record)
    {
        m_telemetry->push_back(record);
    }

    /** @param telemetry of this frame from now on, or null */
    void SetTelemetry(std::unique_ptr<TelemetryStack> telemetry)
    {
        m_telemetry = std::move(telemetry);
        hasTelemetry = m_telemetry != nullptr;
    }

    /** @return the telemetry, which the frame has no longer, or null */
    std::unique_ptr<TelemetryStack> TakeTelemetry()
    {
        if (!hasTelemetry)
        {
            return nullptr;
        }
        hasTelemetry = 0;
        return std::move(m_telemetry);
    }

    /** @return whether it may have a `packet`; others need not look, which would load its line */
    bool MayHavePacket() const
    {
        return kind == FrameKind::IP || kind == FrameKind::PROGRAM;
    }

    Ptr<Packet> packet; ///< IP: the packet, starting with its IP header
    /// PROGRAM: the header, accessed by Set() and As(). Undefined for other kinds.
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

    std::unique_ptr<TelemetryStack> m_telemetry; // read only if hasTelemetry, see MayHavePacket()
};

/**
 * @ingroup distributed-training-fabric
 * Computes the flow hash for ECMP.
 * @param a source endpoint
 * @param b destination endpoint
 * @param ports source and destination port, or other 32 bits that distinguish flows
 * @return uniformly distributed hash
 */
uint32_t HashFlow(uint32_t a, uint32_t b, uint32_t ports);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_FRAME_H
