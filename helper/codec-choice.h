/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_CHOICE_H
#define DISTRIBUTED_TRAINING_CODEC_CHOICE_H

#include "ns3/gradient-codec.h"
#include "ns3/training-key-values.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A codec together with keys of the place where it runs.
 */
struct CodecChoice
{
    /// Value of an option that chooses no codec.
    static constexpr const char* NONE = "none";

    const CodecEntry* entry{nullptr}; ///< of the codec; null: none
    std::string spec;                 ///< the codec with its own keys
    KeyValues values;                 ///< of all keys
};

/**
 * @ingroup distributed-training-helper
 * @param field of the configuration, for messages
 * @param text `none`, `NAME` or `NAME:key=value,...`
 * @param own keys of the place, beside those of the codec
 * @return the choice
 * @throw ConfigurationError if there is no such codec, or a value is not allowed
 */
CodecChoice ChooseCodec(const std::string& field,
                        const std::string& text,
                        const std::vector<Key>& own);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_CHOICE_H
