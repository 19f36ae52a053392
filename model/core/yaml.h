/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_YAML_H
#define DISTRIBUTED_TRAINING_YAML_H

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * A value of a YAML file, as serializers of data write them: mappings and lists in blocks or in
 * brackets, texts, comments. JSON is such YAML. Not read are anchors, tags, several documents,
 * keys that are no texts, and escapes that JSON does not know. Own code, as the module needs no
 * other part of YAML, and messages need the line of every value.
 */
struct YamlValue
{
    /** What it is. */
    enum class Kind
    {
        TEXT,
        LIST,
        MAPPING
    };

    Kind kind{Kind::TEXT};       ///< which of the members below has the value
    std::size_t line{1};         ///< where it begins
    std::string text;            ///< of a TEXT; without quotes
    std::vector<YamlValue> list; ///< of a LIST
    std::vector<std::pair<std::string, YamlValue>> members; ///< of a MAPPING, in their order

    /**
     * @param key of a member
     * @return the member; null if it is not there, or this is no mapping
     */
    const YamlValue* Find(const std::string& key) const;
};

/**
 * @ingroup distributed-training
 * @param path of the file, for messages
 * @param text its content
 * @return the document
 * @throw ConfigurationError with file:line if it is malformed, or of YAML that is not read
 */
YamlValue ParseYaml(const std::string& path, const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_YAML_H
