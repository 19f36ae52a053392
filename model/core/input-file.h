/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INPUT_FILE_H
#define DISTRIBUTED_TRAINING_INPUT_FILE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/// Maximum size of an input file that is read as a whole, bytes.
constexpr std::size_t MAX_INPUT_BYTES = std::size_t{256} << 20;

/// Maximum depth of nested elements of JSON and XML.
constexpr uint32_t MAX_NESTING = 64;

/**
 * @ingroup distributed-training
 * @param path a path
 * @return whether it is a named pipe: opening it waits for another program. The pipes of a shell,
 *         such as /dev/stdin, have no name
 */
bool IsNamedPipe(const std::string& path);

/**
 * @ingroup distributed-training
 * @param path a file
 * @return its content; none if it cannot be read
 * @throw ConfigurationError if it is longer than MAX_INPUT_BYTES, as a device may be, or a named
 *        pipe
 */
std::optional<std::string> ReadInputFile(const std::string& path);

/**
 * @ingroup distributed-training
 *
 * Refuses deeply nested JSON or XML, because parsers that call themselves would exhaust the stack.
 * Accepts malformed text, which the parser refuses.
 * @param text JSON or XML, whose first element begins with '<'
 * @param name the file, for the message
 * @throw ConfigurationError with the line if more than MAX_NESTING elements contain each other
 */
void CheckNesting(const std::string& text, const std::string& name);

/**
 * @ingroup distributed-training
 * @param text text from a file
 * @return a name of printable ASCII characters and limited length: others become '?'
 */
std::string MakePrintableName(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_INPUT_FILE_H
