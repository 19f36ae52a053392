/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MACHINE_FILE_H
#define DISTRIBUTED_TRAINING_MACHINE_FILE_H

#include "program-options.h"

#include "ns3/training-json-writer.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * @param text NAME:key=value,... of a MachineEntry, or the path of a TOML file that ends with
 *        .toml. The file is one for ReadConfiguration(): `machine` names what it changes, all other
 *        keys are options that machines set
 * @return the defaults of a machine
 * @throw ConfigurationError if there is no such machine or file, with the place in the file
 */
std::vector<ProgramOptions::Value> ReadMachine(const std::string& text);

/**
 * @ingroup distributed-training-helper
 * @return all machines by name: `gpus` of a server, and `defaults` by option, in which {gpus}
 * stands for the GPUs of a server that take part
 */
JsonValue DescribeMachines();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MACHINE_FILE_H
