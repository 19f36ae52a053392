/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_TABLE_H
#define DISTRIBUTED_TRAINING_SCHEDULE_TABLE_H

#include "lockstep-oracle.h"

#include "ns3/collective-schedule.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * The schedule table of a network interface (MULTITREE; Huang et al., ISCA 2021, and its public
 * simulator): the messages that a node sends, by step. Only messages of the first step in the table
 * may begin. The step is taken off when all of them have begun. A step without messages is a NOP;
 * in lockstep it takes the estimated time of a step, so that the node keeps pace with the others
 * without synchronization. A NOP after a step with messages takes two estimates, because its
 * messages are still on their way.
 *
 * A node reduces first and gathers then: messages to be copied begin when all messages to be added
 * have left.
 *
 * The table has an entry for each different chunk list and receiving operation of a step (one entry
 * feeds several children), and for each NOP.
 */
class ScheduleTable
{
  public:
    /** Properties of the interface. */
    struct Settings
    {
        uint32_t entries{0};    ///< size of the table; 0: unlimited
        uint32_t interfaces{0}; ///< messages that may leave at a time; 0: any number
        bool lockstep{false};   ///< whether NOPs take time
        Time estimate{};        ///< of a step, in lockstep
        Time line{};            ///< least time that a message takes its interface
    };

    /**
     * @param schedule to execute
     * @param rank this node
     * @param settings of its interface
     * @param begin called when a message that had to wait may begin, with the index of its action
     * @param oracle of all nodes, or null: none
     * @throw ConfigurationError if the schedule needs more entries than there are
     */
    ScheduleTable(const CollectiveSchedule& schedule,
                  uint32_t rank,
                  const Settings& settings,
                  std::function<void(uint32_t)> begin,
                  std::shared_ptr<LockstepOracle> oracle = nullptr);
    ~ScheduleTable();
    ScheduleTable(const ScheduleTable&) = delete;
    ScheduleTable& operator=(const ScheduleTable&) = delete;

    /** Begins with the first step. */
    void Start();

    /**
     * A message, or a packet of it, has its data.
     * @param index of its action, over all segments
     * @return whether it may begin; if not, `begin` is called later
     */
    bool Request(uint32_t index);

    /**
     * A message, or a packet of it, has left.
     * @param index of its action, over all segments
     */
    void OnSent(uint32_t index);

    /** @return entries in use */
    uint32_t GetEntries() const
    {
        return m_entries;
    }

  private:
    /** A step of the list. */
    struct Step
    {
        std::set<uint32_t> waiting; ///< messages that have not begun; none from the start: a NOP
        bool isNop{false};
        bool gathers{false}; ///< the first step with messages to be copied
    };

    /** A message. */
    struct Message
    {
        uint32_t step{0};
        uint32_t left{0}; ///< packets that have left
        bool hasBegun{false};
        Time begin;
        EventId free; ///< its interface is free
    };

    bool MayBegin(uint32_t message) const;
    void Begin(uint32_t message);
    void TakeOffSteps();
    void OnNop();
    void BeginWaiting();
    void Free(uint32_t message);

    const uint32_t m_actions; // of a segment
    const uint32_t m_segments;
    const Settings m_settings;
    const std::function<void(uint32_t)> m_begin;
    const std::shared_ptr<LockstepOracle> m_oracle;
    std::vector<Step> m_steps;
    std::vector<Message> m_messages; // by action
    std::vector<uint32_t> m_ready;   // indices that wait, in order
    uint32_t m_entries{0};
    uint32_t m_step{0};
    uint32_t m_leaving{0}; // messages that have begun and not left
    bool m_started{false};
    bool m_gathering{false}; // the first message to be copied has begun
    bool m_afterSend{false}; // the step before had messages
    EventId m_nop;           // the end of an empty step
    EventId m_wake;          // messages that wait may begin
    uint32_t m_node{0};      // at the oracle
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_TABLE_H
