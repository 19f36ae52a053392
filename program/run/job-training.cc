/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-training.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ns3::training
{

namespace
{

/** @return whether two vectors are equal bit by bit */
template <class Number>
bool
IsSame(const std::vector<Number>& a, const std::vector<Number>& b)
{
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0);
}

/** @return whether all numbers are finite */
template <class Number>
bool
IsFinite(const std::vector<Number>& numbers)
{
    return std::all_of(numbers.begin(), numbers.end(), [](Number number) {
        return std::isfinite(number);
    });
}

/** @return largest difference of a number between two vectors */
double
GetDrift(const std::vector<std::vector<float>>& vectors)
{
    double drift = 0;
    for (std::size_t i = 0; i < vectors[0].size(); i++)
    {
        float least = vectors[0][i];
        float largest = least;
        for (const auto& vector : vectors)
        {
            least = std::min(least, vector[i]);
            largest = std::max(largest, vector[i]);
        }
        drift = std::max(drift, double{largest} - double{least});
    }
    return drift;
}

} // namespace

JobTraining::JobTraining(const GradientTraining& training,
                         std::vector<Ptr<TrainingApplication>> applications)
    : m_applications(std::move(applications)),
      m_repeats(training.RepeatsInMemory())
{
    for (uint32_t rank = 0; rank < m_applications.size(); rank++)
    {
        m_applications[rank]->SetLearner(training.MakeLearner(rank));
        m_reference.push_back(training.MakeReference(rank));
    }
}

std::vector<float>
JobTraining::Make(const GradientPlace& place, std::size_t count)
{
    return m_reference[place.rank]->Make(place, count);
}

void
JobTraining::Apply(GradientPlace place, const std::vector<std::vector<float>>& sums)
{
    for (place.rank = 0; place.rank < m_reference.size(); place.rank++)
    {
        m_reference[place.rank]->Apply(place, sums[sums.size() == 1 ? 0 : place.rank]);
    }
}

LearningRow
JobTraining::Measure(uint32_t iteration, double endS)
{
    LearningRow row;
    row.iteration = iteration;
    row.endS = endS;
    std::vector<std::vector<float>> weights;
    std::vector<double> losses;
    std::vector<double> expected;
    std::string mismatch;
    for (uint32_t rank = 0; rank < m_applications.size(); rank++)
    {
        const GradientLearner& learner = *m_applications[rank]->GetLearner();
        weights.push_back(learner.GetWeights());
        losses.push_back(learner.GetLoss(iteration));
        expected.push_back(m_reference[rank]->GetLoss(iteration));
        row.trainingLoss += losses.back();
        m_hasDiverged = m_hasDiverged || !IsFinite(losses) || !IsFinite(weights.back());
        if (m_repeats && mismatch.empty() &&
            (!IsSame(losses, expected) || !IsSame(weights.back(), m_reference[rank]->GetWeights())))
        {
            mismatch = "the replica of rank " + std::to_string(rank) + " after iteration " +
                       std::to_string(iteration) +
                       " differs from that of the training without a network";
        }
    }
    row.trainingLoss /= static_cast<double>(m_applications.size());
    row.drift = GetDrift(weights);
    const LearnerScore score = m_applications[0]->GetLearner()->Evaluate(iteration);
    row.testLoss = score.loss;
    row.testAccuracy = score.accuracy;
    m_hasDiverged = m_hasDiverged || !IsFinite(std::vector<double>{score.loss});
    if (!m_hasDiverged)
    {
        m_mismatch = mismatch;
        m_rows.push_back(row);
    }
    return row;
}

bool
JobTraining::HasDiverged() const
{
    return m_hasDiverged;
}

const std::vector<LearningRow>&
JobTraining::GetRows() const
{
    return m_rows;
}

const std::string&
JobTraining::GetMismatch() const
{
    return m_mismatch;
}

std::string
JobTraining::Format() const
{
    const LearningRow& last = m_rows.back();
    char text[200];
    std::snprintf(text,
                  sizeof(text),
                  "training: test loss %.4f, accuracy %.2f %% after %.3f ms; drift of weights %.3g",
                  last.testLoss,
                  100 * last.testAccuracy,
                  1e3 * last.endS,
                  last.drift);
    return text + std::string(m_repeats ? "; losses and weights of every iteration equal those of "
                                          "the training without a network bit for bit\n"
                                        : "\n");
}

std::string
FormatLearningHeadings()
{
    char text[100];
    std::snprintf(text, sizeof(text), " %12s %12s %12s", "loss", "test loss", "accuracy");
    return text;
}

std::string
FormatLearning(const LearningRow& row)
{
    char text[100];
    std::snprintf(text,
                  sizeof(text),
                  " %12.4f %12.4f %10.2f %%",
                  row.trainingLoss,
                  row.testLoss,
                  100 * row.testAccuracy);
    return text;
}

} // namespace ns3::training
