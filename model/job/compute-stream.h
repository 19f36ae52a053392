/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMPUTE_STREAM_H
#define DISTRIBUTED_TRAINING_COMPUTE_STREAM_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * The stream of a GPU that computes layers, one computation at a time. Other work of the GPU, such
 * as the additions of a collective, delays it.
 */
class ComputeStream
{
  public:
    /** @param done called at the end of a computation, with its task */
    explicit ComputeStream(std::function<void(uint64_t task)> done);

    /**
     * Starts a computation, when none is under way.
     * @param length without waits
     * @param task its number
     * @return how long it waits for other work
     */
    Time Start(Time length, uint64_t task);

    /**
     * Adds other work behind all earlier such work.
     * @param time that it takes
     * @return whether it delays a computation under way
     */
    bool Occupy(Time time);

    /**
     * Changes how fast computations go on, the one under way included.
     * @param pace time that a unit of their length takes, at least 1
     */
    void SetPace(double pace);

    /** @return by how much pace has made the last computation longer, so far */
    Time GetStretch() const
    {
        return m_stretch;
    }

    /** Ends a computation without a word, and other work. */
    void Stop();

    /** @return whether a computation is under way */
    bool IsBusy() const
    {
        return m_isBusy;
    }

    /** @return length of the last computation, without waits */
    Time GetLength() const
    {
        return m_length;
    }

    /** @return time until the computation under way ends, if nothing else delays it */
    Time GetLeastTimeLeft() const;

    /** @return how long a computation would wait that starts now */
    Time GetWait() const;

  private:
    void End();
    void Settle();
    Time Stretch(Time length) const;

    std::function<void(uint64_t)> m_done;
    bool m_isBusy{false};
    uint64_t m_task{0};
    Time m_length;
    EventId m_end;
    Time m_occupied; // other work goes on until then
    double m_pace{1};
    Time m_settled; // when what is left of a computation was known last
    Time m_left;    // of its length, then
    Time m_stretch;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMPUTE_STREAM_H
