/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHAKRA_ORDER_H
#define DISTRIBUTED_TRAINING_CHAKRA_ORDER_H

#include "formats/chakra-trace.h"
#include "formats/task-sorter.h"
#include "formats/workload-format.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Lets nodes wait for each other, as far as the trace is whole.
 * @param nodes of a rank
 * @param values keys of the format: dependencies, missing-parent
 * @param lenient cycles are broken
 * @param path of the trace, for messages
 * @param sorter of the nodes' tasks, in their order
 * @param problems counts what is damaged
 * @throw ConfigurationError with the nodes, if two have a number, one waits for a missing one, or
 *        there is a cycle
 */
void OrderChakraNodes(const std::vector<ChakraNode>& nodes,
                      const KeyValues& values,
                      bool lenient,
                      const std::string& path,
                      TaskSorter& sorter,
                      FormatProblems& problems);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHAKRA_ORDER_H
