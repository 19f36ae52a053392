/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * The largest numbers.
 */

#include "codec-blocks.h"
#include "codec/sparse-code.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3::training
{

namespace
{

/** The largest magnitudes; of equal ones those with the lower index. */
class TopKCodec final : public GradientCodec
{
  public:
    TopKCodec(double share, SparseCode::Indices indices)
        : m_share(share),
          m_indices(indices)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.fixedSize = true;
        traits.block = 0;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return SparseCode::GetBytes(SparseCode::GetKept(m_share, count), count, m_indices);
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        SparseCode::CheckCount(count);
        CheckFinite(values, count);
        std::vector<uint32_t> kept(count);
        std::iota(kept.begin(), kept.end(), 0);
        const auto end = kept.begin() + static_cast<int64_t>(SparseCode::GetKept(m_share, count));
        std::nth_element(kept.begin(), end, kept.end(), [&](uint32_t a, uint32_t b) {
            const float first = std::abs(values[a]);
            const float second = std::abs(values[b]);
            return first > second || (first == second && a < b);
        });
        kept.erase(end, kept.end());
        std::sort(kept.begin(), kept.end());
        SparseCode::Write(values, count, kept, m_indices, code);
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        const uint64_t kept = SparseCode::GetKept(m_share, count);
        SparseCode::Read("top-k", code, bytes, m_indices, kept, values, count);
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        return GetRelativeSumError(largest, codings, addends, 1); // a number may become 0
    }

  private:
    double m_share; // of the numbers that is kept
    SparseCode::Indices m_indices;
};

Ptr<GradientCodec>
MakeTopK(const KeyValues& keys)
{
    const std::string& indices = keys.GetText("indices");
    return Create<TopKCodec>(keys.GetNumber("keep"),
                             indices == "words"    ? SparseCode::Indices::WORDS
                             : indices == "packed" ? SparseCode::Indices::PACKED
                                                   : SparseCode::Indices::BITMAP);
}

const Registry<CodecEntry>::Entry g_topK(
    "top-k",
    {"the largest magnitudes and their indices; for error feedback",
     {SparseCode::MakeKeepKey(0.01),
      Key::Word("indices",
                "words",
                {"words", "packed", "bitmap"},
                "32 bits each, as few bits as possible, or a bit for every number")},
     &MakeTopK,
     MakeGraceCost(5.3, 8, "1 %")});

} // namespace

} // namespace ns3::training
