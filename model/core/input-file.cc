/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"

#include "training-configuration-error.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

namespace ns3::training
{

namespace
{

/// Maximum length of a name from a file.
constexpr std::size_t MAX_NAME = 100;

/** Counts the elements that contain each other at the current place of a text. */
class Depth
{
  public:
    explicit Depth(const std::string& name)
        : m_name(name)
    {
    }

    void Open()
    {
        if (++m_depth > MAX_NESTING)
        {
            throw ConfigurationError(m_name + ":" + std::to_string(m_line) +
                                     ": nested too deeply (allowed: up to " +
                                     std::to_string(MAX_NESTING) + " levels)");
        }
    }

    void Close()
    {
        m_depth -= m_depth > 0;
    }

    void CountLine(char character)
    {
        m_line += character == '\n';
    }

  private:
    const std::string& m_name;
    uint32_t m_depth{0};
    uint32_t m_line{1};
};

void
CheckJson(const std::string& text, Depth depth)
{
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); i++)
    {
        const char character = text[i];
        depth.CountLine(character);
        if (isQuoted)
        {
            i += character == '\\';
            isQuoted = character != '"';
        }
        else if (character == '{' || character == '[')
        {
            depth.Open();
        }
        else if (character == '}' || character == ']')
        {
            depth.Close();
        }
        else
        {
            isQuoted = character == '"';
        }
    }
}

void
CheckXml(const std::string& text, Depth depth)
{
    char quote = 0; // of a value in a tag
    bool isTag = false;
    for (std::size_t i = 0; i < text.size(); i++)
    {
        const char character = text[i];
        depth.CountLine(character);
        if (quote != 0)
        {
            quote = character == quote ? 0 : quote;
        }
        else if (isTag && (character == '"' || character == '\''))
        {
            quote = character;
        }
        else if (isTag && character == '>')
        {
            isTag = false;
            if (text[i - 1] == '/')
            {
                depth.Close();
            }
        }
        else if (!isTag && text.compare(i, 4, "<!--") == 0)
        {
            // The depth of what a comment contains does not matter.
            const std::size_t end = std::min(text.find("-->", i), text.size() - 1);
            for (; i < end; i++)
            {
                depth.CountLine(text[i + 1]);
            }
        }
        else if (!isTag && character == '<' && i + 1 < text.size())
        {
            const char next = text[i + 1];
            if (next == '/')
            {
                depth.Close();
            }
            else if (next != '!' && next != '?')
            {
                depth.Open();
                isTag = true;
            }
        }
    }
}

} // namespace

bool
IsNamedPipe(const std::string& path)
{
    struct stat status;
    char real[PATH_MAX];
    return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) &&
           realpath(path.c_str(), real);
}

std::optional<std::string>
ReadInputFile(const std::string& path)
{
    if (IsNamedPipe(path))
    {
        throw ConfigurationError(path + ": is a named pipe (allowed: a file, or /dev/stdin)");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::string block(1 << 20, '\0');
    while (file.read(&block[0], static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
    {
        text.append(block, 0, static_cast<std::size_t>(file.gcount()));
        if (text.size() > MAX_INPUT_BYTES)
        {
            throw ConfigurationError(path + ": is too long (allowed: up to " +
                                     std::to_string(MAX_INPUT_BYTES >> 20) + " MiB)");
        }
    }
    // A directory can be opened, but not read.
    return file.eof() ? std::optional(std::move(text)) : std::nullopt;
}

void
CheckNesting(const std::string& text, const std::string& name)
{
    const std::size_t begin = text.find_first_of("<{["); // there may be a byte order mark before
    if (begin != std::string::npos && text[begin] == '<')
    {
        CheckXml(text, Depth(name));
    }
    else
    {
        CheckJson(text, Depth(name));
    }
}

std::string
MakePrintableName(const std::string& text)
{
    std::string name = text.substr(0, MAX_NAME);
    std::replace_if(
        name.begin(),
        name.end(),
        [](char character) { return character < ' ' || character > '~'; },
        '?');
    return name;
}

} // namespace ns3::training
