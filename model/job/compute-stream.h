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

    /** @return how long a computation would wait that starts now */
    Time GetWait() const;

  private:
    void End();

    std::function<void(uint64_t)> m_done;
    bool m_isBusy{false};
    uint64_t m_task{0};
    Time m_length;
    EventId m_end;
    Time m_occupied; // other work goes on until then
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMPUTE_STREAM_H
