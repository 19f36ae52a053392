/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving/serving-summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3::training
{

namespace
{

/** @return least-squares slope of y over x; 0 if all x are equal */
double
GetSlope(const std::vector<double>& x, const std::vector<double>& y)
{
    const auto count = static_cast<double>(x.size());
    const double meanX = std::accumulate(x.begin(), x.end(), 0.0) / count;
    const double meanY = std::accumulate(y.begin(), y.end(), 0.0) / count;
    double products = 0;
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); i++)
    {
        products += (x[i] - meanX) * (y[i] - meanY);
        squares += (x[i] - meanX) * (x[i] - meanX);
    }
    return squares > 0 ? products / squares : 0;
}

} // namespace

ServingQuantity
ServingQuantity::Of(std::vector<double> values)
{
    if (values.empty())
    {
        return {};
    }
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    const auto get = [&](double part) {
        const double place = std::ceil(part * count);
        return values[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
    };
    return {std::accumulate(values.begin(), values.end(), 0.0) / count,
            get(0.5),
            get(0.9),
            get(0.99)};
}

ServingSummary
ServingSummary::Of(const std::vector<ServedRequest>& served, const ServingObjective& objective)
{
    ServingSummary summary;
    std::vector<double> firstTokens;
    std::vector<double> gaps;
    std::vector<double> ends;
    std::vector<double> arrivals;
    std::vector<double> waits;
    uint64_t met = 0;
    Time last;
    for (const ServedRequest& one : served)
    {
        if (!one.isDone)
        {
            continue;
        }
        const double firstToken = one.GetTimeToFirstToken().GetSeconds();
        firstTokens.push_back(firstToken);
        ends.push_back((one.lastToken - one.request.arrival).GetSeconds());
        for (Time gap : one.tokenGaps)
        {
            gaps.push_back(gap.GetSeconds());
        }
        arrivals.push_back(one.request.arrival.GetSeconds());
        waits.push_back((one.GetPrefillWait() + one.GetMemoryWait() + one.GetTransferTime() +
                         one.GetDecodeWait())
                            .GetSeconds());
        summary.prefillWaitS += one.GetPrefillWait().GetSeconds();
        summary.prefillS += (one.prefillEnd - one.prefillStart).GetSeconds();
        summary.memoryWaitS += one.GetMemoryWait().GetSeconds();
        summary.transferS += one.GetTransferTime().GetSeconds();
        summary.decodeWaitS += one.GetDecodeWait().GetSeconds();
        summary.tokens += one.GetTokens();
        last = std::max(last, one.lastToken);
        const double mean = one.tokenGaps.empty() ? 0
                                                  : (one.lastToken - one.firstToken).GetSeconds() /
                                                        static_cast<double>(one.tokenGaps.size());
        met += (objective.firstTokenS == 0 || firstToken <= objective.firstTokenS) &&
               (objective.tokenS == 0 || mean <= objective.tokenS);
    }
    summary.requests = firstTokens.size();
    if (summary.requests == 0)
    {
        return summary;
    }
    const auto count = static_cast<double>(summary.requests);
    summary.firstTokenS = ServingQuantity::Of(firstTokens);
    summary.tokenS = ServingQuantity::Of(gaps);
    summary.endToEndS = ServingQuantity::Of(ends);
    for (double* sum : {&summary.prefillWaitS,
                        &summary.prefillS,
                        &summary.memoryWaitS,
                        &summary.transferS,
                        &summary.decodeWaitS})
    {
        *sum /= count;
    }
    summary.transferShare = summary.transferS / summary.firstTokenS.mean;
    summary.seconds = last.GetSeconds() - arrivals.front();
    summary.requestsPerSecond = count / summary.seconds;
    summary.tokensPerSecond = static_cast<double>(summary.tokens) / summary.seconds;
    summary.goodputPerSecond = static_cast<double>(met) / summary.seconds;
    summary.attainment = static_cast<double>(met) / count;
    summary.waitGrowth = GetSlope(arrivals, waits);
    return summary;
}

} // namespace ns3::training
