/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Numbers above a limit.
 */

#include "codec-blocks.h"
#include "codec/declared-size.h"
#include "codec/sparse-code.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/** All magnitudes of a threshold and more. */
class ThresholdCodec final : public GradientCodec
{
  public:
    ThresholdCodec(double threshold, const DeclaredSize& declared)
        : m_threshold(threshold),
          m_declared(declared)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.elementwise = true;
        return traits;
    }

    bool HasCodedBytes() const override
    {
        return m_declared.IsDeclared();
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return m_declared.GetBytes(count);
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        SparseCode::CheckCount(count);
        CheckFinite(values, count);
        std::vector<uint32_t> kept;
        for (uint64_t i = 0; i < count; i++)
        {
            if (std::abs(values[i]) >= m_threshold)
            {
                kept.push_back(static_cast<uint32_t>(i));
            }
        }
        SparseCode::Write(values, count, kept, SparseCode::Indices::WORDS, code);
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        SparseCode::Read("threshold",
                         code,
                         bytes,
                         SparseCode::Indices::WORDS,
                         bytes / 8,
                         values,
                         count);
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        return codings * m_threshold + GetFloatSumError(largest, addends);
    }

    std::vector<CodecClass> CountClasses(const float* values, uint64_t count) const override
    {
        const auto kept =
            static_cast<uint64_t>(std::count_if(values, values + count, [&](float value) {
                return std::abs(value) >= m_threshold;
            }));
        return {{"below the threshold", 0, count - kept}, {"sent", 64, kept}};
    }

  private:
    double m_threshold;
    DeclaredSize m_declared; // for virtual payload
};

Ptr<GradientCodec>
MakeThreshold(const KeyValues& keys)
{
    return Create<ThresholdCodec>(keys.GetNumber("limit"), DeclaredSize(keys));
}

const Registry<CodecEntry>::Entry g_threshold(
    "threshold",
    {"magnitudes from a limit on, and their indices",
     {Key::Number("limit", 0.001, 1e-30, 1e30, "least magnitude that is sent"),
      DeclaredSize::MakeRatioKey(0.5, 1e6)},
     &MakeThreshold});

} // namespace

} // namespace ns3::training
