/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PAUSE_SENDER_H
#define DISTRIBUTED_TRAINING_PAUSE_SENDER_H

#include "fabric-port.h"

#include "ns3/event-id.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Pauses the peer of one port per priority (IEEE 802.1Qbb). A pause frame requests the maximum
 * pause time; while a priority stays paused, the pause is renewed after half of that time.
 */
class PauseSender
{
  public:
    /** @param port port whose peer is paused; must outlive this */
    explicit PauseSender(FabricPort& port);
    PauseSender(const PauseSender&) = delete;
    PauseSender& operator=(const PauseSender&) = delete;

    /** @param priorities bit p: pauses priority p until it is resumed */
    void Pause(uint8_t priorities);

    /**
     * Resumes priorities. The renewal timer keeps running and stops when no priority is paused.
     * @param priorities bit p: the peer may send priority p again
     */
    void Resume(uint8_t priorities);

    /** Resumes all paused priorities and stops the renewal timer. */
    void Stop();

    /**
     * Clears the state without sending resumes, because the device has lost its state in a restart.
     */
    void Forget();

    /** @return bit p is set if priority p of the peer is paused */
    uint8_t GetPaused() const
    {
        return m_paused;
    }

  private:
    void ScheduleRenewal();
    void Renew();

    FabricPort& m_port;
    uint8_t m_paused{0};
    bool m_isRenewing{false}; // whether the renewal timer runs
    EventId m_renewal;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PAUSE_SENDER_H
