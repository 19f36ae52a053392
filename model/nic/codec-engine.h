/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_ENGINE_H
#define DISTRIBUTED_TRAINING_CODEC_ENGINE_H

#include "ns3/gradient-codec.h"
#include "ns3/nic-program.h"
#include "ns3/training-record-field.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-nic Engines in NICs
 */
namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 * What a CodecEngine has done with the packets that its host sent.
 */
struct CodecCounters
{
    uint64_t codedPackets{0};        ///< packets that went out as code
    uint64_t plainBytes{0};          ///< their payload before coding
    uint64_t codedBytes{0};          ///< their payload on the line
    uint64_t bypassedPackets{0};     ///< packets with gradients that went plain
    uint64_t bypassedBytes{0};       ///< their payload
    std::vector<CodecClass> classes; ///< of the codec, with the numbers coded, plain packets too

    /** @return the numbers but those by class */
    static const std::vector<RecordField<CodecCounters>>& GetFields();

    /** @param other counters of the same codec, which are added */
    void Add(const CodecCounters& other);

    /** @return bytes of gradients before coding per byte on the line, without headers */
    double GetRatio() const;
};

/**
 * @ingroup distributed-training-nic
 *
 * Codes gradients in the NIC, packet by packet and unseen by the host, in both directions: Li et
 * al., "A network-centric hardware/algorithm co-design to accelerate distributed training of deep
 * neural networks" (INCEPTIONN, MICRO 2018). It sits between the host and the line, behind the
 * segmentation: headers, sequence numbers and all sizes above are those of the uncoded payload. A
 * retransmission is coded again, to the same bits: random numbers follow from the contents of the
 * packet, as if it were hashed into the seed of a generator.
 *
 * Coded is what the host has marked by the type of service `Tos`: the payload of RoCE and Ultra
 * Ethernet data (Frame::typeOfService), and of TCP segments that consist of marked numbers alone
 * (GradientTag). A packet whose code would not be shorter goes plain, as does a segment with other
 * bytes. With real payload its numbers are rounded nevertheless: what a receiver gets does not
 * depend on how a stream is cut into segments, which differs after a loss.
 *
 * The engine takes `Lanes` numbers a cycle, in each direction, and nothing else meanwhile. So it
 * limits a line faster than 32 bits * Lanes * Clock uncoded.
 *
 * The code of virtual payload has the size that the codec's user has declared.
 */
class CodecEngine : public NicProgram
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return the codec */
    const GradientCodec& GetCodec() const
    {
        return *m_codec;
    }

    /**
     * Replaces the numbers of a packet by what its receiver decodes.
     * @param codec of the engine
     * @param values the numbers
     * @param count of the numbers
     * @throw CodecError if a number cannot be coded
     */
    static void RoundTrip(const GradientCodec& codec, float* values, uint64_t count);

    /** @return rate of uncoded data in each direction, bit/s */
    double GetRate() const
    {
        return 8.0 * sizeof(float) * m_lanes * m_clock;
    }

    /** @return type of service of the packets that it codes */
    uint8_t GetTypeOfService() const
    {
        return m_typeOfService;
    }

    /** @return the counters */
    const CodecCounters& GetCounters() const
    {
        return m_counters;
    }

    // NicProgram
    Time GetSendLatency() const override
    {
        return m_sendLatency;
    }

    Time GetReceiveLatency() const override
    {
        return m_receiveLatency;
    }

    Time GetSendTime(const Frame& /* frame */) const override
    {
        return m_sendTime;
    }

    Time GetReceiveTime(const Frame& /* frame */) const override
    {
        return m_receiveTime;
    }

    bool OnSend(Frame& frame) override;
    bool OnReceive(Frame& frame) override;

  private:
    /** A part of a packet that consists of numbers. */
    struct Range
    {
        uint32_t begin; ///< first byte
        uint32_t end;   ///< one past the last byte
    };

    /** The numbers in a segment. */
    struct Segment
    {
        uint32_t headers;          ///< of IPv4 and TCP, bytes
        uint32_t payload;          ///< behind them, bytes
        uint32_t numbers{0};       ///< bytes of numbers in it
        bool isReal{false};        ///< whether they are numbers, rather than stand for them
        std::vector<Range> ranges; ///< of numbers
    };

    void SetCodec(std::string spec);

    std::string GetCodecSpec() const
    {
        return m_spec;
    }

    void SendData(Frame& frame);
    void SendSegment(Frame& frame);
    void ReceiveData(Frame& frame);
    void ReceiveSegment(Frame& frame);
    Segment Parse(const Packet& packet) const;
    uint32_t Code(const uint8_t* bytes, uint32_t size);
    void Decode(uint8_t* bytes, uint32_t size);
    Ptr<ByteBuffer> Restore(const Frame& frame);
    Time GetTime(uint32_t bytes) const;
    void CountCoded(uint32_t plain, uint32_t coded);
    void CountBypassed(uint32_t bytes);

    std::string m_spec;
    Ptr<GradientCodec> m_codec;
    uint32_t m_lanes;
    double m_clock; // Hz
    uint8_t m_typeOfService;
    Time m_sendLatency;
    Time m_receiveLatency;
    Time m_sendTime;    // of the packet sent last
    Time m_receiveTime; // of the packet received last
    CodecCounters m_counters;
    std::vector<float> m_values;  // of the current packet
    std::vector<uint8_t> m_code;  // of the current packet, with the bytes behind its numbers
    std::vector<uint8_t> m_plain; // payload of the current segment
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_ENGINE_H
