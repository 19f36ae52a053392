/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_ENGINE_H
#define DISTRIBUTED_TRAINING_NIC_ENGINE_H

#include "host-data-reader.h"
#include "schedule-table.h"
#include "sub-messages.h"

#include "ns3/gradient-codec.h"
#include "ns3/message-coding.h"
#include "ns3/training-busy-unit.h"

#include <cstdint>
#include <memory>

namespace ns3::training
{

/** Hardware of a NIC that executes schedules. Its collectives share it. */
struct NicEngine
{
    HostDataReader::Settings reading; ///< from the memory of the host
    uint64_t receptionBytes{0};       ///< reception buffer of a message, bytes; 0: unlimited
    uint32_t lanes{1};                ///< adders of one float32, or of two numbers of 16 bits
    Ptr<GradientCodec> format;        ///< of numbers on the line and in adders; null: float32
    MessageCoding coding;             ///< what becomes of packets on their way, or in that format
    Time cycle;                       ///< of the adders
    Time addLatency;                  ///< of an addition, beside the cycles that it takes
    bool hasTable{false};             ///< whether a ScheduleTable orders the messages
    ScheduleTable::Settings table;    ///< of that table, without times
    SubMessages subMessages;          ///< on the line
    double lineSecondsPerByte{0};     ///< of one interface
    double lineShare{1};              ///< bytes on the line per byte of a packet
    std::shared_ptr<LockstepOracles> oracles; ///< of all nodes; null: no such lockstep
    BusyUnit readUnit;                        ///< DMA from the host
    BusyUnit writeUnit;                       ///< DMA to the host
    BusyUnit adder;                           ///< all lanes

    /**
     * Adds a packet to another.
     * @param bytes of the packet, as float32
     * @return time from now to its sum
     */
    Time Add(uint64_t bytes);

    /**
     * @param bytes of float32
     * @return as many bytes of the numbers' format
     */
    uint64_t GetFormattedBytes(uint64_t bytes) const
    {
        return format ? format->GetCodedBytes(bytes / sizeof(float)) + bytes % sizeof(float)
                      : bytes;
    }

    /**
     * @param numbers float32, or null
     * @return the numbers in the format
     */
    Ptr<ByteBuffer> Format(Ptr<ByteBuffer> numbers) const;

    /**
     * @param formatted numbers in the format, or null
     * @return them as float32
     */
    Ptr<ByteBuffer> Unformat(Ptr<ByteBuffer> formatted) const;

    /**
     * Writes part of a result to the memory of the host.
     * @param bytes of the part
     * @return time from now to its end
     */
    Time Write(uint64_t bytes);

    /**
     * @param bytes of a message
     * @return the time that MULTITREE's interface assumes for a step: that of the message on the
     *         line, less what fits into the buffers before the line, 58 sub-messages; a message
     *         that fits takes the time of a flit for each sub-message
     */
    Time EstimateStep(uint64_t bytes) const;

    /**
     * @param bytes of a message
     * @return its time on the line of an interface
     */
    Time GetLineTime(uint64_t bytes) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_ENGINE_H
