/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H
#define DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H

#include <cstdint>

namespace ns3::training
{

class Frame;

/**
 * @ingroup distributed-training-rdma
 *
 * The sending side of a queue pair of any kind, as the NIC's scheduler sees it: something that can
 * make packets of one traffic class, now or from a time on.
 */
class RdmaSendQueue
{
  public:
    /// Cache lines of the object, from its beginning, that most packets need.
    static constexpr std::size_t SEND_LINES = 3;

    /**
     * @param number of the queue pair
     * @param priority traffic class of its packets
     */
    RdmaSendQueue(uint32_t number, uint8_t priority)
        : m_priority(priority),
          m_number(number)
    {
    }

    virtual ~RdmaSendQueue() = default;

    /** @return whether there is a packet that may be sent, its time aside */
    virtual bool CanSend() const = 0;

    /**
     * @param now simulated time, ps
     * @return the next packet; CanSend() must be true
     */
    virtual Frame* MakeFrame(int64_t now) = 0;

    /**
     * Brings into the cache what MakeFrame() is going to need besides the first lines of the
     * object, which are there already.
     */
    virtual void Prefetch() const
    {
    }

    /** @return earliest time of the next packet, ps */
    int64_t GetNextSendTime() const
    {
        return m_nextSendTime;
    }

    /** @return number of the queue pair */
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /** @return traffic class of its packets */
    uint8_t GetPriority() const
    {
        return m_priority;
    }

  protected:
    int64_t m_nextSendTime{0}; ///< earliest time of the next packet, ps

  private:
    friend class RdmaSendScheduler;

    /** Where the scheduler has it. */
    enum class State : uint8_t
    {
        IDLE,  ///< nowhere: it has nothing to send
        READY, ///< in the list of those that take turns
        PACED  ///< in the heap of those that wait for their time
    };

    RdmaSendQueue* m_next{nullptr}; // in the list
    int64_t m_wakeTime{0};          // of its entry in the heap, ps; others there are stale
    State m_state{State::IDLE};
    uint8_t m_priority;
    uint32_t m_number;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H
