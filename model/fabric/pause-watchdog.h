/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PAUSE_WATCHDOG_H
#define DISTRIBUTED_TRAINING_PAUSE_WATCHDOG_H

#include "fabric-traffic-class.h"
#include "pause-receiver.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>

namespace ns3::training
{

class FabricPort;

/**
 * @ingroup distributed-training-fabric
 *
 * The watchdog of a port against pause storms, as SONiC has it. A class that stays paused for the
 * detection time is in a storm: from then on it does not obey pauses, and its frames, queued and
 * new, are dropped or forwarded. The storm ends when no pause of the class has arrived for the
 * restoration time.
 */
class PauseWatchdog : public PauseFilter
{
  public:
    /** What happens to the frames of a class in a storm. */
    enum class Action
    {
        DROP,   ///< those queued and those that come are dropped
        FORWARD ///< they are sent
    };

    /** Attributes of SwitchDevice, which documents them. */
    struct Settings
    {
        Time detection;              ///< 0: no watchdog
        Time restoration;            ///< at least 1 ps
        Action action{Action::DROP}; ///< during a storm
    };

    /**
     * @param port its port; must outlive this
     * @param settings the settings; must outlive this
     */
    PauseWatchdog(FabricPort& port, const Settings& settings);
    PauseWatchdog(const PauseWatchdog&) = delete;
    PauseWatchdog& operator=(const PauseWatchdog&) = delete;

    // PauseFilter
    uint8_t Filter(uint8_t classes, bool paused) override;
    void NotifyPause(uint8_t priority, bool paused) override;

    /**
     * A frame has been queued.
     * @param priority its class
     */
    void NotifyQueued(uint8_t priority);

  private:
    void Check(uint8_t priority);
    void Restore(uint8_t priority);

    FabricPort& m_port;
    const Settings& m_settings;
    uint8_t m_storming{0};                         // bit p: class p is in a storm
    std::array<int64_t, PRIORITIES> m_lastPause{}; // time of the last one, ps
    std::array<EventId, PRIORITIES> m_check;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PAUSE_WATCHDOG_H
