/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PACKET_PLANNER_H
#define DISTRIBUTED_TRAINING_PACKET_PLANNER_H

#include "ns3/collective-schedule.h"
#include "ns3/scheduled-communicator.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * Schedules for engines that work packet by packet: those of another planner, with one segment per
 * packet. So an engine forwards packet k of a chunk while packet k + 1 arrives, and the order of
 * additions is unchanged. One planner may serve all ranks, because its schedules depend only on
 * what every rank knows.
 */
class PacketPlanner
{
  public:
    /**
     * @param planner of the schedules
     * @param packetBytes largest payload of a packet, bytes; 0: one segment, whole messages
     */
    PacketPlanner(ScheduledCommunicator::Planner planner, uint64_t packetBytes);

    /**
     * @param operation collective operation
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the schedule. Its smallest messages have as few packets as possible, so a packet of a
     *         larger message may be longer; as may packets where the number of segments is limited
     *         (CollectiveSchedule::MAX_MESSAGES, MAX_STEPS)
     */
    std::shared_ptr<const CollectiveSchedule> Get(CollectiveOperation operation,
                                                  uint64_t bytes,
                                                  uint32_t root);

  private:
    uint32_t GetSegments(const CollectiveSchedule& schedule, uint64_t bytes) const;

    using Plan = std::pair<std::shared_ptr<const CollectiveSchedule>, uint32_t>; // and segments

    ScheduledCommunicator::Planner m_planner;
    uint64_t m_packetBytes;
    std::map<Plan, std::shared_ptr<const CollectiveSchedule>> m_plans;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PACKET_PLANNER_H
