/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRANSFORMER_CONFIG_H
#define DISTRIBUTED_TRAINING_TRANSFORMER_CONFIG_H

#include <boost/property_tree/ptree.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * The keys of a model's file. Keys of `text_config` count before those beside it. In a name '/'
 * leads to a key of an object.
 */
class TransformerConfig
{
  public:
    using Json = boost::property_tree::ptree; ///< an object, a list or a value
    using Names =
        std::initializer_list<const char*>; ///< names of a key; the first in a file counts

    /// Largest number of layers, heads or experts.
    static constexpr uint64_t MAX_LAYERS = 1U << 16;
    /// Largest size of a matrix.
    static constexpr uint64_t MAX_SIZE = 1U << 24;

    /**
     * @param path of the file, for messages
     * @param object its content, which must stay
     */
    TransformerConfig(const std::string& path, const Json& object);

    /** @param defaults values of keys that a file leaves out: "KEY=VALUE KEY=VALUE" */
    void SetDefaults(const std::string& defaults);

    /**
     * @param names of a number
     * @param least smallest allowed number
     * @param most largest allowed number
     * @return the number, or none
     * @throw ConfigurationError if it is out of range
     */
    std::optional<uint64_t> Find(Names names, uint64_t least, uint64_t most) const;

    /** Like Find(). @return the number @throw ConfigurationError if it is missing */
    uint64_t Get(Names names, uint64_t least, uint64_t most) const;

    /** @param name of a word @return the word, or none */
    std::optional<std::string> FindWord(const std::string& name) const;

    /** @param name of a list @return its words; empty: there is none */
    std::vector<std::string> FindList(const std::string& name) const;

    /** @param name of a truth value @return it, or none, with the defaults */
    std::optional<bool> FindTruth(const std::string& name) const;

    /** @param name of a truth value @param initial its default, which is assumed @return it */
    bool Is(const std::string& name, bool initial) const;

    /** @throw ConfigurationError if the object has other keys */
    void CheckKeys(const std::vector<std::string>& keys) const;

    /** Tells the manifest which keys were used, ignored and assumed. */
    void Report() const;

  private:
    const Json* FindNode(const std::string& name) const;
    void ReportKeys(const Json& object, const std::string& prefix) const;

    std::string m_path;
    const Json& m_object;
    std::vector<std::string> m_roots; // prefixes of names, in the order of their look-up
    std::map<std::string, std::string> m_defaults;
    mutable std::set<std::string> m_used;    // keys, with their prefixes
    mutable std::set<std::string> m_assumed; // defaults of keys that are missing
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSFORMER_CONFIG_H
