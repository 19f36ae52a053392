/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job.h"

#include "gradient-values.h"

#include "ns3/byte-archive.h"
#include "ns3/callback.h"
#include "ns3/log.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingJob");

TrainingJob::TrainingJob(uint32_t ranks,
                         uint32_t iterations,
                         uint32_t warmup,
                         const std::vector<GradientBucket>& buckets)
    : m_ranks(ranks),
      m_iterations(iterations),
      m_warmup(warmup)
{
    NS_LOG_FUNCTION(this << ranks << iterations << warmup << buckets.size());
    for (const auto& bucket : buckets)
    {
        m_bucketBytes.push_back(bucket.bytes);
        m_gradientBytes += bucket.bytes;
    }
}

TrainingJob::~TrainingJob()
{
    NS_LOG_FUNCTION(this);
    for (const auto& application : m_applications)
    {
        application->TraceDisconnectWithoutContext("BucketDone",
                                                   MakeCallback(&TrainingJob::BucketDone, this));
        application->TraceDisconnectWithoutContext(
            "IterationEnd",
            MakeCallback(&TrainingJob::IterationEnded, this));
    }
}

void
TrainingJob::Observe(Ptr<TrainingApplication> application)
{
    NS_LOG_FUNCTION(this << application);
    m_applications.push_back(application);
    application->TraceConnectWithoutContext("BucketDone",
                                            MakeCallback(&TrainingJob::BucketDone, this));
    application->TraceConnectWithoutContext("IterationEnd",
                                            MakeCallback(&TrainingJob::IterationEnded, this));
}

void
TrainingJob::SetLowerBound(const LowerBound& bound)
{
    NS_LOG_FUNCTION(this);
    m_lowerBoundS = 0;
    for (const auto bytes : m_bucketBytes)
    {
        m_lowerBoundS += bound(bytes);
    }
}

void
TrainingJob::SetReference(uint64_t seed, Reference reference)
{
    NS_LOG_FUNCTION(this << seed);
    m_seed = seed;
    m_reference = std::move(reference);
}

void
TrainingJob::SetAlternative(Reference alternative)
{
    m_alternative = std::move(alternative);
}

void
TrainingJob::OnIterationComplete(IterationComplete callback)
{
    NS_LOG_FUNCTION(this);
    m_iterationComplete = std::move(callback);
}

void
TrainingJob::OnRanksFinished(std::function<void()> callback)
{
    NS_LOG_FUNCTION(this);
    m_ranksFinished = std::move(callback);
}

std::string
TrainingJob::Pack()
{
    ByteWriter writer;
    writer(m_mismatch, m_unpacked.size());
    for (const auto& [iteration, pending] : m_unpacked)
    {
        writer(iteration, pending.ranksEnded, pending.sumsVerified, pending.start, pending.end);
        writer(pending.computeTime, pending.communicationTime);
    }
    m_unpacked.clear();
    return writer.GetText();
}

void
TrainingJob::Merge(const std::string& packed)
{
    NS_LOG_FUNCTION(this << packed.size());
    ByteReader reader(packed.data(), packed.size());
    const auto mismatch = reader.Next<std::string>();
    if (m_mismatch.empty())
    {
        m_mismatch = mismatch;
    }
    for (auto left = reader.Next<std::size_t>(); left > 0; --left)
    {
        const auto iteration = reader.Next<uint32_t>();
        Pending report;
        reader(report.ranksEnded, report.sumsVerified, report.start, report.end);
        reader(report.computeTime, report.communicationTime);
        Report(iteration, report);
    }
}

bool
TrainingJob::IsFinished() const
{
    return m_results.size() == m_iterations;
}

const std::vector<IterationResult>&
TrainingJob::GetResults() const
{
    return m_results;
}

std::string
TrainingJob::Mismatch() const
{
    return m_mismatch;
}

uint64_t
TrainingJob::GetGradientBytes() const
{
    return m_gradientBytes;
}

IterationResult
TrainingJob::GetMean() const
{
    IterationResult mean;
    mean.verified = true;
    for (const auto& result : m_results)
    {
        if (result.warmup)
        {
            continue;
        }
        if (mean.iteration == 0)
        {
            mean.startS = result.startS;
        }
        mean.endS = result.endS;
        ++mean.iteration;
        mean.iterationTimeS += result.iterationTimeS;
        mean.computeTimeS += result.computeTimeS;
        mean.communicationTimeS += result.communicationTimeS;
        mean.exposedCommunicationS += result.exposedCommunicationS;
        mean.lowerBoundS += result.lowerBoundS;
        mean.verified = mean.verified && result.verified;
    }
    if (mean.iteration == 0)
    {
        mean.scalingEfficiency = 0;
        mean.verified = false;
        return mean;
    }
    mean.iterationTimeS /= mean.iteration;
    mean.computeTimeS /= mean.iteration;
    mean.communicationTimeS /= mean.iteration;
    mean.exposedCommunicationS /= mean.iteration;
    mean.lowerBoundS /= mean.iteration;
    SetRatios(mean);
    return mean;
}

void
TrainingJob::SetRatios(IterationResult& result) const
{
    if (result.communicationTimeS > 0)
    {
        result.busbwGBps = static_cast<double>(m_gradientBytes) * 2 * (m_ranks - 1) / m_ranks /
                           result.communicationTimeS / 1e9;
    }
    if (result.iterationTimeS > 0)
    {
        result.scalingEfficiency = result.computeTimeS / result.iterationTimeS;
    }
}

void
TrainingJob::BucketDone(uint32_t rank, uint32_t iteration, uint32_t bucket, Ptr<const Tensor> sum)
{
    NS_LOG_FUNCTION(this << rank << iteration << bucket);
    if (!m_reference)
    {
        return;
    }
    const auto [entry, isFirst] = m_expected.try_emplace({iteration, bucket});
    auto& expected = entry->second;
    if (isFirst)
    {
        std::vector<std::vector<float>> inputs;
        for (uint32_t input = 0; input < m_ranks; ++input)
        {
            inputs.push_back(
                MakeGradients(m_seed, input, iteration, bucket, m_bucketBytes[bucket] / 4));
        }
        expected.values = m_reference(inputs, sum->values);
        const auto other =
            m_alternative ? m_alternative(inputs, sum->values) : decltype(expected.values)();
        if (!other.empty() && other[other.size() == 1 ? 0 : rank] == sum->values)
        {
            expected.values = other;
        }
    }
    const std::size_t which = expected.values.size() == 1 ? 0 : rank;
    if (Compare(rank, iteration, bucket, expected.values[which], *sum))
    {
        Pending report;
        report.sumsVerified = 1;
        Note(iteration, report);
    }
    if (++expected.reports == m_applications.size())
    {
        m_expected.erase(entry);
    }
}

bool
TrainingJob::Compare(uint32_t rank,
                     uint32_t iteration,
                     uint32_t bucket,
                     const std::vector<float>& expected,
                     const Tensor& sum)
{
    const auto note = [&](const std::string& what) {
        if (m_mismatch.empty())
        {
            m_mismatch = "wrong sum at rank " + std::to_string(rank) + ", iteration " +
                         std::to_string(iteration) + ", bucket " + std::to_string(bucket) + ": " +
                         what;
        }
    };
    const auto& actual = sum.values;
    if (actual.size() != expected.size())
    {
        note(std::to_string(actual.size()) + " elements, expected " +
             std::to_string(expected.size()));
        return false;
    }
    // Bits, not values: 0 and -0 differ, and NaN equals itself.
    if (actual.empty() ||
        std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0)
    {
        return true;
    }
    std::size_t index = 0;
    while (std::memcmp(&actual[index], &expected[index], sizeof(float)) == 0)
    {
        ++index;
    }
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<float>::max_digits10) << "element " << index
         << " of " << actual.size() << " is " << actual[index] << ", expected " << expected[index];
    note(text.str());
    return false;
}

void
TrainingJob::IterationEnded(uint32_t rank, uint32_t iteration, const RankIteration& record)
{
    NS_LOG_FUNCTION(this << rank << iteration);
    Pending report;
    report.ranksEnded = 1;
    report.start = record.start;
    report.end = record.end;
    report.computeTime = record.computeTime;
    report.communicationTime = record.communicationTime;
    Note(iteration, report);
    if (iteration + 1 == m_iterations && ++m_finished == m_applications.size() && m_ranksFinished)
    {
        m_ranksFinished();
    }
}

void
TrainingJob::Pending::Add(const Pending& other)
{
    ranksEnded += other.ranksEnded;
    sumsVerified += other.sumsVerified;
    start = std::min(start, other.start);
    end = std::max(end, other.end);
    computeTime = std::max(computeTime, other.computeTime);
    communicationTime += other.communicationTime;
}

void
TrainingJob::Note(uint32_t iteration, const Pending& report)
{
    m_unpacked[iteration].Add(report);
    Report(iteration, report);
}

void
TrainingJob::Report(uint32_t iteration, const Pending& report)
{
    auto& pending = m_pending[iteration];
    pending.Add(report);
    if (pending.ranksEnded == m_ranks)
    {
        const Pending complete = pending;
        m_pending.erase(iteration);
        Complete(iteration, complete);
    }
}

void
TrainingJob::Complete(uint32_t iteration, const Pending& pending)
{
    NS_LOG_FUNCTION(this << iteration);
    if (m_results.empty())
    {
        m_previousEnd = pending.start; // of the job
    }
    const Time iterationTime = pending.end - m_previousEnd;
    IterationResult result;
    result.iteration = iteration;
    result.warmup = iteration < m_warmup;
    result.startS = m_previousEnd.GetSeconds();
    result.endS = pending.end.GetSeconds();
    result.iterationTimeS = iterationTime.GetSeconds();
    result.computeTimeS = pending.computeTime.GetSeconds();
    result.communicationTimeS = pending.communicationTime.GetSeconds() / m_ranks;
    result.exposedCommunicationS = (iterationTime - pending.computeTime).GetSeconds();
    result.lowerBoundS = m_lowerBoundS;
    SetRatios(result);
    result.verified = m_reference &&
                      pending.sumsVerified == static_cast<uint64_t>(m_ranks) * m_bucketBytes.size();
    m_previousEnd = pending.end;
    m_results.push_back(result);
    if (m_iterationComplete)
    {
        m_iterationComplete(result);
    }
}

} // namespace ns3::training
