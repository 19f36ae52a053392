/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-figures.h"

#include <utility>

namespace ns3::training
{

void
RunFigures::AddAll(const FiguresRequest& request)
{
    for (const auto& [name, entry] : Registry<FiguresEntry>::All())
    {
        Add(entry.make(request));
    }
}

void
RunFigures::Add(std::shared_ptr<Figures> figures)
{
    if (figures)
    {
        m_figures.push_back(std::move(figures));
    }
}

void
RunFigures::Add(const RunFigures& other)
{
    m_figures.insert(m_figures.end(), other.m_figures.begin(), other.m_figures.end());
}

void
RunFigures::AddTo(JsonValue& document) const
{
    for (const auto& figures : m_figures)
    {
        document.Set(figures->GetName(), figures->ToJson());
    }
}

void
RunFigures::AddTo(ResultStore& store) const
{
    for (const auto& figures : m_figures)
    {
        figures->AddRows(store);
    }
}

std::string
RunFigures::Format() const
{
    std::string text;
    for (const auto& figures : m_figures)
    {
        text += figures->Format();
    }
    return text;
}

} // namespace ns3::training
