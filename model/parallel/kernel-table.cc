/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/kernel-table.h"

#include "core/input-file.h"
#include "core/input-manifest.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <sstream>
#include <vector>

namespace ns3::training
{

namespace
{

constexpr const char* HEADER = "operator,shape,dtype,time";

/** @return the number of sizes of a kind of kernel; 0: there is none */
std::size_t
CountSizes(const std::string& kernel)
{
    static const std::map<std::string, std::size_t> known{
        {"gemm", 3},
        {"grouped-gemm", 4},
        {"attention", 5},
        {"attention-backward", 5},
        {"embedding", 2},
        {"softmax", 2},
        {"softmax-backward", 2},
        {"norm", 2},
        {"norm-backward", 2},
        {"rotary", 2},
        {"rotary-backward", 2},
        {"residual", 2},
        {"residual-backward", 2},
        {"activation", 2},
        {"activation-backward", 2},
        {"permutation", 2},
        {"permutation-backward", 2},
        {"combination", 2},
        {"combination-backward", 2},
        {"loss", 2},
        {"loss-backward", 2},
    };
    const auto found = known.find(kernel);
    return found == known.end() ? 0 : found->second;
}

} // namespace

KernelTable::KernelTable(const std::string& path)
    : m_path(path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("kernels", path, " cannot be read");
    }
    InputManifest::Begin(path);
    std::istringstream lines(*text);
    uint64_t number = 0;
    bool hasHeader = false;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        boost::trim(line);
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        if (!hasHeader && line != HEADER)
        {
            throw ConfigurationError(path + ":" + std::to_string(number) + ": header '" +
                                     MakePrintableName(line) + "' (allowed: " + HEADER + ")");
        }
        if (hasHeader)
        {
            ReadRow(line, number);
        }
        hasHeader = true;
    }
    if (m_rows.empty())
    {
        throw ConfigurationError(path + ":" + std::to_string(number) +
                                 ": no kernels (allowed: a header " + HEADER + ", and rows)");
    }
}

void
KernelTable::ReadRow(const std::string& text, uint64_t line)
{
    const auto refuse = [&](const std::string& what, const std::string& allowed) {
        throw ConfigurationError(m_path + ":" + std::to_string(line) + ": " + what +
                                 " (allowed: " + allowed + ")");
    };
    std::vector<std::string> cells;
    boost::split(cells, text, boost::is_any_of(","));
    for (std::string& cell : cells)
    {
        boost::trim(cell);
    }
    if (cells.size() != 4)
    {
        refuse(FormatCount(cells.size(), "cell"), std::string("4, ") + HEADER);
    }
    const auto quote = [&cells](std::size_t cell) {
        return "'" + MakePrintableName(cells[cell]) + "'";
    };
    const std::size_t count = CountSizes(cells[0]);
    if (count == 0)
    {
        refuse("operator " + quote(0), "those that --check lists, such as gemm");
    }
    std::vector<std::string> sizes;
    boost::split(sizes, cells[1], boost::is_any_of("x"));
    const bool isShape = std::all_of(sizes.begin(), sizes.end(), [](const std::string& size) {
        const auto number = ParseUnsigned(size);
        return number && *number > 0 && std::to_string(*number) == size;
    });
    if (sizes.size() != count || !isShape)
    {
        refuse("shape " + quote(1),
               std::to_string(count) + " whole numbers above 0 with x between them");
    }
    if (cells[2] != "bf16" && cells[2] != "fp8" && cells[2] != "fp4")
    {
        refuse("dtype " + quote(2), "bf16, fp8, fp4");
    }
    const auto time = ParseTime(cells[3]);
    if (!time || !time->IsStrictlyPositive())
    {
        refuse("time " + quote(3), std::string("times above 0, ") + TIME_UNITS);
    }
    const auto [row, isNew] =
        m_rows.try_emplace({cells[0], cells[1], cells[2]},
                           Row{static_cast<double>(time->GetPicoSeconds()) / 1e12, line});
    if (!isNew)
    {
        refuse(cells[0] + " " + cells[1] + " in " + cells[2] + " again",
               "once, as in line " + std::to_string(row->second.line));
    }
}

std::optional<double>
KernelTable::Find(const std::string& kernel,
                  const std::string& shape,
                  const std::string& format) const
{
    const auto found = m_rows.find({kernel, shape, format});
    if (found == m_rows.end())
    {
        return std::nullopt;
    }
    found->second.isUsed = true;
    return found->second.seconds;
}

void
KernelTable::Report() const
{
    InputManifest::File& file = InputManifest::Begin(m_path);
    for (const auto& [key, row] : m_rows)
    {
        if (row.isUsed)
        {
            file.Use();
            continue;
        }
        const auto& [kernel, shape, format] = key;
        file.Ignore(kernel + " " + shape + " in " + format,
                    [&, line = row.line] { return m_path + ":" + std::to_string(line); });
    }
}

} // namespace ns3::training
