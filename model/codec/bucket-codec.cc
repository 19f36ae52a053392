/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "bucket-codec.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

void
BucketCodec::SetPart(std::vector<float> numbers)
{
    m_part = {std::move(numbers), {}};
}

void
BucketCodec::SetPart(std::vector<uint8_t> code)
{
    m_part = {{}, std::move(code)};
}

GatheringBucket::GatheringBucket(Ptr<const GradientCodec> codec, const BucketRequest& request)
    : m_codec(codec),
      m_request(request)
{
}

std::vector<BucketPhase>
GatheringBucket::GetPhases() const
{
    return {{BucketExchange::GATHER,
             m_codec->HasCodedBytes() ? m_codec->GetCodedBytes(m_request.count) : 0,
             8,
             8}};
}

void
GatheringBucket::Start(const float* gradient, const CodecKey& key)
{
    m_key = key;
    std::vector<uint8_t> code;
    m_codec->Encode(gradient, m_request.count, key, code);
    SetPart(std::move(code));
}

void
GatheringBucket::Continue(const BucketResult& result)
{
    std::vector<float> values(m_request.count);
    m_sum.assign(m_request.count, 0);
    for (uint32_t rank = 0; rank < m_request.ranks; rank++)
    {
        const std::vector<uint8_t>& code = result.codes[rank];
        m_key.rank = rank;
        m_codec->Decode(code.data(), code.size(), m_key, values.data(), values.size());
        std::transform(values.begin(), values.end(), m_sum.begin(), m_sum.begin(), std::plus<>());
        if (rank == m_request.rank)
        {
            m_own = values;
        }
    }
}

Ptr<BucketCodec>
MakeBucketCodec(const std::string& spec, const BucketRequest& request)
{
    const Choice<CodecEntry> choice = Choose<CodecEntry>(spec);
    if (choice.entry->makeBucket)
    {
        return choice.entry->makeBucket(choice.values, request);
    }
    return Create<GatheringBucket>(choice.entry->make(choice.values), request);
}

namespace
{

/** @return what all ranks get from a phase */
BucketResult
Exchange(BucketExchange exchange, const std::vector<Ptr<BucketCodec>>& codecs)
{
    BucketResult result;
    for (const Ptr<BucketCodec>& codec : codecs)
    {
        const BucketPart& part = codec->GetPart();
        if (exchange == BucketExchange::GATHER)
        {
            result.codes.push_back(part.code);
        }
        else if (codec == codecs.front())
        {
            result.numbers = part.numbers;
        }
        else
        {
            for (std::size_t i = 0; i < part.numbers.size(); i++)
            {
                float& number = result.numbers[i];
                number = exchange == BucketExchange::SUM ? number + part.numbers[i]
                                                         : std::max(number, part.numbers[i]);
            }
        }
    }
    return result;
}

} // namespace

void
ExchangeBuckets(const std::vector<Ptr<BucketCodec>>& codecs,
                const std::vector<std::vector<float>>& gradients,
                CodecKey key,
                const BucketAdder& add)
{
    for (std::size_t rank = 0; rank < codecs.size(); rank++)
    {
        key.rank = static_cast<uint32_t>(rank);
        codecs[rank]->Start(gradients[rank].data(), key);
    }
    const std::vector<BucketPhase> phases = codecs.at(0)->GetPhases();
    for (const BucketPhase& phase : phases)
    {
        if (phase.exchange == BucketExchange::SUM && add)
        {
            std::vector<std::vector<float>> numbers;
            for (const Ptr<BucketCodec>& codec : codecs)
            {
                numbers.push_back(codec->GetPart().numbers);
            }
            const std::vector<std::vector<float>> sums = add(numbers, phase.bits < 32);
            for (std::size_t rank = 0; rank < codecs.size(); rank++)
            {
                codecs[rank]->Continue({sums[sums.size() == 1 ? 0 : rank], {}});
            }
            continue;
        }
        const BucketResult result = Exchange(phase.exchange, codecs);
        for (const Ptr<BucketCodec>& codec : codecs)
        {
            codec->Continue(result);
        }
    }
}

} // namespace ns3::training
