/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H
#define DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Adds the nearest allowed word to a refusal, whoever refuses: an option, a key of an alternative,
 * a registry, or a file.
 * @param text a refusal that ends with `(allowed: WORD, WORD, ...)`, or `(allowed with this: ...)`,
 *        after the refused word, which is in quotes or follows `=`; or any other text
 * @return the refusal with `; did you mean WORD?` before the parenthesis, if one is near; otherwise
 *         the text
 */
std::string SuggestValue(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H
