/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JSON_ESCAPE_H
#define DISTRIBUTED_TRAINING_JSON_ESCAPE_H

#include <cstddef>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * Decodes an escape in a string of JSON (RFC 8259, section 7).
 * @param text of a file
 * @param at position of the backslash; then of what follows the escape, or of what is wrong
 * @param decoded receives the character, as UTF-8
 * @return null; or what is allowed at the position, for a message
 */
const char* TakeJsonEscape(const std::string& text, std::size_t& at, std::string& decoded);

/**
 * @ingroup distributed-training
 * @param text bytes
 * @param at position in the text
 * @return length of the well-formed UTF-8 sequence (RFC 3629) at that position; 0: malformed
 */
std::size_t GetUtf8Length(const std::string& text, std::size_t at);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JSON_ESCAPE_H
