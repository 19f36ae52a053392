/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H
#define DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param word a misspelt word
 * @param candidates the existing words
 * @return the candidate with the smallest edit distance, or nothing if none is near
 */
std::string GetNearest(const std::string& word, const std::vector<std::string>& candidates);

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

/**
 * @ingroup distributed-training-helper
 * @param word a word that may replace a refused one; empty: there is none
 * @param prefix before the word: `--`, or `KEY=`
 * @return `; did you mean WORD?`, or nothing
 */
std::string FormatSuggestion(const std::string& word, const std::string& prefix = "");

/**
 * @ingroup distributed-training-helper
 * @param word a refused word
 * @param candidates the existing words
 * @param prefix before the candidate in the text
 * @return `; did you mean CANDIDATE?` with that of GetNearest(), or nothing if none is near
 */
std::string SuggestNearest(const std::string& word,
                           const std::vector<std::string>& candidates,
                           const std::string& prefix = "");

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_VALUE_SUGGESTION_H
