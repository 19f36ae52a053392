/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "published-table.h"

#include "ns3/abort.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return a number formatted for its column */
std::string
FormatNumber(double number, const std::string& format)
{
    if (std::isnan(number))
    {
        return "-";
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format.c_str(), number);
    return text.data();
}

/** @return a text padded to the width of its column */
std::string
Pad(const std::string& text, int width)
{
    const auto wanted = static_cast<std::size_t>(std::abs(width));
    const std::string blanks(wanted > text.size() ? wanted - text.size() : 0, ' ');
    return width < 0 ? text + blanks : blanks + text;
}

JsonValue
ToJson(const PublishedTable::Cell& cell)
{
    if (const auto* text = std::get_if<std::string>(&cell))
    {
        return *text;
    }
    return std::get<double>(cell); // JSON has no NaN; it becomes null
}

} // namespace

PublishedTable::PublishedTable(std::vector<Column> columns, Printing printing)
    : m_columns(std::move(columns)),
      m_printing(printing)
{
    for (bool isLast : {false, true})
    {
        for (std::size_t i = 0; i < m_columns.size(); i++)
        {
            if (m_columns[i].isLast == isLast)
            {
                m_order.push_back(i);
            }
        }
    }
}

bool
PublishedTable::IsPrinting() const
{
    return m_printing != Printing::NEVER;
}

std::string
PublishedTable::FormatLine(const std::vector<std::string>& texts) const
{
    std::string line;
    for (const std::size_t i : m_order)
    {
        const Column& column = m_columns[i];
        line += (i == m_order.front() ? "" : column.before) + Pad(texts[i], column.width);
    }
    return line + "\n";
}

void
PublishedTable::PrintHeadings(const std::string& title) const
{
    if (!IsPrinting())
    {
        return;
    }
    std::vector<std::string> headings;
    for (const Column& column : m_columns)
    {
        headings.push_back(column.heading);
    }
    std::cout << title << FormatLine(headings) << std::flush;
}

void
PublishedTable::AddRow(const std::vector<Cell>& cells)
{
    NS_ABORT_MSG_UNLESS(cells.size() == m_columns.size(), "a cell for each column");
    auto row = JsonValue::Object();
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < cells.size(); i++)
    {
        row.Set(m_columns[i].key, ToJson(cells[i]));
        const auto* text = std::get_if<std::string>(&cells[i]);
        texts.push_back(text ? *text
                             : FormatNumber(std::get<double>(cells[i]), m_columns[i].format));
    }
    m_rows.Append(row);
    if (m_printing == Printing::AT_ONCE)
    {
        std::cout << FormatLine(texts) << std::flush;
    }
    else if (m_printing == Printing::AT_END)
    {
        m_lines += FormatLine(texts);
    }
}

void
PublishedTable::Print(const std::string& title) const
{
    if (!m_lines.empty())
    {
        PrintHeadings(title);
        std::cout << m_lines << std::flush;
    }
}

const JsonValue&
PublishedTable::GetRows() const
{
    return m_rows;
}

void
PublishedTable::AddCost(const RunCost& cost)
{
    m_cost.Add(cost);
}

const RunCost&
PublishedTable::GetCost() const
{
    return m_cost;
}

} // namespace ns3::training
