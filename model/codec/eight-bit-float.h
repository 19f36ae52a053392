/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EIGHT_BIT_FLOAT_H
#define DISTRIBUTED_TRAINING_EIGHT_BIT_FLOAT_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * The two floats of 8 bits of the Open Compute Project (OCP 8-bit Floating Point Specification
 * 1.0, 2023): sign, exponent, mantissa, with subnormal numbers.
 */
class EightBitFloat
{
  public:
    /** Bits of exponent and mantissa. */
    enum class Format
    {
        E4M3, ///< largest 448, no infinity, one NaN of each sign: 7f, ff
        E5M2  ///< largest 57344, infinities and NaN as IEEE 754
    };

    /**
     * @param format of the code
     * @param value a number
     * @return its code, rounded to nearest, ties to even. Magnitudes above the largest become the
     *         largest (saturating conversion); infinities those of E5M2, NaN in E4M3
     */
    static uint8_t Encode(Format format, float value);

    /**
     * @param format of the code
     * @param code any code
     * @return its number
     */
    static float Decode(Format format, uint8_t code);

    /**
     * @param format of the code
     * @return the largest finite number
     */
    static float GetLargest(Format format);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EIGHT_BIT_FLOAT_H
