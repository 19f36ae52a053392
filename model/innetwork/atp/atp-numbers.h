/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_NUMBERS_H
#define DISTRIBUTED_TRAINING_ATP_NUMBERS_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The numbers of ATP's packets: float32 values multiplied by a factor and rounded to integers of 32
 * bits, or floats where they do not fit; or integers as they are.
 */
class AtpNumbers
{
  public:
    /**
     * @param isInteger whether values are integers
     * @param factor from float32 values to integers
     * @param largest value that is sent as an integer, in magnitude
     */
    void Configure(bool isInteger, double factor, double largest);

    /**
     * @param values of a packet
     * @param count how many
     * @return whether it has to carry floats
     */
    bool NeedFloats(const float* values, uint64_t count) const;

    /**
     * @param values of a packet
     * @param count how many
     * @param asFloats whether the packet carries floats
     * @param to receives the numbers
     */
    void Write(const float* values, uint64_t count, bool asFloats, uint8_t* to) const;

    /**
     * @param from numbers of a result
     * @param count how many
     * @param areFloats whether they are floats
     * @param workers addends of each
     * @param sums receives the values
     * @return error bound of the values
     */
    double Read(const uint8_t* from,
                uint64_t count,
                bool areFloats,
                uint32_t workers,
                float* sums) const;

    /**
     * Adds the values of a packet as ATP does.
     * @param inputs tensor of each rank
     * @param begin first value
     * @param end end of the range, exclusive
     * @param result the actual result, which decides where the order of arrival does; or empty
     * @param sums receives the sums, from `begin` on
     */
    void Add(const std::vector<std::vector<float>>& inputs,
             uint64_t begin,
             uint64_t end,
             const std::vector<float>& result,
             std::vector<float>& sums) const;

  private:
    bool m_isInteger{false};
    double m_scale{1};
    double m_largest{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_NUMBERS_H
