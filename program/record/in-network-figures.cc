/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "in-network-figures.h"

#include "core/record-sum.h"

#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <vector>

namespace ns3::training
{

namespace
{

std::unique_ptr<Figures>
MakeInNetworkFigures(const FiguresRequest& request)
{
    const auto& workers = request.cluster.GetInNetworkCommunicators();
    if (workers.empty())
    {
        return nullptr;
    }
    InNetworkFigures mine = SumFigures(workers);
    const uint64_t images = request.cluster.GetOptions().images.GetCount();
    mine.sent *= images;
    mine.resent *= images;
    mine.received *= images;
    mine.duplicates *= images;
    auto figures = std::make_unique<InNetworkFigures>(
        SumOverProcesses(InNetworkFigures::GetFields(), {mine}).front());
    ByteWriter bound;
    bound(mine.errorBound);
    for (const std::string& bytes : Processes::Gather(bound.GetText()))
    {
        const auto other = ByteReader(bytes.data(), bytes.size()).Next<double>();
        figures->errorBound = std::max(figures->errorBound, other);
    }
    figures->maxError = request.largestError;
    return figures;
}

const Registry<FiguresEntry>::Entry g_inNetwork("in_network",
                                                {"sums made by switches", &MakeInNetworkFigures});

} // namespace

std::vector<RecordField<InNetworkFigures>>
InNetworkFigures::GetFields()
{
    return {{"sent", "", "packets, without those sent again", &InNetworkFigures::sent},
            {"resent", "", "packets sent again", &InNetworkFigures::resent},
            {"received", "", "sums used", &InNetworkFigures::received},
            {"duplicates", "", "sums that the rank had already", &InNetworkFigures::duplicates},
            {"fallen_back", "", "whether hosts have taken over", &InNetworkFigures::fallenBack}};
}

JsonValue
InNetworkFigures::ToJson() const
{
    auto object = JsonValue::Object();
    SetMembers(object, GetFields(), *this);
    object.Set("error_bound", errorBound);
    if (maxError >= 0)
    {
        object.Set("max_error", maxError);
    }
    return object;
}

InNetworkFigures
SumFigures(const std::vector<Ptr<InNetworkCommunicator>>& workers)
{
    InNetworkFigures sum;
    for (const auto& worker : workers)
    {
        const InNetworkCounters& counters = worker->GetCounters();
        InNetworkFigures one;
        one.sent = counters.sent;
        one.resent = counters.resent;
        one.received = counters.received;
        one.duplicates = counters.duplicates;
        one.fallenBack = worker->HasFallenBack();
        AddMembers(InNetworkFigures::GetFields(), one, sum);
        sum.errorBound = std::max(sum.errorBound, worker->GetErrorBound());
    }
    return sum;
}

std::string
FormatFallback(const Cluster& cluster)
{
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        if (worker->HasFallenBack())
        {
            return "the hosts made all-reduces themselves from then on: " + worker->GetFailure() +
                   "\n";
        }
    }
    return "";
}

} // namespace ns3::training
