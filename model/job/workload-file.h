/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_FILE_H
#define DISTRIBUTED_TRAINING_WORKLOAD_FILE_H

#include "layered-model.h"

#include <istream>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Reads a model from comma-separated text, one line per layer in forward order:
 *
 * @verbatim
 * # comment lines and blank lines are skipped
 * layer,parameters,forward_us,backward_us
 * conv1,9408,251.8,503.5
 * @endverbatim
 *
 * | column      | meaning                                                                  |
 * |-------------|--------------------------------------------------------------------------|
 * | layer       | name, any text without a comma                                           |
 * | parameters  | trained numbers, whole, from 0; gradients are 4 bytes each               |
 * | forward_us  | time of the layer's forward pass in one iteration at one rank, us, from 0 |
 * | backward_us | the same of its backward pass                                            |
 *
 * The header line is required. Blanks around a field, carriage returns at line ends and a UTF-8
 * byte order mark are skipped; blank and comment lines may appear anywhere. The file does not
 * contain the update time (ScaleModel() adds it).
 *
 * @param path the file
 * @return the model, with update time 0
 * @throw ConfigurationError "file:line: error, and allowed values" at the first malformed line
 */
LayeredModel ReadWorkloadFile(const std::string& path);

/**
 * @ingroup distributed-training-job
 * @param input the text
 * @param name name of the text for messages, and of the model
 * @return the model, like ReadWorkloadFile()
 * @throw ConfigurationError like ReadWorkloadFile()
 */
LayeredModel ReadWorkload(std::istream& input, const std::string& name);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_FILE_H
