/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-system.h"

#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"

#include <numeric>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return number of the instance that receives the next request */
template <class Instance>
uint32_t
Route(const std::vector<std::unique_ptr<Instance>>& instances,
      ServingRouting routing,
      std::size_t number)
{
    uint32_t best = static_cast<uint32_t>(number % instances.size());
    if (routing == ServingRouting::LEAST_LOADED)
    {
        best = 0;
        for (uint32_t i = 1; i < instances.size(); i++)
        {
            if (instances[i]->GetLoad() < instances[best]->GetLoad())
            {
                best = i;
            }
        }
    }
    return best;
}

} // namespace

ServingSystem::ServingSystem(const ServingOptions& options,
                             const TransformerModel& model,
                             const TransformerRates& rates,
                             const std::vector<ServingRequest>& requests,
                             const GpuMaker& makeGpus)
    : m_options(options),
      m_prefillSteps(model, rates, options.prefillTensor, options.numberBytes, "prefill"),
      m_decodeSteps(model, rates, options.decodeTensor, options.numberBytes, "decode"),
      m_transfers{
          MakeKeyValueRoutes(GetKeyValueParts(model), options.prefillTensor, options.decodeTensor),
          GetKeyValuePartBytes(model, options.numberBytes),
          model.layers,
          options.isLayerwise},
      m_prefillCapacity(GetCapacity(m_prefillSteps, "prefill")),
      m_decodeCapacity(GetCapacity(m_decodeSteps, "decode")),
      m_requests(requests.size())
{
    for (std::size_t i = 0; i < requests.size(); i++)
    {
        m_requests[i].request = requests[i];
    }
    CheckRequests();
    uint32_t first = 0;
    const auto make = [&](uint32_t gpus) {
        std::vector<uint32_t> ranks(gpus);
        std::iota(ranks.begin(), ranks.end(), first);
        first += gpus;
        return std::make_unique<ServingInstance>(makeGpus(ranks));
    };
    for (uint32_t i = 0; i < options.prefillInstances; i++)
    {
        const PrefillQueue::Limits limits{options.prefillRequests,
                                          options.prefillTokens,
                                          m_prefillCapacity};
        m_prefills.push_back(std::make_unique<PrefillQueue>(
            make(options.prefillTensor),
            m_prefillSteps,
            limits,
            [this](ServedRequest& request) { StartTransfer(request); },
            [this](ServedRequest& request) { OnPrompt(request); }));
    }
    for (uint32_t i = 0; i < options.decodeInstances; i++)
    {
        m_decodes.push_back(std::make_unique<DecodeBatch>(make(options.decodeTensor),
                                                          m_decodeSteps,
                                                          options.decodeRequests,
                                                          m_decodeCapacity,
                                                          [this](ServedRequest&) { OnDone(); }));
    }
}

uint64_t
ServingSystem::GetCapacity(const ServingSteps& steps, const std::string& kind) const
{
    const uint64_t weights = steps.GetWeightBytes();
    if (weights + steps.GetTokenBytes() > m_options.memory)
    {
        throw ConfigurationError(
            "gpu memory",
            std::to_string(m_options.memory),
            " (allowed: at least " + std::to_string(weights + steps.GetTokenBytes()) +
                " bytes, weights and a token of a GPU of a " + kind + " instance)");
    }
    return (m_options.memory - weights) / steps.GetTokenBytes();
}

void
ServingSystem::CheckRequests() const
{
    for (std::size_t i = 0; i < m_requests.size(); i++)
    {
        const ServingRequest& request = m_requests[i].request;
        const bool isPrompt = request.prompt > m_prefillCapacity;
        if (isPrompt || request.prompt + request.output - 1 > m_decodeCapacity)
        {
            throw ConfigurationError(
                "request " + std::to_string(i) + ": " + std::to_string(request.prompt) + " + " +
                std::to_string(request.output) + " tokens (allowed: up to " +
                std::to_string(isPrompt ? m_prefillCapacity : m_decodeCapacity) + ", for which a " +
                (isPrompt ? "prefill" : "decode") + " instance has memory)");
        }
    }
}

void
ServingSystem::SetEnd(std::function<void()> onEnd)
{
    m_onEnd = std::move(onEnd);
}

void
ServingSystem::Start()
{
    if (m_requests.empty())
    {
        m_onEnd();
        return;
    }
    Simulator::Schedule(m_requests[0].request.arrival, &ServingSystem::OnArrival, this);
}

bool
ServingSystem::IsComputing() const
{
    if (m_arrived < m_requests.size())
    {
        return true;
    }
    for (const auto& prefill : m_prefills)
    {
        if (prefill->GetInstance().IsComputing())
        {
            return true;
        }
    }
    for (const auto& decode : m_decodes)
    {
        if (decode->GetInstance().IsComputing())
        {
            return true;
        }
    }
    return false;
}

uint64_t
ServingSystem::GetMovedBytes() const
{
    uint64_t parts = 0;
    for (const KeyValueRoute& route : m_transfers.routes)
    {
        parts += route.parts;
    }
    return parts * m_transfers.partBytes * m_transfers.layers;
}

void
ServingSystem::OnArrival()
{
    ServedRequest& request = m_requests[m_arrived];
    request.prefillInstance = Route(m_prefills, m_options.routing, m_arrived);
    m_arrived++;
    if (m_arrived < m_requests.size())
    {
        Simulator::Schedule(m_requests[m_arrived].request.arrival - Simulator::Now(),
                            &ServingSystem::OnArrival,
                            this);
    }
    m_prefills[request.prefillInstance]->Submit(request);
}

void
ServingSystem::StartTransfer(ServedRequest& request)
{
    request.decodeInstance = Route(m_decodes, m_options.routing, m_transferred);
    m_transferred++;
    DecodeBatch& decode = *m_decodes[request.decodeInstance];
    request.transfer =
        std::make_unique<KeyValueTransfer>(m_transfers,
                                           request.request.prompt,
                                           m_prefills[request.prefillInstance]->GetInstance(),
                                           decode.GetInstance(),
                                           [this, &request] { OnTransferred(request); });
    if (m_options.isLayerwise)
    {
        decode.Reserve(request);
    }
}

void
ServingSystem::OnPrompt(ServedRequest& request)
{
    if (!m_options.isLayerwise)
    {
        m_decodes[request.decodeInstance]->Reserve(request);
    }
}

void
ServingSystem::OnTransferred(ServedRequest& request)
{
    m_prefills[request.prefillInstance]->Release(request);
    m_decodes[request.decodeInstance]->Join(request);
}

void
ServingSystem::OnDone()
{
    m_done++;
    if (m_done == m_requests.size() && m_onEnd)
    {
        m_onEnd();
    }
}

} // namespace ns3::training
