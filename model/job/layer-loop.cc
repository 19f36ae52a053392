/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-loop.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLayerLoop");

namespace
{

/** Puts an iteration together. */
class Iteration
{
  public:
    explicit Iteration(const LayerLoop& loop)
        : m_loop(loop)
    {
    }

    /** Appends the compute of a pass through a layer. */
    void Compute(LayerPass pass, uint32_t layer)
    {
        m_steps.push_back({LoopStep::Kind::COMPUTE, pass, layer});
    }

    /** Appends the start of a collective, if there is one. */
    void Start(LayerPass pass, uint32_t layer)
    {
        Append(LoopStep::Kind::START, pass, layer);
    }

    /** Appends the wait for a collective, if there is one. */
    void Wait(LayerPass pass, uint32_t layer)
    {
        Append(LoopStep::Kind::WAIT, pass, layer);
    }

    /** Appends the forward pass. */
    void AddForward()
    {
        const bool isEmbedding = m_loop.order == LayerLoop::Order::EMBEDDING;
        for (uint32_t layer = 0; layer < m_loop.layers.size(); layer++)
        {
            Wait(LayerPass::WEIGHT_GRADIENT, layer); // of the iteration before
            Compute(LayerPass::FORWARD, layer);
            Start(LayerPass::FORWARD, layer);
            if (!isEmbedding || layer > 0)
            {
                Wait(LayerPass::FORWARD, layer);
            }
            if (isEmbedding && layer == m_loop.lastBottom)
            {
                Wait(LayerPass::FORWARD, 0);
            }
        }
    }

    /** Appends the backward pass, gradients of weights first. */
    void AddWeightsFirst()
    {
        const bool isEmbedding = m_loop.order == LayerLoop::Order::EMBEDDING;
        for (auto layer = static_cast<uint32_t>(m_loop.layers.size()); layer-- > 0;)
        {
            Compute(LayerPass::WEIGHT_GRADIENT, layer);
            Start(LayerPass::WEIGHT_GRADIENT, layer);
            if (layer == 0)
            {
                break; // its inputs are data
            }
            Compute(LayerPass::INPUT_GRADIENT, layer);
            if (isEmbedding && layer == m_loop.lastBottom + 1)
            {
                Start(LayerPass::INPUT_GRADIENT, 0);
            }
        }
        if (isEmbedding)
        {
            Wait(LayerPass::INPUT_GRADIENT, 0);
        }
    }

    /** Appends the backward pass, gradients of inputs first. */
    void AddInputsFirst()
    {
        for (auto layer = static_cast<uint32_t>(m_loop.layers.size()); layer-- > 0;)
        {
            Compute(LayerPass::INPUT_GRADIENT, layer);
            if (layer > 0)
            {
                Start(LayerPass::INPUT_GRADIENT, layer);
            }
            Compute(LayerPass::WEIGHT_GRADIENT, layer);
            Start(LayerPass::WEIGHT_GRADIENT, layer);
            if (layer > 0)
            {
                Wait(LayerPass::INPUT_GRADIENT, layer);
            }
        }
    }

    /** @return all of it */
    std::vector<LoopStep> GetSteps() const
    {
        return m_steps;
    }

  private:
    void Append(LoopStep::Kind kind, LayerPass pass, uint32_t layer)
    {
        if (m_loop.layers[layer].works[static_cast<uint32_t>(pass)].bytes > 0)
        {
            m_steps.push_back({kind, pass, layer});
        }
    }

    const LayerLoop& m_loop;
    std::vector<LoopStep> m_steps;
};

} // namespace

std::vector<LoopStep>
MakeIteration(const LayerLoop& loop)
{
    Iteration iteration(loop);
    iteration.AddForward();
    if (loop.order == LayerLoop::Order::MODEL)
    {
        iteration.AddInputsFirst();
    }
    else
    {
        iteration.AddWeightsFirst();
    }
    return iteration.GetSteps();
}

Time
GetComputeTime(const LayerLoop& loop)
{
    Time sum;
    for (const LoopStep& step : MakeIteration(loop))
    {
        if (step.kind == LoopStep::Kind::COMPUTE)
        {
            sum += loop.layers[step.layer].works[static_cast<uint32_t>(step.pass)].compute;
        }
    }
    return sum;
}

} // namespace ns3::training
