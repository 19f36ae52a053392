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
 * Pauses the peer of one port by priority (IEEE 802.1Qbb). A pause frame asks for the longest time
 * there is; while a priority stays paused, it is renewed when half of that has gone by.
 */
class PauseSender
{
  public:
    /** @param port whose peer is paused; must outlive this */
    explicit PauseSender(FabricPort& port);
    PauseSender(const PauseSender&) = delete;
    PauseSender& operator=(const PauseSender&) = delete;

    /** @param priorities bit p: the peer is to pause priority p until it is resumed */
    void Pause(uint8_t priorities);

    /**
     * The timer of renewals runs on, and ends when it finds nothing paused.
     * @param priorities bit p: the peer may send priority p again
     */
    void Resume(uint8_t priorities);

    /** Resumes all that is paused, and stops the timer of renewals. */
    void Stop();

    /** Forgets what is paused, without telling the peer: the device has lost its state. */
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
    bool m_isRenewing{false}; // the timer runs
    EventId m_renewal;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PAUSE_SENDER_H
