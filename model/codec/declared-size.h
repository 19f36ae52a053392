/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DECLARED_SIZE_H
#define DISTRIBUTED_TRAINING_DECLARED_SIZE_H

#include "ns3/training-key-values.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * Size of codes as the user declares it, for payload without numbers: by a ratio, or by the shares
 * of classes. Integer arithmetic, so that it is the same on every machine.
 */
class DeclaredSize
{
  public:
    /// Sum of the shares, in millionths of a percent.
    static constexpr uint64_t ALL = 100000000;

    /** Nothing is declared. */
    DeclaredSize() = default;

    /**
     * @param keys checked keys, with `ratio` if the user has given it
     */
    explicit DeclaredSize(const KeyValues& keys);

    /**
     * @param shares of the classes, which add to ALL
     * @param bits of a number by class
     * @param group numbers that share a header
     * @param header bits of a group, also of the last one
     */
    DeclaredSize(const std::vector<uint64_t>& shares,
                 const std::vector<uint32_t>& bits,
                 uint32_t group,
                 uint32_t header);

    /** @return whether a size is declared */
    bool IsDeclared() const
    {
        return m_unit > 0;
    }

    /**
     * @param count of numbers
     * @return size of their code, bytes
     * @pre IsDeclared()
     */
    uint64_t GetBytes(uint64_t count) const;

    /**
     * @param least smallest ratio of the codec
     * @param most largest ratio of the codec
     * @return the key `ratio`
     */
    static Key MakeRatioKey(double least, double most);

    /**
     * @param classes number of classes
     * @param help one line
     * @return the key `shares`: percentages by class, such as 74.9/3.9/21.1/0.1
     */
    static Key MakeSharesKey(uint32_t classes, const std::string& help);

    /**
     * @param text percentages separated by slashes
     * @return the shares in millionths of a percent; none if a part is no percentage, or if they do
     *         not add to ALL
     */
    static std::optional<std::vector<uint64_t>> ParseShares(const std::string& text);

  private:
    uint64_t m_weight{0}; // bits of m_unit numbers
    uint64_t m_unit{0};   // 0: nothing is declared
    uint32_t m_group{1};  // numbers that share a header
    uint32_t m_header{0}; // bits
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DECLARED_SIZE_H
