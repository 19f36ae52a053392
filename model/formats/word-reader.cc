/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/word-reader.h"

#include "core/input-file.h"

#include "ns3/training-configuration-error.h"

#include <cctype>

namespace ns3::training
{

WordReader::WordReader(const std::string& path, const std::string& text)
    : m_path(path),
      m_text(&text)
{
}

void
WordReader::Fail(const std::string& word, const std::string& allowed) const
{
    throw ConfigurationError(GetWhere() + ": '" + MakePrintableName(word) +
                             "' (allowed: " + allowed + ")");
}

std::string
WordReader::GetWhere() const
{
    return m_path + ":" + std::to_string(m_line);
}

std::string
WordReader::Next()
{
    const auto isBlank = [](char letter) {
        return std::isspace(static_cast<unsigned char>(letter)) != 0;
    };
    while (m_next < m_text->size() && isBlank((*m_text)[m_next]))
    {
        m_line += (*m_text)[m_next++] == '\n' ? 1 : 0;
    }
    const std::size_t begin = m_next;
    while (m_next < m_text->size() && !isBlank((*m_text)[m_next]))
    {
        m_next++;
    }
    return m_text->substr(begin, m_next - begin);
}

int64_t
WordReader::NextNumber(const std::string& what, int64_t least, int64_t most)
{
    const std::string word = Next();
    const std::string digits = word.substr(!word.empty() && word[0] == '-' ? 1 : 0);
    if (digits.empty() || digits.size() > 17 ||
        digits.find_first_not_of("0123456789") != std::string::npos || std::stoll(word) < least ||
        std::stoll(word) > most)
    {
        Fail(word,
             what + ", a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
    }
    return std::stoll(word);
}

} // namespace ns3::training
