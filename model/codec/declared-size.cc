/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/declared-size.h"

#include "ns3/training-quantity.h"

#include <cmath>
#include <numeric>
#include <sstream>

namespace ns3::training
{

namespace
{

/// A ratio is read in millionths.
constexpr uint64_t MILLION = 1000000;

} // namespace

DeclaredSize::DeclaredSize(const KeyValues& keys)
{
    if (keys.Has("ratio"))
    {
        m_weight = 32 * MILLION;
        m_unit = static_cast<uint64_t>(std::llround(keys.GetNumber("ratio") * MILLION));
    }
}

DeclaredSize::DeclaredSize(const std::vector<uint64_t>& shares,
                           const std::vector<uint32_t>& bits,
                           uint32_t group,
                           uint32_t header)
    : m_weight(std::inner_product(shares.begin(), shares.end(), bits.begin(), uint64_t{0})),
      m_unit(ALL),
      m_group(group),
      m_header(header)
{
}

uint64_t
DeclaredSize::GetBytes(uint64_t count) const
{
    // In two parts, because the product of a large count does not fit.
    const uint64_t bits = count / m_unit * m_weight +
                          (count % m_unit * m_weight + m_unit - 1) / m_unit +
                          (count + m_group - 1) / m_group * m_header;
    return (bits + 7) / 8;
}

Key
DeclaredSize::MakeRatioKey(double least, double most)
{
    Key key;
    key.name = "ratio";
    key.type = Key::Type::NUMBER;
    key.help = "declared size of the data over that of its code, for payload without numbers";
    key.min = least;
    key.max = most;
    return key;
}

Key
DeclaredSize::MakeSharesKey(uint32_t classes, const std::string& help)
{
    Key key = Key::Of("shares", Key::Type::TEXT, "", help);
    key.range = std::to_string(classes) + " percentages that add to 100, such as 74.9/3.9/21.1/0.1";
    key.accepts = [classes](const std::string& text) {
        const auto shares = ParseShares(text);
        return shares && shares->size() == classes;
    };
    return key;
}

std::optional<std::vector<uint64_t>>
DeclaredSize::ParseShares(const std::string& text)
{
    std::vector<uint64_t> shares;
    std::istringstream parts(text + '/');
    for (std::string part; std::getline(parts, part, '/');)
    {
        const auto percent = ParseDouble(part);
        if (!percent || !(*percent >= 0 && *percent <= 100))
        {
            return {};
        }
        shares.push_back(static_cast<uint64_t>(std::llround(*percent * MILLION)));
    }
    if (std::accumulate(shares.begin(), shares.end(), uint64_t{0}) != ALL)
    {
        return {};
    }
    return shares;
}

} // namespace ns3::training
