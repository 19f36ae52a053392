/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "queued-event.h"

#include <boost/sort/pdqsort/pdqsort.hpp>

namespace ns3::training
{

void
QueuedEvent::Sort(std::vector<QueuedEvent>& events)
{
    boost::sort::pdqsort_branchless(
        events.begin(),
        events.end(),
        [](const QueuedEvent& a, const QueuedEvent& b) { return LaterEvent()(b, a); });
}

} // namespace ns3::training
