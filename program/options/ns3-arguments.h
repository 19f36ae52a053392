/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NS3_ARGUMENTS_H
#define DISTRIBUTED_TRAINING_NS3_ARGUMENTS_H

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Arguments of every ns-3 program: global values, defaults of attributes, and `--Print...`. ns-3
 * ends the program at many values that it cannot parse, some of them long after they were set. Here
 * a child process tries each value first, and a ConfigurationError refuses it.
 */
class Ns3Arguments
{
  public:
    /** @param program name of the program */
    explicit Ns3Arguments(const std::string& program);

    /**
     * Refuses an attribute that the program sets itself.
     * @param attribute its full name, such as ns3::training::RdmaNic::Mtu
     * @param option name of the option that sets it, without dashes; may be empty
     */
    void Reserve(const std::string& attribute, const std::string& option);

    /**
     * Handles an argument of ns-3. Those that print end the program with exit status 0.
     * @param name the argument's name, without dashes
     * @param value its value
     * @param hasValue whether there was an equals sign
     * @param hasOption returns whether the program has an option of a name
     * @return whether it is an argument of ns-3
     * @throw ConfigurationError if its value is invalid
     */
    bool Parse(const std::string& name,
               const std::string& value,
               bool hasValue,
               const std::function<bool(const std::string&)>& hasOption);

    /**
     * Handles the values in NS_GLOBAL_VALUE and NS_ATTRIBUTE_DEFAULT (name=value;name=value) as if
     * they were arguments, so that they are checked and recorded.
     * @param hasOption as in Parse()
     * @throw ConfigurationError if one is invalid
     */
    void ParseEnvironment(const std::function<bool(const std::string&)>& hasOption);

    /** @return names and values of the global values and attributes that were set, as written */
    const std::vector<std::pair<std::string, std::string>>& GetGiven() const;

    /** @return the same with the last value of each, as a JSON object has each name once */
    std::vector<std::pair<std::string, std::string>> GetLast() const;

    /**
     * @return for each attribute that was set in this process, its name and value, and whether an
     *         object has taken it since
     */
    static std::vector<std::pair<std::string, bool>> ListUses();

  private:
    std::string m_program;         // name of the program
    std::set<std::string> m_fixed; // attributes set by the environment
    // attributes set by the program, and their options
    std::map<std::string, std::string> m_reserved;
    std::vector<std::pair<std::string, std::string>> m_given; // names and values, in order
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NS3_ARGUMENTS_H
