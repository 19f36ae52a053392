/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_FIGURES_H
#define DISTRIBUTED_TRAINING_RUN_FIGURES_H

#include "coding-errors.h"

#include "ns3/result-store.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-registry.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * What a part of a cluster or a job has counted in a run.
 */
class Figures
{
  public:
    virtual ~Figures() = default;

    /** @return name of its JSON object, such as tcp */
    virtual std::string GetName() const = 0;

    /** @return its JSON object, see doc/json.rst */
    virtual JsonValue ToJson() const = 0;

    /** @param store receives rows of tables that register themselves, see ResultTableEntry */
    virtual void AddRows([[maybe_unused]] ResultStore& store) const
    {
    }

    /** @return lines for the end of a program's output, or empty */
    virtual std::string Format() const
    {
        return "";
    }
};

/**
 * @ingroup distributed-training-helper
 * The run that figures are about.
 */
struct FiguresRequest
{
    const Cluster& cluster;                    ///< after the run and GatherCounters()
    bool isReal{false};                        ///< messages carry numbers
    std::optional<CodingErrors> errors{};      ///< of codes, with real payload
    double largestError{-1};                   ///< of a result; negative: not measured
    std::vector<IterationRecord> iterations{}; ///< of a job
    /// Of a job: time for which each port has sent in iterations that are measured, s; empty:
    /// unknown.
    std::vector<double> portSeconds{};
};

/**
 * @ingroup distributed-training-helper
 *
 * A kind of figures of clusters, registered beside its code: JSON and tables of all programs have
 * it then.
 */
struct FiguresEntry
{
    static constexpr const char* KIND = "kind of figures"; ///< for messages
    std::string help;                                      ///< one line
    /// Makes them; null: the cluster has no such part. All processes call it (see Processes).
    std::function<std::unique_ptr<Figures>(const FiguresRequest& request)> make;
};

/**
 * @ingroup distributed-training-helper
 * The figures of a run.
 */
class RunFigures
{
  public:
    /**
     * Adds the figures of the cluster, by name. Collective: all processes call it.
     * @param request the run
     */
    void AddAll(const FiguresRequest& request);

    /** @param figures to add; null: none */
    void Add(std::shared_ptr<Figures> figures);

    /** @param other figures to add */
    void Add(const RunFigures& other);

    /** @return the figures of a kind, or null */
    template <class T>
    T* Find() const
    {
        for (const auto& figures : m_figures)
        {
            if (auto* found = dynamic_cast<T*>(figures.get()))
            {
                return found;
            }
        }
        return nullptr;
    }

    /** @param document receives a member for each */
    void AddTo(JsonValue& document) const;

    /** @param store receives the rows of all */
    void AddTo(ResultStore& store) const;

    /** @return lines of all */
    std::string Format() const;

  private:
    std::vector<std::shared_ptr<Figures>> m_figures;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_FIGURES_H
