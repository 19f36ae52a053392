/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-packed-file.h"

#include "core/input-file.h"
#include "training-configuration-error.h"

#include <algorithm>
#include <fstream>
#include <new>
#include <sys/stat.h>
#include <vector>
#include <zlib.h>

namespace ns3::training
{

namespace
{

/** @return whether a file begins as gzip does (RFC 1952) */
bool
IsPacked(const std::string& bytes)
{
    return bytes.compare(0, 3, "\x1f\x8b\x08") == 0;
}

/// The largest window, in the format of gzip.
constexpr int GZIP = 15 + 16;

/** What has been unpacked, and what ended it. */
struct Unpacked
{
    std::string text;
    std::size_t used{0};    // bytes of the file
    bool isComplete{false}; // the whole file
    bool isTooLong{false};  // the content is longer than wanted
};

/** @param most bytes of the content that are wanted */
Unpacked
Unpack(const std::string& bytes, std::size_t most)
{
    Unpacked result;
    std::vector<char> block(1 << 18);
    while (result.used < bytes.size()) // members one behind the other
    {
        z_stream stream{};
        inflateInit2(&stream, GZIP);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + result.used));
        stream.avail_in = static_cast<uInt>(bytes.size() - result.used);
        int status = Z_OK;
        while (status == Z_OK && !result.isTooLong)
        {
            stream.next_out = reinterpret_cast<Bytef*>(block.data());
            stream.avail_out = static_cast<uInt>(block.size());
            status = inflate(&stream, Z_NO_FLUSH);
            result.text.append(block.data(), block.size() - stream.avail_out);
            result.isTooLong = result.text.size() > most;
        }
        result.used = bytes.size() - stream.avail_in;
        inflateEnd(&stream);
        if (status != Z_STREAM_END)
        {
            return result;
        }
    }
    result.isComplete = true;
    return result;
}

} // namespace

/** State of the compression. */
struct TextPacker::Stream : z_stream
{
};

TextPacker::TextPacker()
    : m_stream(std::make_unique<Stream>())
{
    if (deflateInit2(m_stream.get(),
                     Z_DEFAULT_COMPRESSION,
                     Z_DEFLATED,
                     GZIP,
                     8, // the default use of memory
                     Z_DEFAULT_STRATEGY) != Z_OK)
    {
        throw std::bad_alloc();
    }
}

TextPacker::~TextPacker()
{
    deflateEnd(m_stream.get());
}

std::string
TextPacker::Pack(const std::string& text, bool isLast)
{
    std::string packed;
    std::vector<char> block(1 << 16);
    m_stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    m_stream->avail_in = static_cast<uInt>(text.size());
    do
    {
        m_stream->next_out = reinterpret_cast<Bytef*>(block.data());
        m_stream->avail_out = static_cast<uInt>(block.size());
        deflate(m_stream.get(), isLast ? Z_FINISH : Z_SYNC_FLUSH);
        packed.append(block.data(), block.size() - m_stream->avail_out);
    } while (m_stream->avail_out == 0);
    return packed;
}

std::optional<std::string>
ReadPackedFile(const std::string& path)
{
    auto bytes = ReadInputFile(path);
    if (!bytes || !IsPacked(*bytes))
    {
        return bytes;
    }
    Unpacked content = Unpack(*bytes, MAX_INPUT_BYTES);
    if (content.isTooLong)
    {
        throw ConfigurationError(path + ": is too long when it is unpacked (allowed: up to " +
                                 std::to_string(MAX_INPUT_BYTES >> 20) + " MiB)");
    }
    if (!content.isComplete)
    {
        throw ConfigurationError(path + ": byte " + std::to_string(content.used) +
                                 ": cannot be unpacked (allowed: whole files of gzip)");
    }
    return std::move(content.text);
}

std::string
ReadPackedBegin(const std::string& path, std::size_t most)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    {
        return "";
    }
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most, '\0');
    file.read(&bytes[0], static_cast<std::streamsize>(most));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return IsPacked(bytes) ? Unpack(bytes, most).text.substr(0, most) : bytes;
}

} // namespace ns3::training
