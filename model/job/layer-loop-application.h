/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_LOOP_APPLICATION_H
#define DISTRIBUTED_TRAINING_LAYER_LOOP_APPLICATION_H

#include "layer-loop.h"

#include "ns3/application.h"
#include "ns3/communicator.h"
#include "ns3/event-id.h"

#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * One rank of a LayerLoop: iterations one after the other, with virtual payload. It has finished
 * when in the last iteration the results of all collectives are in place. Ranks are held together
 * by their collectives alone.
 */
class LayerLoopApplication : public Application
{
  public:
    /// This rank's handle on the groups of each pass, by LayerPass; some may be the same.
    using Communicators = std::array<Ptr<Communicator>, LAYER_PASSES>;

    /** @return the type */
    static TypeId GetTypeId();

    LayerLoopApplication();
    ~LayerLoopApplication() override;

    /**
     * Says what to train and with whom; before the application starts.
     * @param loop the model
     * @param communicators of the passes that have collectives; others may be null
     * @param finished called when the rank has finished
     */
    void SetTask(const LayerLoop& loop,
                 const Communicators& communicators,
                 std::function<void()> finished);

    /** @return when the rank finished; 0 if it has not */
    Time GetFinishTime() const;

  protected:
    void DoDispose() override;

  private:
    /// A layer and a pass through it.
    using Work = std::pair<uint32_t, LayerPass>;

    void StartApplication() override;
    void StopApplication() override;
    void Run();
    void EndCompute();
    void StartCollective(const Work& work);
    static void CollectiveDone(LayerLoopApplication* self, Work work);
    void EndUpdate(Work work);

    uint32_t m_iterations; // attribute
    LayerLoop m_loop;
    std::vector<LoopStep> m_steps; // of an iteration
    Communicators m_communicators;
    std::function<void()> m_onFinished;
    bool m_running{false};
    uint32_t m_iteration{0};
    std::size_t m_next{0};   // step
    bool m_computing{false}; // the end of a compute is to come
    EventId m_event;
    std::set<Work> m_pending; // collectives whose results are not in place
    Time m_finish;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_LOOP_APPLICATION_H
