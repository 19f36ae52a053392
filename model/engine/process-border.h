/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROCESS_BORDER_H
#define DISTRIBUTED_TRAINING_PROCESS_BORDER_H

#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/training-byte-archive.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The border between this process and the other processes of a parallel simulation. It sends frames
 * on cross-process links to the process that simulates the other end, and schedules the arrival of
 * frames received from other processes.
 *
 * The processes advance in rounds, which end with Exchange(). A frame waits for the end of the
 * round and arrives after it, if a round is no longer than the shortest delay of a cross-process
 * link.
 */
class ProcessBorder
{
  public:
    /// A time after all events.
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /// Takes a message. (number of the sending process, first byte, number of bytes)
    using Receiver = std::function<void(uint32_t, const uint8_t*, std::size_t)>;

    /// Sends messages, given by receiving process, and passes on those of the other processes.
    using Exchanger = std::function<void(const std::vector<ByteWriter>&, const Receiver&)>;

    /** Notices between processes. */
    enum class Notice : uint8_t
    {
        DONE, ///< this process has completed all its work
        STOP  ///< the simulation must stop
    };

    /// Receives a notice. (notice, time of announcement)
    using NoticeHandler = std::function<void(Notice, Time)>;

    /**
     * @param id number of this process
     * @param count number of processes
     * @param exchanger exchanges messages with the other processes
     */
    ProcessBorder(uint32_t id, uint32_t count, Exchanger exchanger);
    ~ProcessBorder();
    ProcessBorder(const ProcessBorder&) = delete;
    ProcessBorder& operator=(const ProcessBorder&) = delete;

    /**
     * Adds a cross-process link. Ports have the same numbers in all processes.
     * @param mine the end of the link in this process
     * @param number port number of that end
     * @param peerNumber port number of the other end
     * @param process number of the process of the other end
     */
    void AddLink(FabricPort& mine, uint32_t number, uint32_t peerNumber, uint32_t process);

    /** @param handler callback for notices of other processes */
    void SetNoticeHandler(NoticeHandler handler);

    /** @param notice notice that reaches all other processes at the end of the round */
    void Announce(Notice notice);

    /**
     * Ends a round: sends the frames and notices of this process, and schedules the arrival of
     * those of the other processes. All processes call it together.
     * @param next a time not after the next event of this process, time steps, or NEVER
     * @return a time not after the next event of any process, time steps; NEVER: there is none
     */
    uint64_t Exchange(uint64_t next);

  private:
    /** The outgoing direction of a cross-process link. */
    struct Crossing : public FrameBorder
    {
        Crossing(ProcessBorder& owner, uint32_t toPort, uint32_t toProcess);
        void Cross(Frame* frame, int64_t arrival) override;

        ProcessBorder& border;
        uint32_t port;
        uint32_t process;
    };

    /** A port at the border, with what an arrival needs to know of it. */
    struct Port
    {
        FabricPort* port{nullptr};
        uint32_t node{0};
        uint16_t index{0};
    };

    /** A frame that crosses at the end of the round. */
    struct CrossingFrame
    {
        Frame* frame;
        int64_t arrival;
        uint32_t port; // the other end of the link
    };

    static void Pack(const std::vector<CrossingFrame>& frames, ByteWriter& writer);
    uint64_t Unpack(const uint8_t* data, std::size_t size);

    uint32_t m_id;
    Exchanger m_exchanger;
    NoticeHandler m_noticeHandler;
    std::vector<std::vector<CrossingFrame>> m_frames; // of this round, by process
    std::vector<ByteWriter> m_outgoing; // messages of this round, by process: notices, then frames
    uint64_t m_earliest{NEVER};         // arrival or notice in it
    std::deque<Crossing> m_crossings;   // a deque keeps addresses stable; ports hold pointers
    std::vector<Port> m_ports;          // by number
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESS_BORDER_H
