/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-codec.h"

#include "ns3/abort.h"

#include <cmath>
#include <limits>

namespace ns3::training
{

CodecKey
CodecKey::GetShared() const
{
    CodecKey key = *this;
    key.rank = std::numeric_limits<uint32_t>::max();
    return key;
}

CodecRandom::CodecRandom(const CodecKey& key, uint64_t stream)
    : m_base(MixBits(MixBits(MixBits(MixBits(key.seed) ^ key.rank) ^ key.iteration) ^ key.tensor) +
             MixBits(stream)),
      m_first(key.first)
{
}

bool
GradientCodec::Add(uint8_t*, const uint8_t*, uint64_t) const
{
    NS_ABORT_MSG("the codes of this codec cannot be summed");
    return false;
}

uint64_t
GradientCodec::RoundTrip(float* values, uint64_t count, const CodecKey& key) const
{
    std::vector<uint8_t> code;
    Encode(values, count, key, code);
    Decode(code.data(), code.size(), key, values, count);
    return code.size();
}

double
GetFloatSumError(double largest, uint32_t addends)
{
    const double n = addends;
    return addends == 0 ? 0 : n * largest * std::expm1((n - 1) * std::log1p(0x1p-24));
}

CodecCost
MakeGraceCost(double time, uint32_t decodings, const std::string& what)
{
    CodecCost cost;
    cost.source = "GPU: GRACE on V100s, 8 workers" + (what.empty() ? what : ", " + what) +
                  (time == 0 ? "; below its noise" : "");
    if (time > 0)
    {
        const double each = time / (1 + decodings);
        cost.gpu = CodecTime{each, each};
    }
    return cost;
}

double
GetMemoryTime(double ratio, double bandwidth)
{
    return 4 * (1 + 1 / ratio) / bandwidth * 1e9;
}

Ptr<GradientCodec>
MakeCodec(const std::string& spec)
{
    const Choice<CodecEntry> choice = Choose<CodecEntry>(spec);
    if (!choice.entry->make)
    {
        throw ConfigurationError("codec '" + spec +
                                 "' codes whole buckets, by an exchange of the ranks (allowed: "
                                 "codecs of numbers)");
    }
    return choice.entry->make(choice.values);
}

} // namespace ns3::training
