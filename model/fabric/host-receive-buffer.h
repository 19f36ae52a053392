/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_RECEIVE_BUFFER_H
#define DISTRIBUTED_TRAINING_HOST_RECEIVE_BUFFER_H

#include "fabric-port.h"
#include "pause-sender.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The receive buffer of a slow host or NIC, which processes frames one after another: each for its
 * size at the host's receive rate, or for its service time in the NIC, if that is longer.
 * If lossless frames fill more than half of the buffer, the host pauses the switch until at most a
 * quarter is occupied. Lossy frames are dropped if the buffer is full. A switch that sends with
 * credits gets them back as the host processes its frames.
 */
class HostReceiveBuffer
{
  public:
    /** Attributes of HostDevice, which documents them. */
    struct Settings
    {
        DataRate rate;           ///< processing rate of the host; 0: unlimited
        uint64_t bytes;          ///< buffer size, separate for lossless and lossy classes
        uint8_t losslessClasses; ///< bit p: priority p is paused instead of dropped
    };

    /**
     * @param port ingress port; must outlive this
     * @param settings buffer settings; must outlive this
     * @param deliver receives each processed frame
     */
    HostReceiveBuffer(FabricPort& port,
                      const Settings& settings,
                      std::function<void(Frame*)> deliver);

    /**
     * @param frame arrived frame; owned by the buffer from now on
     * @param service least processing time of the frame
     */
    void Receive(Frame* frame, Time service);

    /**
     * @param priority a class that is received with credits
     * @return its bytes in the buffer
     */
    uint64_t GetHeldBytes(uint8_t priority) const
    {
        return m_creditBytes[priority];
    }

    /** @return whether no frame waits or is processed */
    bool IsEmpty() const
    {
        return m_frames.empty();
    }

    /** Delivers all buffered frames immediately. */
    void Drain();

  private:
    /** A frame in the buffer. */
    struct Held
    {
        Frame* frame;
        Time service; ///< least processing time
    };

    bool IsLossless(const Frame& frame) const;
    void Begin(const Held& held);
    uint64_t& GetAccount(const Frame& frame);
    void Process();
    void UpdatePause();

    FabricPort& m_port;
    const Settings& m_settings;
    std::function<void(Frame*)> m_deliver;
    PauseSender m_pauses;
    std::deque<Held> m_frames; // the first frame is being processed
    uint64_t m_losslessBytes{0};
    uint64_t m_lossyBytes{0};
    std::array<uint64_t, PRIORITIES> m_creditBytes{};
    EventId m_processed;
    bool m_isDraining{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_RECEIVE_BUFFER_H
