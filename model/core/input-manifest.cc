/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"

#include "core/input-file.h"
#include "training-configuration-error.h"

namespace ns3::training
{

namespace
{

/// Names of parts in a line.
constexpr std::size_t MAX_NAMED_PARTS = 4;

/** @return names of parts, with their numbers and first places */
std::string
ListParts(const std::map<std::string, InputManifest::Part>& parts, const std::string& title)
{
    std::string text;
    std::size_t named = 0;
    for (const auto& [what, part] : parts)
    {
        if (named++ == MAX_NAMED_PARTS)
        {
            text += ", and " + std::to_string(parts.size() - MAX_NAMED_PARTS) + " more";
            break;
        }
        text += (text.empty() ? "; " + title + " " : ", ") + MakePrintableName(what) + " (" +
                std::to_string(part.count) + ", first at " + part.first + ")";
    }
    return text;
}

/** @return the same for JSON */
JsonValue
MakePartList(const std::map<std::string, InputManifest::Part>& parts)
{
    auto list = JsonValue::Array();
    for (const auto& [what, part] : parts)
    {
        auto row = JsonValue::Object();
        row.Set("what", what).Set("count", part.count).Set("first", part.first);
        list.Append(row);
    }
    return list;
}

} // namespace

void
InputManifest::CheckStrict(const std::string& what)
{
    if (strict)
    {
        throw ConfigurationError(what + " (allowed: files that are used as a whole, or no "
                                        "--strict)");
    }
}

std::map<std::string, InputManifest::File>&
InputManifest::GetAll()
{
    static std::map<std::string, File> files;
    return files;
}

InputManifest::File&
InputManifest::Begin(const std::string& path)
{
    File& file = GetAll()[path];
    file = {};
    return file;
}

const std::map<std::string, InputManifest::File>&
InputManifest::GetFiles()
{
    return GetAll();
}

std::vector<std::string>
InputManifest::GetLines()
{
    std::vector<std::string> lines;
    for (const auto& [path, file] : GetAll())
    {
        const std::string parts =
            ListParts(file.ignored, "ignored:") +
            (file.isSaid ? std::string() : ListParts(file.assumed, "assumed:"));
        if (!parts.empty())
        {
            lines.push_back(path + ": " + std::to_string(file.used) + " of " +
                            std::to_string(file.read) + " parts used" + parts);
        }
    }
    return lines;
}

JsonValue
InputManifest::ToJson()
{
    auto list = JsonValue::Array();
    for (const auto& [path, file] : GetAll())
    {
        auto row = JsonValue::Object();
        row.Set("path", path)
            .Set("read", file.read)
            .Set("used", file.used)
            .Set("ignored", MakePartList(file.ignored))
            .Set("assumed", MakePartList(file.assumed));
        list.Append(row);
    }
    auto document = JsonValue::Object();
    document.Set("files", list);
    return document;
}

} // namespace ns3::training
