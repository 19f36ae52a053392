/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-loop-application.h"

#include "ns3/callback.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLayerLoopApplication");

NS_OBJECT_ENSURE_REGISTERED(LayerLoopApplication);

namespace
{

uint32_t
GetIndex(LayerPass pass)
{
    return static_cast<uint32_t>(pass);
}

} // namespace

TypeId
LayerLoopApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::LayerLoopApplication")
                            .SetParent<Application>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<LayerLoopApplication>()
                            .AddAttribute("Iterations",
                                          "Iterations to run.",
                                          UintegerValue(1),
                                          MakeUintegerAccessor(&LayerLoopApplication::m_iterations),
                                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

LayerLoopApplication::LayerLoopApplication()
{
    NS_LOG_FUNCTION(this);
}

LayerLoopApplication::~LayerLoopApplication()
{
    NS_LOG_FUNCTION(this);
}

void
LayerLoopApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    m_communicators.fill(nullptr);
    m_onFinished = nullptr;
    Application::DoDispose();
}

void
LayerLoopApplication::SetTask(const LayerLoop& loop,
                              const Communicators& communicators,
                              std::function<void()> finished)
{
    NS_LOG_FUNCTION(this << loop.name);
    m_loop = loop;
    m_steps = MakeIteration(loop);
    m_communicators = communicators;
    m_onFinished = std::move(finished);
}

Time
LayerLoopApplication::GetFinishTime() const
{
    return m_finish;
}

void
LayerLoopApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    m_running = true;
    Run();
}

void
LayerLoopApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_running = false;
    m_event.Cancel();
}

void
LayerLoopApplication::Run()
{
    for (; m_iteration < m_iterations; m_iteration++, m_next = 0)
    {
        for (; m_next < m_steps.size(); m_next++)
        {
            const LoopStep& step = m_steps[m_next];
            const Work work{step.layer, step.pass};
            if (step.kind == LoopStep::Kind::COMPUTE)
            {
                m_computing = true;
                m_event = Simulator::Schedule(
                    m_loop.layers[step.layer].works[GetIndex(step.pass)].compute,
                    &LayerLoopApplication::EndCompute,
                    this);
                return;
            }
            if (step.kind == LoopStep::Kind::START)
            {
                StartCollective(work);
            }
            else if (m_pending.count(work) > 0)
            {
                return; // EndUpdate() goes on
            }
        }
    }
    if (m_pending.empty())
    {
        m_running = false;
        m_finish = Simulator::Now();
        m_onFinished();
    }
}

void
LayerLoopApplication::EndCompute()
{
    m_computing = false;
    m_next++;
    Run();
}

void
LayerLoopApplication::StartCollective(const Work& work)
{
    NS_LOG_FUNCTION(this << m_iteration << work.first << GetIndex(work.second));
    const LayerWork& layerWork = m_loop.layers[work.first].works[GetIndex(work.second)];
    const Ptr<Communicator> communicator = m_communicators[GetIndex(work.second)];
    auto tensor = Create<Tensor>();
    tensor->bytes = layerWork.bytes;
    if (layerWork.operation == CollectiveOperation::ALL_GATHER)
    {
        tensor->bytes *= communicator->GetSize();
    }
    m_pending.insert(work);
    communicator->Start(layerWork.operation,
                        tensor,
                        0,
                        MakeBoundCallback(&LayerLoopApplication::CollectiveDone, this, work));
}

void
LayerLoopApplication::CollectiveDone(LayerLoopApplication* self, Work work)
{
    // Also if there is no update: a communicator may call this before Start() returns.
    Simulator::Schedule(self->m_loop.layers[work.first].update,
                        &LayerLoopApplication::EndUpdate,
                        self,
                        work);
}

void
LayerLoopApplication::EndUpdate(Work work)
{
    NS_LOG_FUNCTION(this << work.first << GetIndex(work.second));
    m_pending.erase(work);
    if (m_running && !m_computing)
    {
        Run();
    }
}

} // namespace ns3::training
