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

#include <cstdint>
#include <deque>
#include <functional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The frames that a slow host has received and not processed yet. It processes one after another
 * at its receive rate. If lossless frames fill more than half of the buffer, it pauses the switch
 * until no more than a quarter is left; lossy frames that find the buffer full are dropped.
 */
class HostReceiveBuffer
{
  public:
    /** Attributes of HostDevice, which documents them. */
    struct Settings
    {
        DataRate rate;           ///< at which the host processes frames; 0: as fast as they come
        uint64_t bytes;          ///< size, of lossless and of lossy classes each
        uint8_t losslessClasses; ///< bit p: the host pauses priority p and does not drop it
    };

    /**
     * @param port frames arrive at; must outlive this
     * @param settings must outlive this
     * @param deliver takes each frame that has been processed
     */
    HostReceiveBuffer(FabricPort& port,
                      const Settings& settings,
                      std::function<void(Frame*)> deliver);

    /** @param frame has arrived; owned by the buffer from now on */
    void Receive(Frame* frame);

    /** Processes all frames at once. */
    void Drain();

  private:
    bool IsLossless(const Frame& frame) const;
    void Process();
    void UpdatePause();

    FabricPort& m_port;
    const Settings& m_settings;
    std::function<void(Frame*)> m_deliver;
    PauseSender m_pauses;
    std::deque<Frame*> m_frames; // the first is being processed
    uint64_t m_losslessBytes{0};
    uint64_t m_lossyBytes{0};
    EventId m_processed;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_RECEIVE_BUFFER_H
