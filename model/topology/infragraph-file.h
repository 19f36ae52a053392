/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INFRAGRAPH_FILE_H
#define DISTRIBUTED_TRAINING_INFRAGRAPH_FILE_H

#include "core/yaml.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/** What a link of InfraGraph is said to be. */
struct InfraGraphLink
{
    std::optional<DataRate> rate; ///< none: not said
    std::optional<Time> delay;    ///< none: not said
    std::size_t line{1};          ///< of the file
};

/**
 * @ingroup distributed-training-helper
 * A file of InfraGraph, with the elements of its schema. Errors are ConfigurationError with
 * file:line.
 */
class InfraGraphFile
{
  public:
    /// Most components of all instances, and most edges.
    static constexpr std::size_t MAX_PARTS = 1 << 22;

    /**
     * @param path of the file
     * @throw ConfigurationError if it cannot be read, or is malformed
     */
    explicit InfraGraphFile(const std::string& path);

    /**
     * @param value that is wrong
     * @param text why, and what is allowed
     */
    [[noreturn]] void Refuse(const YamlValue& value, const std::string& text) const;

    /** @return the graph */
    const YamlValue& GetRoot() const;

    /**
     * @param value an object
     * @param key of a member
     * @return the member, which must be there
     */
    const YamlValue& Get(const YamlValue& value, const std::string& key) const;

    /**
     * @param value an object
     * @param key of a member
     * @return the text that the member must be
     */
    const std::string& GetText(const YamlValue& value, const std::string& key) const;

    /**
     * @param value an object
     * @param key of a member
     * @return the list that the member must be; empty if it is not there
     */
    const std::vector<YamlValue>& GetList(const YamlValue& value, const std::string& key) const;

    /**
     * @param value a component or an instance
     * @return its count
     */
    uint32_t GetCount(const YamlValue& value) const;

    /**
     * @param owner an object
     * @param list key of one of its lists
     * @param name of an element
     * @param user who names it, for messages
     * @return the element
     */
    const YamlValue& FindNamed(const YamlValue& owner,
                               const std::string& list,
                               const std::string& name,
                               const YamlValue& user) const;

    /**
     * @param name of a device
     * @param user who names it, for messages
     * @return the device
     */
    const YamlValue& FindDevice(const std::string& name, const YamlValue& user) const;

    /**
     * @param owner of links
     * @param edge that names one of them
     * @return the link
     */
    InfraGraphLink ReadLink(const YamlValue& owner, const YamlValue& edge) const;

    /**
     * @param element `name`, `name[1]`, `name[0:2]`, `name[::2]`
     * @param count how many there are
     * @param where for messages
     * @return indexes
     */
    std::vector<uint32_t> ParseSlice(const std::string& element,
                                     uint32_t count,
                                     const YamlValue& where) const;

    /**
     * @param device a device
     * @param endpoint components in it, such as `card[0:2].nic`
     * @param where for messages
     * @return their names within the device, such as .card.0.nic.0
     */
    std::vector<std::string> Expand(const YamlValue& device,
                                    const std::string& endpoint,
                                    const YamlValue& where) const;

  private:
    double GetQuantity(const YamlValue& physical,
                       const std::map<std::string, double>& units,
                       const std::string& key) const;
    void CheckKeys(const YamlValue& value, const std::set<std::string>& known) const;

    std::string m_path;
    YamlValue m_document;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_INFRAGRAPH_FILE_H
