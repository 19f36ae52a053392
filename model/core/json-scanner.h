/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JSON_SCANNER_H
#define DISTRIBUTED_TRAINING_JSON_SCANNER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * Walks through a large JSON text (RFC 8259) without a tree of it. Traces have a million events:
 * Boost.PropertyTree needs 30 bytes for each of their characters, and Boost.JSON is missing from
 * the Boost of many systems.
 *
 * @code
 *   JsonScanner scanner(path, text);
 *   std::string key;
 *   for (scanner.Enter('{'); scanner.NextMember(key);)
 *   {
 *       if (key == "ts") { time = scanner.TakeScalar(); } else { scanner.Skip(); }
 *   }
 * @endcode
 */
class JsonScanner
{
  public:
    /**
     * @param path of the file, for messages
     * @param text its content, which must outlive this
     */
    JsonScanner(const std::string& path, const std::string& text);
    ~JsonScanner();
    JsonScanner(const JsonScanner&) = delete;
    JsonScanner& operator=(const JsonScanner&) = delete;

    /** @return first character of the next value; 0 at the end */
    char Peek();

    /**
     * Enters an object or an array.
     * @param bracket '{' or '['
     */
    void Enter(char bracket);

    /**
     * Goes to the next member of the object that was entered last, whose values are all taken.
     * @param key its key
     * @return whether there is one; otherwise the object is left
     */
    bool NextMember(std::string& key);

    /** @return whether there is another element in the array; otherwise it is left */
    bool NextElement();

    /**
     * @return a string without quotation marks, with its escapes decoded to UTF-8; a number or word
     *         as it is written
     */
    std::string TakeScalar();

    /** Goes past a value of any kind. */
    void Skip();

    /** @param allowed what would be right here @throw ConfigurationError with file:line */
    [[noreturn]] void Fail(const std::string& allowed) const;

  private:
    void Use();
    bool Next(char end);
    std::string TakeString();

    std::string m_path;
    const std::string& m_text;
    std::size_t m_next{0};
    uint32_t m_depth{0};
    std::string m_key;    // of the last member
    bool m_isOpen{false}; // its value is neither taken nor skipped
    uint64_t m_used{0};   // members
    std::unordered_map<std::string, std::pair<uint64_t, std::size_t>> m_ignored; // and first place
    bool m_isFirst{false}; // nothing of the object or array is taken yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JSON_SCANNER_H
