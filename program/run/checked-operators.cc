/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/checked-operators.h"

#include "parallel/operator-times.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/format.hpp>
#include <set>

namespace ns3::training
{

std::vector<CheckedOperator>
CheckOperators(const ParallelPlan& plan, const TransformerRates& rates)
{
    std::vector<CheckedOperator> all;
    if (!rates.operators)
    {
        return all;
    }
    for (const ListedOperator& listed : ListOperators(plan))
    {
        const LayerOperator& each = listed.each;
        const OperatorTime time = rates.operators->Get(each);
        all.push_back({GetName(listed.pass),
                       each.name,
                       each.kernel,
                       each.GetShape(),
                       rates.operators->GetFormat(each),
                       listed.count,
                       each.executed,
                       rates.operators->GetBytes(each),
                       time.seconds,
                       time.isMeasured      ? "measured"
                       : time.isMemoryBound ? "memory"
                                            : "compute"});
    }
    return all;
}

JsonValue
ToJson(const std::vector<CheckedOperator>& all)
{
    auto list = JsonValue::Array();
    for (const CheckedOperator& each : all)
    {
        auto row = JsonValue::Object();
        row.Set("pass", each.pass)
            .Set("name", each.name)
            .Set("operator", each.kernel)
            .Set("shape", each.shape)
            .Set("dtype", each.format)
            .Set("count", each.count)
            .Set("operations", each.operations)
            .Set("moved_bytes", each.bytes)
            .Set("time_s", each.seconds)
            .Set("bound", each.bound);
        list.Append(row);
    }
    return list;
}

std::string
ToText(const std::vector<CheckedOperator>& all)
{
    if (all.empty())
    {
        return "";
    }
    std::string text =
        (boost::format("%-15s %-25s %-20s %-22s %-5s %6s %10s %10s %10s  %s\n") % "pass" % "name" %
         "operator" % "shape" % "dtype" % "count" % "GFLOP" % "MB" % "us" % "bound")
            .str();
    for (const CheckedOperator& each : all)
    {
        text += (boost::format("%-15s %-25s %-20s %-22s %-5s %6d %10.4g %10.4g %10.5g  %s\n") %
                 each.pass % each.name % each.kernel % each.shape % each.format % each.count %
                 (each.operations / 1e9) % (each.bytes / 1e6) % (each.seconds * 1e6) % each.bound)
                    .str();
    }
    return text;
}

std::string
DescribeMeasured(const ParallelPlan& plan, const TransformerRates& rates)
{
    /// Missing operators that are listed.
    constexpr std::size_t MOST = 5;
    if (!rates.operators || !rates.operators->GetTable())
    {
        return "";
    }
    std::set<std::string> known;
    std::vector<std::string> missing;
    for (const ListedOperator& listed :
         ListOperators(plan, static_cast<uint32_t>(plan.GetOptions().expert)))
    {
        const std::string key = listed.each.kernel + " " + listed.each.GetShape() + " in " +
                                rates.operators->GetFormat(listed.each);
        if (known.insert(key).second && !rates.operators->Get(listed.each).isMeasured)
        {
            missing.push_back(key);
        }
    }
    rates.operators->GetTable()->Report();
    if (missing.empty())
    {
        return "all operators measured";
    }
    std::string text = "partly estimated: " + std::to_string(missing.size()) + " of " +
                       FormatCount(known.size(), "operator") + " not measured";
    for (std::size_t i = 0; i < std::min(MOST, missing.size()); i++)
    {
        text += ", " + missing[i];
    }
    return text + (missing.size() > MOST ? ", ..." : "");
}

} // namespace ns3::training
