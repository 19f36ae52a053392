/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_SOCKETS_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_SOCKETS_H

#include "job-validation-comparison.h"

#include "ns3/training-quantity.h"

#include <cstdint>
#include <string>

/**
 * @file
 * Part sockets of job-validation.
 */

namespace ns3::training
{

inline void
Comparison::CompareSockets()
{
    m_table.PrintHeadings("\nCollectives of NCCL over kernel TCP, one port of 200 Gbit/s a host; "
                          "constants of the host "
                          "model nccl-socket from the rows\nof role calibration\n");
    for (const NcclTable& table : GetNcclTables())
    {
        if (!table.IsTcp())
        {
            continue;
        }
        for (const NcclPoint& point : table.points)
        {
            const uint64_t bytes = ParseBytes(point.bytes).value();
            const double seconds = GetSeconds(MakeNcclCluster(table, table.hostModel),
                                              FindCollectiveOperation(table.operation),
                                              bytes);
            Add(std::string(table.name) + ", " + table.operation + ", " + point.bytes + " bytes",
                "us",
                point.role,
                table.source,
                point.published,
                NONE,
                1e6 * seconds);
        }
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_SOCKETS_H
