/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_FRAME_H
#define DISTRIBUTED_TRAINING_FABRIC_FRAME_H

#include "byte-buffer.h"

#include "ns3/event-impl.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

class FabricPort;

/** What a frame is to the devices that handle it. */
enum class FrameKind : uint8_t
{
    IP,        ///< a packet of a stock ns-3 stack, in `packet`
    PAUSE,     ///< IEEE 802.1Qbb priority flow control
    ROCE_DATA, ///< RoCEv2 request packet (SEND or RDMA WRITE)
    ROCE_ACK,  ///< RoCEv2 acknowledge, positive or negative
    ROCE_CNP,  ///< RoCEv2 congestion notification packet
    SWITCHML,  ///< SwitchML, in-network aggregation (NSDI 2021)
    SWITCH_PS, ///< a parameter server in a switch (Hashmi)
    ATP,       ///< ATP, in-network aggregation (NSDI 2021)
    TREE       ///< aggregation tree of reliable connections (SHARP)
};

/**
 * @param kind of a frame
 * @return whether it is of a system that adds in the network; these come last
 */
inline bool
IsAggregation(FrameKind kind)
{
    return kind >= FrameKind::SWITCHML;
}

/** The ECN field of the IP header (RFC 3168). */
enum class Ecn : uint8_t
{
    NOT_ECT = 0, ///< not ECN capable
    ECT = 2,     ///< ECN capable, no congestion met
    CE = 3       ///< congestion experienced
};

/** What one port on the way adds to a frame's telemetry, as it begins to send the frame. */
struct HopTelemetry
{
    int64_t time;        ///< when, ps
    uint64_t sentBytes;  ///< bytes it had sent until then, with preambles and gaps
    uint64_t queueBytes; ///< bytes that waited in all its queues
    uint64_t rate;       ///< its line rate, bit/s
};

/** What a packet of in-network aggregation says beside its values. */
struct AggregationHeader
{
    /** What the packet is. */
    enum class Type : uint8_t
    {
        DATA,   ///< values, on their way to a switch or back
        NOTICE, ///< between workers: the sender goes on without the switch
        PULL,   ///< SWITCH_PS: a request for weights
        RESULT  ///< ATP: what a server sends to all workers: sums, or a wish for floats
    };

    uint64_t check{0};     ///< sum of what proves who has contributed; not on the wire
    uint32_t packet{0};    ///< number of the packet in its job, or of the sender's collectives
    uint32_t workers{0};   ///< ATP: bit w: worker w of the rack has contributed
    uint32_t children{0};  ///< ATP: bit c: so has child c of the server's switch
    uint16_t slot{0};      ///< of the switch's memory
    uint16_t newSlot{0};   ///< ATP: a result with `collision`: to be used from now on
    uint8_t set{0};        ///< which of the slot's two versions, 0 or 1
    uint8_t job{0};        ///< number of the job
    Type type{Type::DATA}; ///< what it is
    int8_t exponents[2]{}; ///< largest of the blocks that are to come
    bool overflow{false};  ///< a sum has left the range of its numbers; ATP: values are floats
    bool heard{false};     ///< NOTICE: the sender has had the receiver's
    bool isRackSum{false}; ///< ATP: `children` say who has contributed, not `workers`
    bool resend{false};    ///< ATP: not to be held by switches
    bool collision{false}; ///< ATP: found its slot taken
    bool congested{false}; ///< ATP: something in it was marked on its way
    bool contested{false}; ///< A2TP: another job has asked for the slot
    uint8_t fanIn[2]{};    ///< ATP: workers of the rack, children of the server's switch
    uint8_t priority{0};   ///< ESA: of the job, to keep or take slots, 0 to 127
    uint8_t operation{0};  ///< tree: bits of TreeOperation
    uint8_t format{0};     ///< tree: NumberFormat of the values
};

/** In-band network telemetry (INT) of a frame, in the order of the hops. */
using TelemetryStack = std::vector<HopTelemetry>;

/**
 * @ingroup distributed-training-fabric
 *
 * One packet on the wire, with its headers as plain fields and its payload as a byte count
 * (virtual) or as a stretch of a ByteBuffer (real).
 *
 * A frame in flight is its own simulator event: Notify() is its arrival at the far end of a link.
 * So a hop allocates nothing. Frames come from a pool (Allocate, Free); the pool keeps a reference
 * of its own, so the simulator's Unref() after an event never deletes one.
 *
 * Exactly one holder owns a frame at a time: a queue, the link, or the device it has arrived at.
 */
class alignas(64) Frame : public EventImpl
{
  public:
    /// Destination address, source address, EtherType and frame check sequence, bytes.
    static constexpr uint32_t ETHERNET_BYTES = 18;
    /// Shortest Ethernet frame, bytes.
    static constexpr uint32_t MINIMUM_BYTES = 64;
    /// Preamble and start delimiter, on the line ahead of each frame, bytes.
    static constexpr uint32_t PREAMBLE_BYTES = 8;
    /// Inter-packet gap, on the line behind each frame, bytes.
    static constexpr uint32_t GAP_BYTES = 12;

    /**
     * @param kind what it is
     * @return a frame with all other fields at their defaults, owned by the caller
     */
    static Frame* Allocate(FrameKind kind);

    /** @return a frame with the same contents, owned by the caller */
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

    // What every hop looks at comes first, to lie in one cache line.
    uint8_t ingressPriority{0}; ///< in a switch: traffic class it came in by

    union {
        Frame* next{nullptr}; ///< link for the queue it waits in
        uint64_t sequence;    ///< in flight: order of insertion into the event list
    };

    FabricPort* port{nullptr};     ///< where it arrives next; once arrived, where it came in
    uint32_t bytes{0};             ///< frame size with frame check sequence, bytes
    uint32_t source{0};            ///< endpoint that sent it
    uint32_t destination{0};       ///< endpoint it goes to
    uint32_t flowHash{0};          ///< hash of the 5-tuple, for ECMP
    uint16_t ingress{0};           ///< index of the port it arrives at next, or came in by
    FrameKind kind{FrameKind::IP}; ///< what it is
    uint8_t priority{0};           ///< traffic class, 0 to 7
    Ecn ecn{Ecn::NOT_ECT};         ///< ECN field
    bool ackRequest{false};        ///< BTH acknowledge request
    bool ecnEcho{false};           ///< ROCE_ACK: what it answers was marked (BTH BECN bit)
    uint8_t opcode{0};             ///< BTH opcode
    /// In-band telemetry asked for by the sender, gathered on the way, sent back by the receiver.
    std::unique_ptr<TelemetryStack> telemetry;
    uint32_t payloadBytes{0};  ///< bytes of payload
    uint32_t destinationQp{0}; ///< BTH destination queue pair
    uint32_t psn{0};           ///< BTH packet sequence number, 24 bit

    union {
        uint32_t immediate{0}; ///< immediate data
        uint32_t keyRange;     ///< SWITCH_PS: number of the key range
    };

    Ptr<Packet> packet;        ///< IP only: the packet from its IP header on
    Ptr<ByteBuffer> payload;   ///< real payload, or null
    uint64_t payloadOffset{0}; ///< first byte of this frame's payload in `payload`
    uint64_t remoteAddress{0}; ///< RETH virtual address (first packet of a WRITE)
    uint64_t messageBytes{0};  ///< RETH DMA length (first packet of a WRITE), bytes
    int64_t timestamp{0}; ///< ROCE_DATA: when it was sent, ps; ROCE_ACK: that of what it answers
    uint32_t sourceQp{0}; ///< DETH source queue pair (datagrams)

    union {
        uint32_t messageNumber{0}; ///< AETH message sequence number, 24 bit
        uint32_t clock;            ///< SWITCH_PS: steps before this one, of the sender or of all
    };

    uint32_t selectivePsn{0}; ///< selective repeat: packet that caused a NAK, 24 bit
    uint16_t protocol{0};     ///< IP only: EtherType
    uint16_t pauseQuanta{0};  ///< PAUSE only: time for all enabled classes, 512 bit times each
    uint8_t pauseClasses{0};  ///< PAUSE only: class-enable vector
    uint8_t syndrome{0};      ///< AETH syndrome
    AggregationHeader
        aggregation; ///< IsAggregation() only: set as a whole by whoever makes the frame

  protected:
    void Notify() override;

  private:
    friend class FramePool;
    Frame() = default;

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
