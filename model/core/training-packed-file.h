/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PACKED_FILE_H
#define DISTRIBUTED_TRAINING_PACKED_FILE_H

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * Reads a file that may be compressed by gzip, which its first bytes tell.
 * @param path a file
 * @return its content, unpacked; none if it cannot be read
 * @throw ConfigurationError if the file or its content is longer than MAX_INPUT_BYTES, or with the
 *        byte of the file from which it cannot be unpacked
 */
std::optional<std::string> ReadPackedFile(const std::string& path);

/**
 * @ingroup distributed-training
 * @param path a file that may be compressed by gzip
 * @param most bytes that are wanted
 * @return the begin of its content; empty if it cannot be read, or is no regular file
 */
std::string ReadPackedBegin(const std::string& path, std::size_t most);

/**
 * @ingroup distributed-training
 *
 * Compresses a text as gzip, part by part.
 */
class TextPacker
{
  public:
    TextPacker();
    ~TextPacker();
    TextPacker(const TextPacker&) = delete;
    TextPacker& operator=(const TextPacker&) = delete;

    /**
     * @param text next part
     * @param isLast whether it is the last one
     * @return all bytes so far that have not been returned; they can be unpacked
     */
    std::string Pack(const std::string& text, bool isLast);

  private:
    struct Stream;
    std::unique_ptr<Stream> m_stream;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PACKED_FILE_H
