/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-application.h"

#include "gradient-values.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/callback.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingApplication");

NS_OBJECT_ENSURE_REGISTERED(TrainingApplication);

TypeId
TrainingApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TrainingApplication")
            .SetParent<Application>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<TrainingApplication>()
            .AddAttribute("Iterations",
                          "Iterations to run.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TrainingApplication::m_iterations),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Overlap",
                          "Whether the all-reduce of a bucket is issued as soon as its last "
                          "gradient is ready, rather than after the backward pass.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TrainingApplication::m_overlap),
                          MakeBooleanChecker())
            .AddAttribute("RealPayload",
                          "Whether gradients are real float32 numbers rather than sizes.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TrainingApplication::m_realPayload),
                          MakeBooleanChecker())
            .AddAttribute("Seed",
                          "Seed of the gradients of a real payload, the same at all ranks.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TrainingApplication::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddTraceSource("IterationStart",
                            "An iteration begins.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationStartTrace),
                            "ns3::training::TrainingApplication::IterationStartTracedCallback")
            .AddTraceSource("ComputePhase",
                            "A forward pass, backward pass or update is over.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_computePhaseTrace),
                            "ns3::training::TrainingApplication::ComputePhaseTracedCallback")
            .AddTraceSource("BucketReady",
                            "The all-reduce of a bucket is issued.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_bucketReadyTrace),
                            "ns3::training::TrainingApplication::BucketReadyTracedCallback")
            .AddTraceSource("BucketDone",
                            "The all-reduce of a bucket is complete at this rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_bucketDoneTrace),
                            "ns3::training::TrainingApplication::BucketDoneTracedCallback")
            .AddTraceSource("IterationEnd",
                            "The update of an iteration is applied at this rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationEndTrace),
                            "ns3::training::TrainingApplication::IterationEndTracedCallback");
    return tid;
}

TrainingApplication::TrainingApplication()
{
    NS_LOG_FUNCTION(this);
}

TrainingApplication::~TrainingApplication()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_running = false;
    m_communicator = nullptr;
    m_tensors.clear();
    Application::DoDispose();
}

void
TrainingApplication::SetTask(Ptr<Communicator> communicator,
                             const Workload& workload,
                             const std::vector<GradientBucket>& buckets)
{
    NS_LOG_FUNCTION(this << communicator << workload.name << buckets.size());
    m_communicator = communicator;
    m_forwardTime = workload.GetForwardTime();
    m_updateTime = workload.update;

    // Time from the start of the backward pass to the end of each layer's.
    std::vector<Time> readyAt(workload.layers.size());
    m_backwardTime = Time{0};
    for (std::size_t index = workload.layers.size(); index-- > 0;)
    {
        m_backwardTime += workload.layers[index].backward;
        readyAt[index] = m_backwardTime;
    }
    m_buckets.clear();
    for (const auto& bucket : buckets)
    {
        m_buckets.push_back({readyAt.at(bucket.readyLayer), bucket.bytes});
    }
}

uint32_t
TrainingApplication::GetRank() const
{
    return m_communicator->GetRank();
}

bool
TrainingApplication::IsComputing() const
{
    return !m_event.IsExpired();
}

bool
TrainingApplication::IsFinished() const
{
    return m_finished;
}

std::string
TrainingApplication::GetState() const
{
    if (m_finished)
    {
        return "finished";
    }
    if (!m_running)
    {
        return "not running";
    }
    const std::string iteration = "iteration " + std::to_string(m_iteration) + ": ";
    if (!m_event.IsExpired())
    {
        return iteration + "computes";
    }
    for (uint32_t bucket = 0; bucket < m_tensors.size(); ++bucket)
    {
        if (m_tensors[bucket])
        {
            return iteration + "waits for the all-reduce of bucket " + std::to_string(bucket) +
                   " of " + std::to_string(m_buckets.size()) + " (" +
                   std::to_string(m_buckets[bucket].bytes) + " B)";
        }
    }
    return iteration + "between two events";
}

void
TrainingApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_communicator, "TrainingApplication started without SetTask()");
    m_iteration = 0;
    m_finished = m_iterations == 0;
    m_running = !m_finished;
    if (m_running)
    {
        StartIteration();
    }
}

void
TrainingApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_event.Cancel();
    m_running = false;
}

void
TrainingApplication::StartIteration()
{
    NS_LOG_FUNCTION(this << m_iteration);
    m_iterationStart = Simulator::Now();
    m_phaseStart = m_iterationStart;
    m_backwardDone = false;
    m_issued = 0;
    m_completed = 0;
    m_busyTime = Time{0};
    m_tensors.assign(m_buckets.size(), nullptr);
    m_event = Simulator::Schedule(m_forwardTime, &TrainingApplication::EndForward, this);
    m_iterationStartTrace(GetRank(), m_iteration);
}

void
TrainingApplication::EndForward()
{
    NS_LOG_FUNCTION(this);
    const Time now = Simulator::Now();
    m_computePhaseTrace(GetRank(), m_iteration, "forward", m_phaseStart, now);
    m_phaseStart = now;
    ContinueBackward();
}

void
TrainingApplication::ContinueBackward()
{
    const Time elapsed = Simulator::Now() - m_phaseStart;
    NS_LOG_FUNCTION(this << elapsed);
    if (m_overlap)
    {
        uint32_t ready = m_issued;
        while (ready < m_buckets.size() && m_buckets[ready].ready <= elapsed)
        {
            ++ready;
        }
        const Time next = ready < m_buckets.size() ? m_buckets[ready].ready : m_backwardTime;
        m_backwardDone = elapsed == m_backwardTime;
        if (!m_backwardDone)
        {
            m_event =
                Simulator::Schedule(next - elapsed, &TrainingApplication::ContinueBackward, this);
        }
    }
    else if (elapsed < m_backwardTime)
    {
        m_event = Simulator::Schedule(m_backwardTime - elapsed,
                                      &TrainingApplication::ContinueBackward,
                                      this);
    }
    else
    {
        m_backwardDone = true;
    }
    if (m_backwardDone)
    {
        m_computePhaseTrace(GetRank(),
                            m_iteration,
                            "backward",
                            m_phaseStart,
                            m_phaseStart + m_backwardTime);
    }
    m_issuing = true;
    while (m_issued < m_buckets.size() &&
           (m_backwardDone || (m_overlap && m_buckets[m_issued].ready <= elapsed)))
    {
        IssueBucket();
    }
    m_issuing = false;
    UpdateIfReady();
}

void
TrainingApplication::IssueBucket()
{
    const uint32_t bucket = m_issued++;
    NS_LOG_FUNCTION(this << bucket);
    auto tensor = Create<Tensor>();
    tensor->bytes = m_buckets[bucket].bytes;
    tensor->priority = static_cast<int32_t>(bucket); // the last is needed first, in the next pass
    if (m_realPayload)
    {
        tensor->values =
            MakeGradients(m_seed, GetRank(), m_iteration, bucket, m_buckets[bucket].bytes / 4);
    }
    m_tensors[bucket] = tensor;
    if (m_issued == m_completed + 1)
    {
        m_busyStart = Simulator::Now();
    }
    m_bucketReadyTrace(GetRank(), m_iteration, bucket);
    m_communicator->AllReduce(tensor,
                              MakeBoundCallback(&TrainingApplication::BucketDone, this, bucket));
}

void
TrainingApplication::BucketDone(TrainingApplication* self, uint32_t bucket)
{
    NS_LOG_FUNCTION(self << bucket);
    if (!self->m_running)
    {
        return; // stopped while the collective was under way
    }
    const Ptr<Tensor> sum = self->m_tensors.at(bucket);
    NS_ABORT_MSG_UNLESS(sum, "all-reduce of bucket " << bucket << " completed twice");
    self->m_tensors[bucket] = nullptr; // its memory may go as soon as all have seen it
    ++self->m_completed;
    if (self->m_completed == self->m_issued)
    {
        self->m_busyTime += Simulator::Now() - self->m_busyStart;
    }
    self->m_bucketDoneTrace(self->GetRank(), self->m_iteration, bucket, sum);
    if (!self->m_issuing) // else ContinueBackward() goes on to the update itself
    {
        self->UpdateIfReady();
    }
}

void
TrainingApplication::UpdateIfReady()
{
    NS_LOG_FUNCTION(this << m_backwardDone << m_completed);
    if (!m_backwardDone || m_completed < m_buckets.size())
    {
        return;
    }
    m_phaseStart = Simulator::Now();
    m_event = Simulator::Schedule(m_updateTime, &TrainingApplication::EndUpdate, this);
}

void
TrainingApplication::EndUpdate()
{
    const Time now = Simulator::Now();
    NS_LOG_FUNCTION(this << m_iteration);
    m_computePhaseTrace(GetRank(), m_iteration, "update", m_phaseStart, now);
    RankIteration record;
    record.start = m_iterationStart;
    record.end = now;
    record.computeTime = m_forwardTime + m_backwardTime + m_updateTime;
    record.communicationTime = m_busyTime;
    record.exposedTime = record.end - record.start - record.computeTime;
    m_iterationEndTrace(GetRank(), m_iteration, record);
    ++m_iteration;
    if (m_iteration < m_iterations)
    {
        StartIteration();
        return;
    }
    m_running = false;
    m_finished = true;
}

} // namespace ns3::training
