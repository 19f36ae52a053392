/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORD_READER_H
#define DISTRIBUTED_TRAINING_WORD_READER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Words of a text, with their lines.
 */
class WordReader
{
  public:
    /**
     * @param path of the file, for messages
     * @param text its content, which must outlive this
     */
    WordReader(const std::string& path, const std::string& text);

    /**
     * @param word that is wrong
     * @param allowed what would be right
     * @throw ConfigurationError with file:line
     */
    [[noreturn]] void Fail(const std::string& word, const std::string& allowed) const;

    /** @return file:line of the last word */
    std::string GetWhere() const;

    /** @return the next word; empty at the end */
    std::string Next();

    /**
     * @param what the number is, for messages
     * @param least smallest value
     * @param most largest value
     * @return the next word, a whole number
     * @throw ConfigurationError if it is none
     */
    int64_t NextNumber(const std::string& what, int64_t least, int64_t most);

  private:
    std::string m_path;
    const std::string* m_text;
    std::size_t m_next{0};
    uint32_t m_line{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORD_READER_H
