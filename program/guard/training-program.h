/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_H
#define DISTRIBUTED_TRAINING_PROGRAM_H

#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @addtogroup distributed-training-helper
 * Common parts of the example programs.
 * @{
 */

/**
 * Runs a program's body and maps its exceptions to exit statuses, each with one line on standard
 * error: 2 for a ConfigurationError, 3 for SimulationStuck, 1 for anything else, also if standard
 * output cannot be written. After SimulationInterrupted the signal ends the program. With several
 * processes (see Processes) only the first one writes to standard output and error.
 * @param name of the program
 * @param body returns the exit status: 0, or 4 for a wrong result
 * @return the exit status; 0 in all processes but the first
 */
int RunProgram(const std::string& name, const std::function<int()>& body);

/**
 * @param text any text
 * @return the text as one line for a terminal: control characters are replaced by '?', and the
 *         middle of very long words is left out
 */
std::string ToLine(const std::string& text);

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_H
