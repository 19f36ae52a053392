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
 * Where this process's part of a simulation ends: takes frames that leave it to those processes
 * that simulate the other end of their link, and puts those that come from there on their way.
 *
 * A message for every frame would cost more than the frame's simulation. So frames are gathered for
 * as long as the lookahead, which is half of the least delay of a link between processes, and then
 * sent together; they get there within another lookahead, always before the first of them arrives.
 */
class ProcessBorder
{
  public:
    /// Sends to a process a message that it receives after one lookahead. (process, data, size)
    using Sender = std::function<void(uint32_t, const uint8_t*, uint32_t)>;

    /** Notices between processes. */
    enum class Notice : uint8_t
    {
        DONE, ///< all that this process waited for has happened
        STOP  ///< the simulation ends now
    };

    /// Is told a notice. (the notice, when it was given)
    using NoticeHandler = std::function<void(Notice, Time)>;

    /**
     * @param id number of this process
     * @param count number of processes
     * @param lookAhead at most half of the delay of any link that crosses the border
     * @param longest most bytes of a message
     * @param sender sends messages
     */
    ProcessBorder(uint32_t id, uint32_t count, Time lookAhead, uint32_t longest, Sender sender);
    ~ProcessBorder();
    ProcessBorder(const ProcessBorder&) = delete;
    ProcessBorder& operator=(const ProcessBorder&) = delete;

    /**
     * Makes a link cross the border. Ports have the same numbers in all processes.
     * @param mine the end of the link in this process
     * @param number of that end
     * @param peerNumber number of the other end
     * @param process where the other end is
     */
    void AddLink(FabricPort& mine, uint32_t number, uint32_t peerNumber, uint32_t process);

    /** @param handler called with the notices of other processes */
    void SetNoticeHandler(NoticeHandler handler);

    /** @param notice told to all other processes within two lookaheads */
    void Announce(Notice notice);

    /**
     * A message has come in.
     * @param data as given to the Sender of another process
     * @param size its size
     */
    void Receive(const uint8_t* data, uint32_t size);

  private:
    /** One direction of a link that leaves this process. */
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
        ByteWriter outgoing;                            ///< gathered since the last flush
        uint32_t sent{0};                               ///< messages sent to it
        uint32_t received{0};                           ///< messages from it that were in turn
        std::map<uint32_t, std::vector<uint8_t>> early; ///< messages that overtook others
        std::vector<uint8_t> incoming;                  ///< a flush that is not complete yet
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
    std::vector<Peer> m_peers;        // by number of the process
    std::deque<Crossing> m_crossings; // a deque, because ports hold their addresses
    std::vector<FabricPort*> m_ports; // by number, those at the border
    bool m_flushPending{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESS_BORDER_H
