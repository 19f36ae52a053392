/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-output-file.h"

#include "core/input-file.h"
#include "training-configuration-error.h"
#include "training-packed-file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ns3::training
{

namespace
{

/// Bytes at the beginning and at the end of a file that tell its kind.
constexpr std::streamoff EXCERPT_BYTES = 256;
/// Names that a growing file tries.
constexpr int MAX_ATTEMPTS = 100;
/// Characters that a growing file or a log of SQLite adds to a name.
constexpr std::size_t MORE_CHARACTERS = 20;

/** @return whether a path is a file that exists and is neither a regular file nor a directory */
bool
IsDevice(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/** @return the path without symbolic links; its last part need not exist */
std::string
GetRealPath(std::string path)
{
    char real[PATH_MAX];
    if (realpath(path.c_str(), real))
    {
        return real;
    }
    constexpr uint32_t MAX_LINKS = 40; // as Linux
    for (uint32_t i = 0; i < MAX_LINKS; i++)
    {
        const ssize_t length = readlink(path.c_str(), real, sizeof(real));
        if (length <= 0)
        {
            break;
        }
        const std::string target(real, static_cast<std::size_t>(length));
        path = target[0] == '/' ? target : path.substr(0, path.rfind('/') + 1) + target;
    }
    const auto slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "."
                                  : slash == 0               ? "/"
                                                             : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    return realpath(directory.c_str(), real) ? std::string(real) + "/" + name : path;
}

/** @return the text without blanks and line breaks */
std::string
StripBlanks(std::string text)
{
    text.erase(
        std::remove_if(text.begin(),
                       text.end(),
                       [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }),
        text.end());
    return text;
}

/** @return bytes of a file from an offset, without blanks and line breaks */
std::string
GetExcerpt(std::ifstream& file, std::streamoff offset)
{
    std::string text(EXCERPT_BYTES, '\0');
    file.clear();
    file.seekg(offset);
    file.read(&text[0], EXCERPT_BYTES);
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return StripBlanks(text);
}

/** @return whether a file is empty or of a kind */
bool
IsOfKind(const std::string& path, OutputKind kind)
{
    std::ifstream file(path, std::ios::binary);
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg();
    if (!file || size < 0)
    {
        return false;
    }
    if (size == 0)
    {
        return true;
    }
    const std::string begin = GetExcerpt(file, 0);
    const std::string end = GetExcerpt(file, std::max<std::streamoff>(0, size - EXCERPT_BYTES));
    const auto begins = [&begin](const std::string& text) { return begin.rfind(text, 0) == 0; };
    switch (kind)
    {
    case OutputKind::RESULTS:
        return begins("{") && (end.find("\"version\":") != std::string::npos ||
                               end.find("\"schema\":") != std::string::npos); // behind long inputs
    case OutputKind::TIMELINE: {
        const std::string unpacked = StripBlanks(ReadPackedBegin(path, EXCERPT_BYTES));
        return unpacked.rfind("[{\"ph\":", 0) == 0 || unpacked == "[]";
    }
    case OutputKind::TOPOLOGY:
        return begins("{\"hosts\":");
    case OutputKind::SCHEDULE:
        return begins("{\"format\":\"distributed-trainingschedule") || begins("<algo");
    case OutputKind::CAPTURE: // microseconds or nanoseconds, both byte orders
        return begins("\xd4\xc3\xb2\xa1") || begins("\xa1\xb2\xc3\xd4") ||
               begins("\x4d\x3c\xb2\xa1") || begins("\xa1\xb2\x3c\x4d");
    case OutputKind::GOAL: // or the magic number of the binary form
        return begins("num_ranks") || begins(std::string("\x7f\x10\0\0\0\0\0\0", 8));
    case OutputKind::PAGE:
        return begins("<!DOCTYPEhtml><!--distributed-trainingreport");
    case OutputKind::CONFIGURATION:
        return begins("#Optionsof");
    default:
        return true;
    }
}

/** @return words for a kind of content */
std::string
Describe(OutputKind kind)
{
    switch (kind)
    {
    case OutputKind::RESULTS:
        return "a JSON document of such results";
    case OutputKind::TIMELINE:
        return "a timeline";
    case OutputKind::TOPOLOGY:
        return "an exported topology";
    case OutputKind::SCHEDULE:
        return "an exported schedule";
    case OutputKind::CAPTURE:
        return "a capture of packets";
    case OutputKind::GOAL:
        return "a job as GOAL";
    case OutputKind::PAGE:
        return "such a page";
    case OutputKind::CONFIGURATION:
        return "saved options";
    default:
        return "a file";
    }
}

} // namespace

void
CheckOutputFile(const std::string& path, OutputKind kind)
{
    const auto fail = [&path](const std::string& what) {
        throw ConfigurationError("output file '" + path + "': " + what);
    };
    if (path.empty())
    {
        fail("the name is empty (allowed: the path of a file that can be written)");
    }
    struct stat status;
    if (stat(path.c_str(), &status) == 0)
    {
        if (S_ISDIR(status.st_mode))
        {
            fail("is a directory (allowed: the path of a file that can be written)");
        }
        if (access(path.c_str(), W_OK) != 0)
        {
            fail(std::string("cannot be written (") + std::strerror(errno) + ")");
        }
        if (IsNamedPipe(path))
        {
            fail("is a named pipe (allowed: the path of a file, or - where it is offered)");
        }
        if (!S_ISREG(status.st_mode))
        {
            return;
        }
        if (!IsOfKind(path, kind))
        {
            fail("is something else, which is not overwritten (allowed: a new file, or " +
                 Describe(kind) + ")");
        }
    }
    else if (errno != ENOENT)
    {
        fail(std::string("cannot be written (") + std::strerror(errno) + ")");
    }
    if (path.back() == '/')
    {
        fail("is a directory (allowed: the path of a file that can be written)");
    }
    const std::string real = GetRealPath(path);
    const auto slash = real.rfind('/');
    const std::string directory = slash == std::string::npos ? "."
                                  : slash == 0               ? "/"
                                                             : real.substr(0, slash);
    if (stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    {
        fail("there is no directory '" + directory +
             "' (allowed: a file in an existing directory)");
    }
    const auto longest = static_cast<std::size_t>(pathconf(directory.c_str(), _PC_NAME_MAX));
    const std::size_t length = real.size() - (slash == std::string::npos ? 0 : slash + 1);
    if (length + MORE_CHARACTERS > longest)
    {
        fail("the name has " + std::to_string(length) + " bytes (allowed: up to " +
             std::to_string(longest - MORE_CHARACTERS) + ", as it grows under a longer name)");
    }
    if (access(directory.c_str(), W_OK | X_OK) != 0)
    {
        fail("no file can be created in '" + directory + "' (" + std::strerror(errno) + ")");
    }
}

bool
IsSameFile(const std::string& a, const std::string& b)
{
    return !IsDevice(a) && GetRealPath(a) == GetRealPath(b);
}

OutputFile::OutputFile(const std::string& path)
    : m_path(path),
      m_name(IsDevice(path) ? path : GetRealPath(path)),
      m_growing(m_name)
{
    const bool isDevice = IsDevice(path);
    if (isDevice)
    {
        m_file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    }
    // A file or link that has the name already is neither used nor followed: it may be that of a
    // killed process, or of another container with the same process numbers.
    for (int attempt = 0; m_file < 0 && !isDevice && attempt < MAX_ATTEMPTS; attempt++)
    {
        m_growing = m_name + "." + std::to_string(getpid()) +
                    (attempt > 0 ? "-" + std::to_string(attempt) : "") + ".part";
        m_file =
            open(m_growing.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (m_file < 0 && errno != EEXIST)
        {
            break;
        }
    }
    if (m_file < 0)
    {
        m_isComplete = true; // there is nothing to remove
        Fail();
    }
}

OutputFile::~OutputFile()
{
    if (m_file >= 0)
    {
        close(m_file);
    }
    if (!m_isComplete && m_growing != m_name)
    {
        std::remove(m_growing.c_str());
    }
}

void
OutputFile::Fail() const
{
    throw std::runtime_error("output file '" + m_path + "': cannot be written (" +
                             std::strerror(errno) + ")");
}

void
OutputFile::Write(const std::string& text)
{
    for (std::size_t done = 0; done < text.size();)
    {
        const ssize_t written = write(m_file, text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR)
        {
            Fail();
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(0, written));
    }
}

void
OutputFile::Commit()
{
    if (close(std::exchange(m_file, -1)) != 0 ||
        (m_growing != m_name && std::rename(m_growing.c_str(), m_name.c_str()) != 0))
    {
        Fail();
    }
    m_isComplete = true;
}

void
WriteOutputFile(const std::string& path, const std::string& text)
{
    OutputFile file(path);
    file.Write(text);
    file.Commit();
}

} // namespace ns3::training
