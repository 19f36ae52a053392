/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-helper.h"

#include "codec/integer-codec.h"
#include "in-network-system.h"
#include "nic-algorithm.h"

#include "ns3/bucket-codec.h"
#include "ns3/host-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/training-registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::training
{

namespace
{

/// Numbers of a bucket that shows the phases of a codec.
constexpr uint64_t SAMPLE = 1 << 16;
/// Longest time of a number, ns: 25 million numbers take less than the guard waits for progress.
constexpr double MAX_NANOSECONDS = 1000;

/// Longest time of a coding beside its numbers, and of the numbers of a collective, s.
constexpr double MAX_START = 1;
constexpr double MAX_CODING = 1e5;

/** @return codec of a bucket that exists in no simulation yet */
Ptr<BucketCodec>
MakeBucket(const std::string& text, const std::string& spec, const BucketRequest& request)
{
    try
    {
        return MakeBucketCodec(spec, request);
    }
    catch (const CodecError& error)
    {
        throw ConfigurationError("codec", text, std::string(" with ") + error.what());
    }
}

/** @return a key of the time of a number */
Key
MakeTimeKey(const std::string& name, const std::string& help)
{
    Key key = Key::Number(name, 0, 0, MAX_NANOSECONDS, help);
    key.initial = "auto";
    key.words = {"auto"};
    return key;
}

} // namespace

std::vector<Key>
CodecHelper::GetKeys()
{
    return {Key::Word("place",
                      "auto",
                      {"auto", "message", "bucket"},
                      "what is coded: each message at each hop, or a bucket at its ranks; auto: "
                      "messages if a number's code depends on that number alone"),
            Key::Word("on", "gpu", {"gpu", "cpu"}, "what codes, one message or bucket at a time"),
            Key::Of("start", Key::Type::TIME, "0ns", "time of each coding, beside its numbers"),
            MakeTimeKey("encode", "time to encode a number, ns; auto: as published, or 0"),
            MakeTimeKey("decode", "time to decode a number, ns; auto: as published, or 0"),
            Key::Of("overlap",
                    Key::Type::BOOLEAN,
                    "true",
                    "whether a GPU computes layers while it codes; otherwise coding delays them"),
            Key::Of("feedback",
                    Key::Type::BOOLEAN,
                    "false",
                    "buckets: whether what a code leaves out is added to the next gradient"),
            Key::Word("owner",
                      "plain",
                      {"plain", "coded"},
                      "messages: what a rank keeps of numbers that it sends: the plain ones, or, "
                      "so that all ranks end with equal sums, the coded ones")};
}

CodecHelper::CodecHelper(const ClusterOptions& options)
    : m_choice(ChooseCodec("codec", options.codec, GetKeys())),
      m_text(options.codec),
      m_ranks(static_cast<uint32_t>(options.ranks))
{
    if (!IsInstalled())
    {
        return;
    }
    if (options.nic != CodecChoice::NONE)
    {
        Refuse("with nic " + options.nic + " (allowed: one of both)");
    }
    m_seed = RngSeedManager::GetRun();
    m_isOnHosts = !IsInNetwork(options.algorithm) && !IsInNic(options.algorithm);
    if (m_choice.entry->make)
    {
        m_codec = MakeCodec(m_choice.spec);
    }
    const std::string& place = m_choice.values.GetText("place");
    m_codesBuckets = place == "auto"
                         ? m_choice.entry->makeBucket || !m_codec->GetTraits().elementwise
                         : place == "bucket";
    SetTime();
    if (!m_choice.values.GetBoolean("overlap") && GetDevice() != "gpu")
    {
        Refuse("(allowed: overlap=true, as layers run on the GPU)");
    }
    m_codesBuckets ? CheckBuckets(options) : CheckMessages(options);
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        m_units.push_back(Create<CodingUnit>(m_time));
    }
}

void
CodecHelper::Refuse(const std::string& reason) const
{
    throw ConfigurationError("codec", m_text, " " + reason);
}

void
CodecHelper::SetTime()
{
    const KeyValues& values = m_choice.values;
    const CodecCost& cost = m_choice.entry->cost;
    const auto& published = GetDevice() == "gpu" ? cost.gpu : cost.cpu;
    m_isTimed = published.has_value();
    m_time.start = values.GetTime("start");
    if (m_time.start.GetSeconds() > MAX_START)
    {
        Refuse("(allowed: start=0s to 1s)");
    }
    m_time.encode = published ? published->encode : 0;
    m_time.decode = published ? published->decode : 0;
    for (const auto& [key, time] :
         {std::make_pair("encode", &m_time.encode), std::make_pair("decode", &m_time.decode)})
    {
        if (values.GetText(key) != "auto")
        {
            *time = values.GetNumber(key);
            m_isTimed = true;
        }
    }
}

void
CodecHelper::CheckMessages(const ClusterOptions& options) const
{
    if (!m_codec)
    {
        Refuse("(allowed: place=bucket, as this codec changes the collective)");
    }
    if (!m_isOnHosts)
    {
        Refuse("for messages with collective " + options.algorithm +
               " (allowed: collectives of hosts, or place=bucket)");
    }
    if (m_choice.values.GetBoolean("feedback"))
    {
        Refuse("for messages (allowed: feedback=false, or place=bucket, as errors belong to the "
               "gradients of a rank)");
    }
    if (m_choice.values.GetText("owner") == "coded" && !CanCodeOwner())
    {
        Refuse("(allowed: owner=plain, as coding a sum again would change it)");
    }
    const auto& models = Registry<HostModelEntry>::All();
    const auto model = models.find(KeyValues::Split(options.hostModel).GetName());
    if (model != models.end() && model->second.addsFlags)
    {
        Refuse("with host model " + options.hostModel +
               " (allowed: host models without flags between the numbers, or place=bucket)");
    }
}

void
CodecHelper::CheckBuckets(const ClusterOptions& options) const
{
    if (m_choice.values.GetText("owner") == "coded")
    {
        Refuse("for buckets (allowed: owner=plain, as all ranks decode the same codes)");
    }
    if (KeyValues::Split(options.algorithm).GetName() == "switch-ps")
    {
        Refuse("with collective switch-ps (allowed: collectives that return sums, not weights)");
    }
    MakeBucketCodec(m_choice.spec, {m_ranks, 0, SAMPLE}); // it may refuse the number of ranks
}

bool
CodecHelper::CanCodeOwner() const
{
    return !m_codesBuckets && m_codec->GetTraits().elementwise && !m_codec->GetTraits().random;
}

bool
CodecHelper::IsInstalled() const
{
    return m_choice.entry != nullptr;
}

bool
CodecHelper::CodesBuckets() const
{
    return m_codesBuckets;
}

void
CodecHelper::Check(bool isReal, const std::vector<CollectiveOperation>& operations) const
{
    if (!IsInstalled())
    {
        return;
    }
    bool isKnown = true;
    if (m_codesBuckets)
    {
        for (const auto& phase : MakeBucketCodec(m_choice.spec, {m_ranks, 0, SAMPLE})->GetPhases())
        {
            isKnown &= phase.exchange != BucketExchange::GATHER || phase.count > 0;
        }
    }
    else
    {
        isKnown = m_codec->HasCodedBytes();
    }
    if (!isReal && !isKnown)
    {
        Refuse("with payload virtual (allowed: payload real, or a declared size of codes, see the "
               "keys of " +
               KeyValues::Split(m_choice.spec).GetName() + ")");
    }
    if (isReal && m_codec && m_codec->HasCodedBytes() && !m_codec->GetTraits().fixedSize)
    {
        Refuse("with payload real (allowed: without a declared size, as the codes have one)");
    }
    for (const CollectiveOperation operation : operations)
    {
        const bool isCoded = m_codesBuckets ? operation == CollectiveOperation::ALL_REDUCE
                                            : MessageCoder::Codes(operation);
        if (!isCoded && operation != CollectiveOperation::BARRIER)
        {
            Refuse("with " + GetName(operation) + " (allowed: " +
                   (m_codesBuckets ? "all-reduce" : "all-reduce, reduce-scatter, reduce") +
                   ", which sum gradients)");
        }
    }
}

void
CodecHelper::InstallIn(ScheduledCommunicator& communicator, uint32_t rank) const
{
    if (IsInstalled() && !m_codesBuckets)
    {
        communicator.SetCoder(Create<const MessageCoder>(m_codec, m_units[rank], m_seed));
        communicator.SetCoding(GetCoding());
    }
}

std::vector<Ptr<CodedCommunicator>>
CodecHelper::Wrap(const std::vector<Ptr<Communicator>>& inner)
{
    StringValue type; // of the numbers that switches add
    if (inner[0]->GetAttributeFailSafe("DataType", type) && type.Get() == "int32")
    {
        m_exactBits = IntegerCodec::MAX_BITS;
    }
    std::vector<Ptr<CodedCommunicator>> wrapped;
    for (std::size_t rank = 0; rank < inner.size() && m_codesBuckets; rank++)
    {
        CodedCommunicator::Settings settings = GetSettings();
        settings.unit = m_units[rank];
        wrapped.push_back(CreateObject<CodedCommunicator>());
        wrapped.back()->Setup(inner[rank], settings);
    }
    return wrapped;
}

CodedCommunicator::Settings
CodecHelper::GetSettings() const
{
    CodedCommunicator::Settings settings;
    settings.codec = m_choice.spec;
    settings.keepsErrors = m_choice.values.GetBoolean("feedback");
    settings.sendsIntegers = m_isOnHosts;
    settings.exactBits = m_exactBits;
    settings.hasFixedSizes =
        m_codec && m_codec->GetTraits().fixedSize && !m_choice.entry->makeBucket;
    settings.seed = m_seed;
    return settings;
}

MessageCoding
CodecHelper::GetCoding(uint32_t iteration, uint32_t bucket) const
{
    MessageCoding coding;
    if (IsInstalled() && !m_codesBuckets)
    {
        coding.codesOwner = m_choice.values.GetText("owner") == "coded";
        coding.roundTrip =
            [codec = m_codec, seed = m_seed, iteration, bucket](std::vector<uint8_t>& message,
                                                                const MessagePlace& place) {
                MessageCoder::RoundTrip(*codec,
                                        MessageCoder::GetKey(seed, iteration, bucket, place),
                                        message);
            };
    }
    return coding;
}

double
CodecHelper::GetLeastShare() const
{
    double least = 1e-6; // zeros may have no code at all
    if (!m_codec->HasCodedBytes())
    {
        const std::vector<float> zeros(SAMPLE);
        std::vector<uint8_t> code;
        m_codec->Encode(zeros.data(), zeros.size(), CodecKey(), code);
        return std::max(least, static_cast<double>(code.size()) / (FLOAT_BYTES * SAMPLE));
    }
    // Short messages may have shorter codes, as counts of what is sent are rounded down.
    double share = 1e9;
    for (uint64_t count = 1; count <= SAMPLE << 8; count += count < 4096 ? 1 : count)
    {
        share = std::min(share,
                         static_cast<double>(m_codec->GetCodedBytes(count)) /
                             static_cast<double>(FLOAT_BYTES * count));
    }
    return std::max(least, share);
}

double
CodecHelper::GetLowerBound(const LowerBound& bound,
                           CollectiveOperation operation,
                           uint64_t bytes,
                           const ByteMatrix& matrix) const
{
    if (!IsInstalled() || bytes == 0)
    {
        return bound.GetSeconds(operation, bytes, matrix);
    }
    const double coding = (m_time.encode + m_time.decode) * 1e-9 * static_cast<double>(bytes) /
                          static_cast<double>(FLOAT_BYTES);
    if (coding > MAX_CODING)
    {
        Refuse("with " + std::to_string(bytes) + " bytes: coding takes " + FormatDouble(coding) +
               " s (allowed: up to " + FormatDouble(MAX_CODING) + " s)");
    }
    if (!m_codesBuckets)
    {
        const double coded = static_cast<double>(bytes) * GetLeastShare();
        return bound.GetSeconds(operation, std::max<uint64_t>(static_cast<uint64_t>(coded), 1));
    }
    double seconds = 0;
    for (const auto& phase :
         MakeBucket(m_text, m_choice.spec, {m_ranks, 0, bytes / FLOAT_BYTES})->GetPhases())
    {
        switch (phase.exchange)
        {
        case BucketExchange::SUM:
            seconds += bound.GetSeconds(CollectiveOperation::ALL_REDUCE,
                                        CodedCommunicator::GetSumBytes(phase, GetSettings()));
            break;
        case BucketExchange::MAX:
            seconds += bound.GetSeconds(CollectiveOperation::ALL_GATHER,
                                        m_ranks * phase.count * FLOAT_BYTES);
            break;
        case BucketExchange::GATHER:
            // The sizes are numbers of known size, codes may be shorter than on average.
            seconds +=
                bound.GetSeconds(CollectiveOperation::ALL_GATHER,
                                 m_codec && m_codec->HasCodedBytes() ? m_ranks * phase.count
                                                                     : m_ranks * FLOAT_BYTES);
            break;
        }
    }
    return seconds;
}

std::string
CodecHelper::Describe() const
{
    const auto format = [](double nanoseconds) {
        return FormatDouble(std::round(nanoseconds * 1e3) / 1e3);
    };
    const std::string time =
        "a number takes " + format(m_time.encode) + " ns to encode and " + format(m_time.decode) +
        " ns to decode" +
        (m_time.start.IsZero() ? "" : ", and each coding " + FormatTime(m_time.start) + " more");
    return "hosts code " + std::string(m_codesBuckets ? "buckets" : "messages") + ": " +
           m_choice.spec + ", on the " + GetDevice() + "; " +
           (m_isTimed ? time : "its time there is not published, so it takes none");
}

const GradientCodec*
CodecHelper::GetBoundedCodec() const
{
    const bool changesNumbers =
        m_codesBuckets && (m_choice.entry->makeBucket || m_choice.values.GetBoolean("feedback"));
    return changesNumbers ? nullptr : PeekPointer(m_codec);
}

bool
CodecHelper::IsDeclared(bool isReal) const
{
    const bool sendsCodes =
        !m_codesBuckets ||
        MakeBucketCodec(m_choice.spec, {m_ranks, 0, SAMPLE})->GetPhases().back().exchange ==
            BucketExchange::GATHER;
    return !isReal && sendsCodes && !(m_codec && m_codec->GetTraits().fixedSize);
}

const std::string&
CodecHelper::GetSpec() const
{
    return m_choice.spec;
}

std::string
CodecHelper::GetDevice() const
{
    return m_choice.values.GetText("on");
}

bool
CodecHelper::DelaysLayers() const
{
    return IsInstalled() && !m_choice.values.GetBoolean("overlap");
}

const std::vector<Ptr<CodingUnit>>&
CodecHelper::GetUnits() const
{
    return m_units;
}

} // namespace ns3::training
