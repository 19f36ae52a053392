/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KEPT_REPORTS_H
#define DISTRIBUTED_TRAINING_KEPT_REPORTS_H

#include "report-writer.h"

#include "ns3/training-byte-archive.h"

#include <functional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Reports of the ranks of a process, until the first process gets those of all processes in the
 * order of a single process.
 */
class KeptReports
{
  public:
    /** @param report of now, at the present node */
    void Add(const TraceReport& report);

    /**
     * Gives the reports away. Collective: all processes call it (see Processes).
     * @param take called with each report of all processes in the first one; null: nobody wants it
     */
    void Gather(const std::function<void(const TraceReport& report)>& take);

  private:
    ByteWriter m_bytes;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KEPT_REPORTS_H
