/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PROGRESS_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PROGRESS_H

#include "training-communicator.h"

#include "ns3/chunk-layout.h"
#include "ns3/chunk-store.h"
#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The progress of one rank through the schedule of a collective: the data, the completed actions
 * and the ready actions. It is independent of the network and of time: the communicator starts the
 * actions and reports their completion.
 */
class CollectiveProgress
{
  public:
    /**
     * Makes the first actions of all segments ready, or of those in the schedule's window.
     * @param schedule of the collective
     * @param rank this rank
     * @param tensor this rank's vector
     * @param matrix all-to-all-v: bytes from each rank to each
     */
    CollectiveProgress(std::shared_ptr<const CollectiveSchedule> schedule,
                       uint32_t rank,
                       Ptr<Tensor> tensor,
                       ByteMatrix matrix);

    CollectiveProgress(const CollectiveProgress&) = delete;
    CollectiveProgress& operator=(const CollectiveProgress&) = delete;

    /**
     * @param index of an action of this rank
     * @return the action
     */
    ScheduleAction GetAction(uint32_t index) const
    {
        return m_schedule->Get(m_rank, index);
    }

    /**
     * @param action of this rank
     * @return total bytes of its chunks, the size of its message
     */
    uint64_t GetBytes(const ScheduleAction& action) const
    {
        return m_layout.GetBytes(action);
    }

    /**
     * @param bytes of an action
     * @return whether it completes without a message because its chunks are empty
     */
    bool IsEmpty(uint64_t bytes) const
    {
        return bytes == 0 && !m_layout.HasEmptyMessages();
    }

    /** @return the next action to start, in the order in which they became ready; or nothing */
    std::optional<uint32_t> TakeReady();

    /**
     * @param index of the action
     * @return whether all dependencies of an action are complete
     */
    bool IsReady(uint32_t index) const;

    /** @param index of the action @return whether an action is complete */
    bool IsComplete(uint32_t index) const
    {
        return m_complete[index];
    }

    /** @return whether all actions of this rank are complete */
    bool IsFinished() const
    {
        return m_left == 0;
    }

    /**
     * Marks an action as in progress at this rank, such as an addition that takes time.
     * @param index of the action
     * @param isBusy whether it starts or ends
     */
    void SetBusy(uint32_t index, bool isBusy);

    /**
     * Marks an action as complete. Actions without other dependencies become ready.
     * @param index of the action
     */
    void Complete(uint32_t index);

    /**
     * @param action a SEND
     * @return a copy of its chunks; null with virtual payload
     */
    Ptr<ByteBuffer> Read(const ScheduleAction& action);

    /**
     * Replaces the chunks of a message that is about to be sent.
     * @param action a SEND
     * @param payload the new contents of its message
     */
    void Overwrite(const ScheduleAction& action, const Ptr<ByteBuffer>& payload);

    /**
     * Writes or adds the chunks of a message. Does nothing with virtual payload.
     * @param action a RECEIVE or RECEIVE_REDUCE
     * @param payload its message
     */
    void Receive(const ScheduleAction& action, const Ptr<ByteBuffer>& payload);

    /**
     * Copies or adds local chunks. Does nothing with virtual payload.
     * @param action a COPY or REDUCE
     */
    void Copy(const ScheduleAction& action);

    /** Puts the tensor in its final form, once IsFinished(). */
    void Finish();

    /**
     * @return the first message that an action waits for, such as "at step 3 for chunk 2 (100
     *         bytes) from rank 1", or that has not left, such as "at step 3 for chunk 2 (100 bytes)
     *         to leave for rank 1"; nothing if there is none
     */
    std::optional<std::string> DescribeMissing() const;

  private:
    void BeginSegment();

    std::shared_ptr<const CollectiveSchedule> m_schedule;
    uint32_t m_rank;
    Ptr<Tensor> m_tensor;
    ByteMatrix m_matrix;
    ChunkLayout m_layout;
    std::optional<ChunkStore> m_store;     // real payload
    std::vector<bool> m_complete;          // per action
    std::set<uint32_t> m_busy;             // actions in progress: sends, hops, additions
    std::deque<uint32_t> m_ready;          // actions to start now
    uint64_t m_left;                       // incomplete actions
    uint32_t m_begunSegments{0};           // those whose first actions are, or were, ready
    std::vector<uint32_t> m_leftOfSegment; // incomplete actions of each; none: no window
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PROGRESS_H
