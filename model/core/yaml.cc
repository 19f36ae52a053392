/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/yaml.h"

#include "core/input-file.h"
#include "core/json-escape.h"
#include "training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <cstdint>

namespace ns3::training
{

namespace
{

/// Characters that begin what is not read: anchors, aliases, tags, directives, explicit keys.
constexpr const char* UNREAD = "&*!%?@`";

/** A line with content. */
struct Line
{
    std::size_t number;
    std::size_t indent; // column of its content
    std::size_t begin;  // of its content in the text
    std::size_t end;    // of its content in the text, without a comment
};

/** Parses a text. */
class YamlParser
{
  public:
    YamlParser(const std::string& path, const std::string& text)
        : m_path(path),
          m_text(text)
    {
        Split();
    }

    YamlValue Parse();

  private:
    [[noreturn]] void Fail(std::size_t line, const std::string& allowed) const
    {
        std::size_t begin = 0;
        for (std::size_t i = 1; i < line; i++)
        {
            begin = m_text.find('\n', begin) + 1;
        }
        const std::string found =
            m_text.substr(begin, std::min<std::size_t>(m_text.find('\n', begin) - begin, 60));
        throw ConfigurationError(m_path + ":" + std::to_string(line) + ": '" +
                                 MakePrintableName(boost::trim_copy(found)) +
                                 "' (allowed: " + allowed + ")");
    }

    void Split();

    std::string Get(const Line& line) const
    {
        return m_text.substr(line.begin, line.end - line.begin);
    }

    bool IsElement(const Line& line) const
    {
        return m_text[line.begin] == '-' &&
               (line.end == line.begin + 1 || m_text[line.begin + 1] == ' ');
    }

    std::size_t FindClose(std::size_t open) const;
    std::size_t FindColon(const Line& line) const;
    YamlValue ParseBlock(std::size_t indent, uint32_t depth);
    YamlValue ParseList(std::size_t indent, uint32_t depth);
    YamlValue ParseMapping(std::size_t indent, uint32_t depth);
    YamlValue ParseInline(std::size_t begin, std::size_t indent);
    YamlValue ParseFlow(std::size_t& at, std::size_t& line, uint32_t depth);
    std::string TakeQuoted(std::size_t& at, std::size_t& line);
    void SkipSpace(std::size_t& at, std::size_t& line) const;
    void SkipTo(std::size_t at);

    std::string m_path;
    const std::string& m_text;
    std::vector<Line> m_lines;
    std::size_t m_next{0}; // line that comes next
};

void
YamlParser::Split()
{
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < m_text.size();)
    {
        const std::size_t newline = std::min(m_text.find('\n', begin), m_text.size());
        const std::size_t first = std::min(m_text.find_first_not_of(' ', begin), newline);
        std::size_t end = newline;
        number++;
        for (std::size_t i = first; i < newline; i++)
        {
            if (m_text[i] == '#' && (i == first || m_text[i - 1] == ' '))
            {
                end = i;
                break;
            }
            if ((m_text[i] == '"' || m_text[i] == '\'') &&
                (i == first || m_text[i - 1] == ' ' || m_text[i - 1] == '['))
            {
                i = std::min(FindClose(i), newline); // a comment begins after the quotes
            }
        }
        while (end > first && (m_text[end - 1] == ' ' || m_text[end - 1] == '\r'))
        {
            end--;
        }
        const std::string content = m_text.substr(first, end - first);
        if (!content.empty() && content != "---")
        {
            m_lines.push_back({number, first - begin, first, end});
            if (content[0] == '\t')
            {
                Fail(number, "spaces before the content of a line");
            }
        }
        else if (content == "---" && !m_lines.empty())
        {
            Fail(number, "one document");
        }
        begin = newline + 1;
    }
}

YamlValue
YamlParser::Parse()
{
    if (m_lines.empty())
    {
        throw ConfigurationError(m_path + ":1: empty file (allowed: YAML or JSON)");
    }
    const Line& first = m_lines[0];
    const bool isFlow = m_text[first.begin] == '{' || m_text[first.begin] == '[';
    YamlValue value = isFlow ? ParseInline(first.begin, 0) : ParseBlock(first.indent, 0);
    if (m_next < m_lines.size())
    {
        Fail(m_lines[m_next].number, "lines that are indented as others before");
    }
    return value;
}

/** @return position of the mark that ends a text in quotes, which begins at `open`; or the end */
std::size_t
YamlParser::FindClose(std::size_t open) const
{
    const char quote = m_text[open];
    for (std::size_t at = open + 1; at < m_text.size(); at++)
    {
        const bool isTwice = quote == '\'' && m_text.compare(at, 2, "''") == 0;
        if (isTwice || (quote == '"' && m_text[at] == '\\'))
        {
            at++;
        }
        else if (m_text[at] == quote)
        {
            return at;
        }
    }
    return m_text.size();
}

std::size_t
YamlParser::FindColon(const Line& line) const
{
    std::size_t at = line.begin;
    if (m_text[at] == '"' || m_text[at] == '\'')
    {
        at = std::min(FindClose(at), line.end);
    }
    for (; at < line.end; at++)
    {
        if (m_text[at] == ':' && (at + 1 == line.end || m_text[at + 1] == ' '))
        {
            return at;
        }
    }
    return std::string::npos;
}

YamlValue
YamlParser::ParseBlock(std::size_t indent, uint32_t depth)
{
    const Line& line = m_lines[m_next];
    if (depth > MAX_NESTING)
    {
        Fail(line.number, "up to " + std::to_string(MAX_NESTING) + " values within each other");
    }
    return IsElement(line)                        ? ParseList(indent, depth)
           : FindColon(line) != std::string::npos ? ParseMapping(indent, depth)
                                                  : ParseInline(line.begin, indent);
}

YamlValue
YamlParser::ParseList(std::size_t indent, uint32_t depth)
{
    YamlValue value;
    value.kind = YamlValue::Kind::LIST;
    value.line = m_lines[m_next].number;
    while (m_next < m_lines.size() && m_lines[m_next].indent == indent &&
           IsElement(m_lines[m_next]))
    {
        Line& line = m_lines[m_next];
        const std::size_t content =
            std::min(m_text.find_first_not_of(' ', line.begin + 1), line.end);
        if (content == line.end)
        {
            Fail(line.number, "an element behind '- '");
        }
        line.indent += content - line.begin;
        line.begin = content;
        const bool isFlow = m_text[content] == '{' || m_text[content] == '[';
        value.list.push_back(isFlow ? ParseInline(content, indent)
                                    : ParseBlock(line.indent, depth + 1));
    }
    return value;
}

YamlValue
YamlParser::ParseMapping(std::size_t indent, uint32_t depth)
{
    YamlValue value;
    value.kind = YamlValue::Kind::MAPPING;
    value.line = m_lines[m_next].number;
    while (m_next < m_lines.size() && m_lines[m_next].indent == indent &&
           !IsElement(m_lines[m_next]))
    {
        const Line& line = m_lines[m_next];
        const std::size_t number = line.number;
        const std::size_t colon = FindColon(line);
        if (colon == std::string::npos ||
            std::string(UNREAD).find(m_text[line.begin]) != std::string::npos)
        {
            Fail(number, "'key: value'");
        }
        std::string key = boost::trim_copy(m_text.substr(line.begin, colon - line.begin));
        if (key[0] == '"' || key[0] == '\'')
        {
            std::size_t at = line.begin;
            std::size_t last = number;
            std::string text = TakeQuoted(at, last);
            if (at != line.begin + key.size())
            {
                Fail(number, "'key: value'");
            }
            key = std::move(text);
        }
        if (value.Find(key))
        {
            Fail(number, "each key once");
        }
        const std::size_t content = std::min(m_text.find_first_not_of(' ', colon + 1), line.end);
        YamlValue member;
        member.line = number;
        if (content < line.end)
        {
            member = ParseInline(content, indent);
        }
        else if (m_next++; m_next < m_lines.size() &&
                           (m_lines[m_next].indent > indent ||
                            (m_lines[m_next].indent == indent && IsElement(m_lines[m_next]))))
        {
            member = ParseBlock(m_lines[m_next].indent, depth + 1);
        }
        value.members.emplace_back(std::move(key), std::move(member));
    }
    return value;
}

/**
 * Parses a value that begins on the current line, and the lines that continue it.
 * @param begin of it in the text
 * @param indent of its key; lines that continue a text are indented more
 */
YamlValue
YamlParser::ParseInline(std::size_t begin, std::size_t indent)
{
    YamlValue value;
    std::size_t line = m_lines[m_next].number;
    value.line = line;
    const char first = m_text[begin];
    if (first == '[' || first == '{')
    {
        value = ParseFlow(begin, line, 0);
        SkipTo(begin);
        return value;
    }
    if (first == '"' || first == '\'')
    {
        value.text = TakeQuoted(begin, line);
        SkipTo(begin);
        return value;
    }
    if (std::string(UNREAD).find(first) != std::string::npos)
    {
        Fail(line, "texts, lists and mappings without anchors and tags");
    }
    const bool isBlock = first == '|' || first == '>';
    value.text = isBlock ? "" : m_text.substr(begin, m_lines[m_next].end - begin);
    for (m_next++; m_next < m_lines.size() && m_lines[m_next].indent > indent; m_next++)
    {
        if (!isBlock && FindColon(m_lines[m_next]) != std::string::npos)
        {
            Fail(m_lines[m_next].number, "lines that are indented as others before");
        }
        value.text += (value.text.empty() ? "" : " ") + Get(m_lines[m_next]);
    }
    return value;
}

/** Goes on at the line behind a value; nothing else is on the value's last line. */
void
YamlParser::SkipTo(std::size_t at)
{
    while (m_next < m_lines.size() && m_lines[m_next].begin < at)
    {
        if (m_lines[m_next].end > at)
        {
            Fail(m_lines[m_next].number, "nothing behind a value");
        }
        m_next++;
    }
}

void
YamlParser::SkipSpace(std::size_t& at, std::size_t& line) const
{
    for (; at < m_text.size(); at++)
    {
        if (m_text[at] == '#' && (at == 0 || m_text[at - 1] == ' ' || m_text[at - 1] == '\n'))
        {
            at = std::min(m_text.find('\n', at), m_text.size());
        }
        if (at == m_text.size() || std::string(" \t\r\n").find(m_text[at]) == std::string::npos)
        {
            return;
        }
        line += m_text[at] == '\n';
    }
}

std::string
YamlParser::TakeQuoted(std::size_t& at, std::size_t& line)
{
    const char quote = m_text[at];
    const std::size_t start = line;
    std::string text;
    for (at++; at < m_text.size(); at++)
    {
        if (m_text[at] == quote && quote == '\'' && at + 1 < m_text.size() &&
            m_text[at + 1] == quote)
        {
            at++;
        }
        else if (m_text[at] == quote)
        {
            at++;
            return text;
        }
        else if (m_text[at] == '\\' && quote == '"')
        {
            if (const char* allowed = TakeJsonEscape(m_text, at, text))
            {
                Fail(line, allowed);
            }
            at--; // the last character of the escape
            continue;
        }
        line += m_text[at] == '\n';
        text += m_text[at];
    }
    Fail(start, "a text that ends with " + std::string(1, quote));
}

YamlValue
YamlParser::ParseFlow(std::size_t& at, std::size_t& line, uint32_t depth)
{
    YamlValue value;
    value.line = line;
    const char first = m_text[at];
    if (depth > MAX_NESTING)
    {
        Fail(line, "up to " + std::to_string(MAX_NESTING) + " values within each other");
    }
    if (first == '"' || first == '\'')
    {
        value.text = TakeQuoted(at, line);
        return value;
    }
    if (first != '[' && first != '{')
    {
        const std::size_t end = std::min(m_text.find_first_of(",]}\n#", at), m_text.size());
        const std::string piece = m_text.substr(at, end - at);
        const std::size_t stop = at + std::min(piece.find(": "), piece.size()); // end of a key
        value.text = boost::trim_copy(m_text.substr(at, stop - at));
        if (value.text.empty() || std::string(UNREAD).find(first) != std::string::npos)
        {
            Fail(line, "a value");
        }
        at = stop;
        return value;
    }
    const char close = first == '[' ? ']' : '}';
    value.kind = first == '[' ? YamlValue::Kind::LIST : YamlValue::Kind::MAPPING;
    for (SkipSpace(++at, line); at < m_text.size() && m_text[at] != close;)
    {
        YamlValue next = ParseFlow(at, line, depth + 1);
        SkipSpace(at, line);
        if (first == '{')
        {
            if (at == m_text.size() || m_text[at] != ':' || next.kind != YamlValue::Kind::TEXT ||
                value.Find(next.text))
            {
                Fail(line, "'key: value', each key once");
            }
            SkipSpace(++at, line);
            if (at == m_text.size())
            {
                break;
            }
            const std::string key = next.text;
            value.members.emplace_back(key, ParseFlow(at, line, depth + 1));
        }
        else
        {
            value.list.push_back(std::move(next));
        }
        SkipSpace(at, line);
        if (at < m_text.size() && m_text[at] == ',')
        {
            SkipSpace(++at, line);
        }
        else if (at < m_text.size() && m_text[at] != close)
        {
            Fail(line, std::string("',' or '") + close + "'");
        }
    }
    if (at == m_text.size())
    {
        Fail(value.line, std::string("a value that ends with '") + close + "'");
    }
    at++;
    return value;
}

} // namespace

const YamlValue*
YamlValue::Find(const std::string& key) const
{
    const auto member = std::find_if(members.begin(), members.end(), [&](const auto& candidate) {
        return candidate.first == key;
    });
    return member == members.end() ? nullptr : &member->second;
}

YamlValue
ParseYaml(const std::string& path, const std::string& text)
{
    return YamlParser(path, text).Parse();
}

} // namespace ns3::training
