/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-planner.h"

#include "ns3/log.h"
#include "ns3/schedule-verifier.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectivePlanner");

CollectivePlanner::CollectivePlanner(const std::string& algorithm,
                                     const CollectiveRequest& request,
                                     bool verifyAll)
    : m_algorithm(algorithm),
      m_request(request),
      m_verifyAll(verifyAll)
{
}

CollectivePlanner::CollectivePlanner(std::unique_ptr<AlgorithmSelector> selector,
                                     const CollectiveRequest& request,
                                     bool verifyAll)
    : m_algorithm(selector->GetName()),
      m_request(request),
      m_verifyAll(verifyAll),
      m_chooser(std::move(selector))
{
}

CollectivePlanner::CollectivePlanner(const std::string& source,
                                     std::shared_ptr<const CollectiveSchedule> schedule)
    : m_algorithm(source),
      m_verifyAll(true),
      m_known(std::move(schedule))
{
}

CollectiveRequest
CollectivePlanner::MakeRequest(CollectiveOperation operation, uint64_t bytes, uint32_t root) const
{
    CollectiveRequest request = m_request;
    request.operation = operation;
    request.bytes = bytes;
    request.root = root;
    return request;
}

void
CollectivePlanner::Check(CollectiveOperation operation) const
{
    if (m_known && m_known->operation != operation)
    {
        throw ConfigurationError(m_algorithm + " has no " + GetName(operation) +
                                 " (allowed: " + GetName(m_known->operation) + ")");
    }
    CollectiveRequest request = MakeRequest(operation, 0, 0);
    if (m_chooser)
    {
        m_chooser->Choose(request);
    }
    else if (!m_known)
    {
        CheckRequest(Find(m_algorithm), request);
    }
}

const Choice<CollectiveAlgorithm>&
CollectivePlanner::Find(const std::string& algorithm) const
{
    const auto found = m_algorithms.find(algorithm);
    return found != m_algorithms.end()
               ? found->second
               : m_algorithms.emplace(algorithm, Choose<CollectiveAlgorithm>(algorithm))
                     .first->second;
}

std::vector<RankPath>
CollectivePlanner::GetPaths() const
{
    if (m_known || m_chooser || m_request.ranks == 1)
    {
        return {};
    }
    const auto& algorithm = Find(m_algorithm);
    CollectiveRequest request = MakeRequest(algorithm.entry->operations.front(), 0, 0);
    CheckRequest(algorithm, request);
    const auto paths = algorithm.entry->paths;
    return paths ? paths(request) : std::vector<RankPath>();
}

std::string
CollectivePlanner::Explain(CollectiveOperation operation, uint64_t bytes, uint32_t root)
{
    return m_chooser
               ? m_chooser->Choose(MakeRequest(operation, bytes, HasRoot(operation) ? root : 0))
                     .reason
               : "";
}

std::vector<PlannedChoice>
CollectivePlanner::GetChoices() const
{
    std::vector<PlannedChoice> choices;
    for (const auto& [collective, choice] : m_chosen)
    {
        const auto& [operation, bytes] = collective;
        choices.push_back({operation, bytes, m_request.ranks, *choice});
    }
    return choices;
}

bool
CollectivePlanner::IsVerifying() const
{
    return m_verifyAll || m_request.ranks <= VERIFIED_RANKS;
}

std::shared_ptr<const CollectiveSchedule>
CollectivePlanner::Get(CollectiveOperation operation, uint64_t bytes, uint32_t root)
{
    if (m_known)
    {
        Check(operation);
        if (HasRoot(operation) && root != m_known->root)
        {
            throw ConfigurationError(m_algorithm + " with root " + std::to_string(root) +
                                     " (allowed: " + std::to_string(m_known->root) + ")");
        }
        return m_known;
    }
    CollectiveRequest request = MakeRequest(operation, bytes, HasRoot(operation) ? root : 0);
    const AlgorithmChoice* choice = m_chooser ? &m_chooser->Choose(request) : nullptr;
    if (choice)
    {
        m_chosen.try_emplace({operation, bytes}, choice);
    }
    const std::string name = choice ? choice->name : m_algorithm;
    const auto& algorithm = Find(name);
    CheckRequest(algorithm, request);
    if (request.segments == 0)
    {
        request.segments = algorithm.entry->segments ? algorithm.entry->segments(request) : 1;
    }
    auto& plan = m_plans[{name,
                          operation,
                          request.root,
                          request.segments,
                          algorithm.entry->dependsOnSize ? bytes : 0}];
    if (!plan)
    {
        NS_LOG_INFO("plan " << GetName(operation) << " of " << bytes << " bytes among "
                            << request.ranks << " ranks by " << name << ", " << request.segments
                            << " segments");
        CollectiveSchedule schedule = BuildSchedule(algorithm, request);
        if (IsVerifying())
        {
            const std::string fault = VerifySchedule(schedule);
            if (!fault.empty())
            {
                throw ConfigurationError("algorithm " + name + " for " + GetName(operation) +
                                         " among " + std::to_string(request.ranks) +
                                         " ranks: " + fault +
                                         " (allowed: algorithms whose schedules are right)");
            }
        }
        plan = std::make_shared<const CollectiveSchedule>(std::move(schedule));
    }
    return plan;
}

} // namespace ns3::training
