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

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
 * One message per frame would cost more than the simulation of the frame. So frames are batched for
 * one lookahead, which is half of the minimum delay of any cross-process link. The batch reaches
 * the other process within another lookahead, always before its first frame arrives.
 */
class ProcessBorder
{
  public:
    /// Sends a message to a process, which receives it after one lookahead. (process, data, size)
    using Sender = std::function<void(uint32_t, const uint8_t*, uint32_t)>;

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
     * @param lookAhead lookahead, at most half of the delay of any cross-process link
     * @param longest maximum message size, bytes
     * @param sender sends messages
     */
    ProcessBorder(uint32_t id, uint32_t count, Time lookAhead, uint32_t longest, Sender sender);
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

    /** @param notice notice that reaches all other processes within two lookaheads */
    void Announce(Notice notice);

    /**
     * Processes a message from another process.
     * @param data data passed to the Sender of the other process
     * @param size number of bytes
     */
    void Receive(const uint8_t* data, uint32_t size);

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

    /** Another process. */
    struct Peer
    {
        ByteWriter outgoing;                            ///< data batched since the last flush
        uint32_t sent{0};                               ///< number of messages sent
        uint32_t received{0};                           ///< number of messages received in order
        std::map<uint32_t, std::vector<uint8_t>> early; ///< messages received out of order
        std::vector<uint8_t> incoming;                  ///< incomplete incoming flush
    };

    void ScheduleFlush();
    void Flush();
    void Deliver(Peer& peer, const uint8_t* data, std::size_t size);
    void Unpack(const uint8_t* data, std::size_t size);

    uint32_t m_id;
    Time m_lookAhead;
    uint32_t m_longest;
    Sender m_sender;
    NoticeHandler m_noticeHandler;
    std::vector<Peer> m_peers;        // by process number
    std::deque<Crossing> m_crossings; // a deque keeps addresses stable; ports hold pointers
    std::vector<FabricPort*> m_ports; // ports at the border, by number
    bool m_flushPending{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESS_BORDER_H
