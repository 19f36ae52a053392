/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/json-scanner.h"
#include "core/json-tree.h"
#include "test-case.h"

#include "ns3/training-json-writer.h"

#include <limits>

namespace ns3::training::tests::json_test
{

/** @return a value of a file of JSON, which has nothing behind it */
std::string
Scan(const std::string& text)
{
    JsonScanner scanner("a.json", text);
    const std::string value = scanner.TakeScalar();
    return scanner.Peek() == 0 ? value : value + " and more";
}

/** @return why a file of JSON is refused, whether its values are taken or not */
std::string
GetScanRefusal(const std::string& text)
{
    const std::string taken = GetRefusal([&]() { Scan(text); });
    const std::string skipped = GetRefusal([&]() { JsonScanner("a.json", text).Skip(); });
    return taken == skipped ? taken : "taken: " + taken + "; skipped: " + skipped;
}

/** @return a code point as UTF-8, by the table of RFC 3629, section 3 */
std::string
Encode(uint32_t point)
{
    static constexpr struct
    {
        uint32_t last;
        uint32_t lead;
    } ROWS[] = {{0x7F, 0}, {0x7FF, 0xC0}, {0xFFFF, 0xE0}, {0x10FFFF, 0xF0}};

    std::string rest;
    const auto* row = ROWS;
    for (; point > row->last; row++)
    {
    }
    for (const auto* i = ROWS; i < row; i++, point /= 64)
    {
        rest.insert(0, 1, static_cast<char>(0x80 + point % 64));
    }
    return static_cast<char>(row->lead + point) + rest;
}

/** @return the escape of a UTF-16 code unit */
std::string
Escape(uint32_t unit, const char* digits)
{
    std::string text = "\\u";
    for (uint32_t shift : {12, 8, 4, 0})
    {
        text += digits[unit >> shift & 15];
    }
    return text;
}

void
TestEscapes()
{
    const std::pair<std::string, std::string> values[] = {
        {R"("")", ""},
        {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
        {R"("\u0041\u005a")", "AZ"},
        {R"("GPU \u00b5")", "GPU \xC2\xB5"},
        {R"("\u20AC\u20ac")", "\xE2\x82\xAC\xE2\x82\xAC"},
        {R"("\ud834\udd1e")", "\xF0\x9D\x84\x9E"}, // the example of RFC 8259, section 7
        {R"("\uD800\uDC00\uDBFF\uDFFF")", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
        {R"("\\u0041")", "\\u0041"},
        {R"("\u005cu0041")", "\\u0041"},
        {R"("\u00410")", "A0"},
        {R"("\u0000")", std::string(1, '\0')}};
    for (const auto& [text, value] : values)
    {
        NS_TEST_EXPECT_MSG_EQ(Scan(text), value, text);
    }
    std::string key;
    const std::string text = R"( {"\u006eame" : ["\u00e9", 1.50, true]})";
    JsonScanner scanner("a.json", text);
    scanner.Enter('{');
    NS_TEST_ASSERT_MSG_EQ(scanner.NextMember(key), true, "a member");
    NS_TEST_EXPECT_MSG_EQ(key, "name", "an escape in a key");
    scanner.Enter('[');
    for (const std::string value : {"\xC3\xA9", "1.50", "true"})
    {
        NS_TEST_ASSERT_MSG_EQ(scanner.NextElement(), true, value);
        const std::string element = scanner.TakeScalar();
        NS_TEST_EXPECT_MSG_EQ(element, value, "an element");
    }
    NS_TEST_EXPECT_MSG_EQ(scanner.NextElement(), false, "end of the array");
    NS_TEST_EXPECT_MSG_EQ(scanner.NextMember(key), false, "end of the object");
    NS_TEST_EXPECT_MSG_EQ(scanner.Peek(), 0, "end of the text");
}

void
TestCodePoints()
{
    uint32_t wrong = 0;
    for (uint32_t point = 0; point <= 0x10FFFF; point++)
    {
        if (point >= 0xD800 && point <= 0xDFFF)
        {
            continue; // surrogates are no characters
        }
        const char* digits = point % 2 == 0 ? "0123456789abcdef" : "0123456789ABCDEF";
        const uint32_t above = point - 0x10000;
        const std::string escapes = point < 0x10000 ? Escape(point, digits)
                                                    : Escape(0xD800 + above / 0x400, digits) +
                                                          Escape(0xDC00 + above % 0x400, digits);
        const std::string character = Encode(point);
        wrong += Scan('"' + escapes + '"') == character ? 0 : 1;
        wrong += Scan(QuoteJson(character)) == character ? 0 : 1;
    }
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, "characters that differ");
}

void
TestRefusals()
{
    const std::string pair = R"((allowed: a pair of surrogates, \ud800 to \udbff and \udc00 to )";
    const std::string digits = R"((allowed: four hexadecimal digits behind \u))";
    const std::string escape =
        R"((allowed: an escape \", \\, \/, \b, \f, \n, \r, \t or \u0000 to )";
    const std::string end = "(allowed: the end of the string)";
    const std::pair<std::string, std::string> cases[] = {
        {R"("\ud800")", R"(a.json:1: '\ud800"' )" + pair},
        {R"("\udc00")", R"(a.json:1: '\udc00"' )" + pair},
        {R"("\ud800\ud800")", R"(a.json:1: '\ud800\ud800"' )" + pair},
        {R"("\udc00\ud800")", R"(a.json:1: '\udc00\ud800"' )" + pair},
        {R"("\ud800x\udc00")", R"(a.json:1: '\ud800x\udc00"' )" + pair},
        {R"("\ud800\\udc00")", R"(a.json:1: '\ud800\\udc00"' )" + pair},
        {R"("\ud800\n")", R"(a.json:1: '\ud800\n"' )" + pair},
        {R"("\ud800\u0041")", R"(a.json:1: '\ud800\u0041"' )" + pair},
        {R"("\ud800\udc0x")", R"(a.json:1: '\udc0x"' )" + digits},
        {R"("\u00g0")", R"(a.json:1: '\u00g0"' )" + digits},
        {R"("\u 041")", R"(a.json:1: '\u 041"' )" + digits},
        {R"("\u+041")", R"(a.json:1: '\u+041"' )" + digits},
        {R"("\u0x41")", R"(a.json:1: '\u0x41"' )" + digits},
        {R"("\u004")", R"(a.json:1: '\u004"' )" + digits},
        {R"("\u004)", R"(a.json:1: '\u004' )" + digits},
        {R"("\u)", R"(a.json:1: '\u' )" + digits},
        {R"("\U0041")", R"(a.json:1: '\U0041"' )" + escape},
        {R"("\x41")", R"(a.json:1: '\x41"' )" + escape},
        {R"("\')", R"(a.json:1: '\'' )" + escape},
        {"\"\\", "a.json:1: '' " + end},
        {"\"abc", "a.json:1: '' " + end},
        {"\n\n\"a\nb\\u12\"", "a.json:4: '\\u12\"' " + digits}};
    for (const auto& [text, refusal] : cases)
    {
        NS_TEST_EXPECT_MSG_EQ(GetScanRefusal(text).substr(0, refusal.size()), refusal, text);
    }
    // The reader of small files refuses the same.
    for (const std::string text : {R"(["\ud800"])", R"(["\udc00"])", R"(["\u00g0"])", R"(["\x"])"})
    {
        const std::string refusal =
            GetRefusal([&]() { ReadJsonTree("\n" + text, "b.json", "a list"); });
        NS_TEST_EXPECT_MSG_EQ(refusal.substr(0, 9), "b.json:2:", text << ": " << refusal);
    }
}

void
TestWriter()
{
    // All bytes, alone and behind others: what is no UTF-8 becomes U+FFFD.
    const std::string replaced = "\xEF\xBF\xBD";
    for (uint32_t byte = 0; byte < 256; byte++)
    {
        const std::string text(1, static_cast<char>(byte));
        const std::string expected = byte < 0x80 ? text : replaced;
        NS_TEST_EXPECT_MSG_EQ(Scan(QuoteJson(text)), expected, "byte " << byte);
        NS_TEST_EXPECT_MSG_EQ(Scan(QuoteJson("a" + text + "z")),
                              "a" + expected + "z",
                              "byte " << byte << " among letters");
    }
    const std::string broken[] = {"\xC0\x80",         // overlong
                                  "\xE0\x9F\xBF",     // overlong
                                  "\xED\xA0\x80",     // a surrogate
                                  "\xF0\x8F\xBF\xBF", // overlong
                                  "\xF4\x90\x80\x80", // above U+10FFFF
                                  "\xE2\x82"};        // truncated
    for (const std::string& text : broken)
    {
        std::string expected;
        for (std::size_t i = 0; i < text.size(); i++)
        {
            expected += replaced;
        }
        NS_TEST_EXPECT_MSG_EQ(Scan(QuoteJson(text)), expected, "malformed UTF-8");
    }
    // Keys, nested values and numbers, with and without indentation.
    const std::string odd = "k\"\\\n\x01\x7F\xC2\xB5\xF0\x9D\x84\x9E";
    auto value = JsonValue::Object();
    value.Set(odd, JsonValue::Array().Append(odd).Append(0.1).Append(-5).Append(true));
    value.Set("least", std::numeric_limits<int64_t>::min());
    value.Set("most", std::numeric_limits<uint64_t>::max());
    value.Set("none", std::numeric_limits<double>::quiet_NaN());
    for (int indent : {-1, 0, 2})
    {
        const std::string text = value.Write(indent);
        JsonScanner scanner("a.json", text);
        std::vector<std::string> read;
        std::string key;
        for (scanner.Enter('{'); scanner.NextMember(key);)
        {
            read.push_back(key);
            if (scanner.Peek() != '[')
            {
                read.push_back(scanner.TakeScalar());
                continue;
            }
            for (scanner.Enter('['); scanner.NextElement();)
            {
                read.push_back(scanner.TakeScalar());
            }
        }
        const std::vector<std::string> expected{odd,
                                                odd,
                                                "0.1",
                                                "-5",
                                                "true",
                                                "least",
                                                "-9223372036854775808",
                                                "most",
                                                "18446744073709551615",
                                                "none",
                                                "null"};
        NS_TEST_EXPECT_MSG_EQ(read, expected, text);
    }
}

void
TestStructure()
{
    const std::pair<std::string, std::string> cases[] = {
        {"{1: 2}", "a.json:1: '1: 2}' (allowed: a key in quotation marks)"},
        {"{\"a\" 2}", "a.json:1: '2}' (allowed: ':')"},
        {"{\"a\": 2 \"b\": 3}", "a.json:1: '\"b\": 3}' (allowed: ',' or '}')"},
        {"[1\n2]", "a.json:2: '2]' (allowed: ',' or ']')"},
        {"[1, ]", "a.json:1: ']' (allowed: a string, a number, true, false, null)"},
        {"{\"a\": ", "a.json:1: '' (allowed: a string, a number, true, false, null)"},
        {"[1", "a.json:1: '' (allowed: ',' or ']')"},
        {std::string(100000, '['), "a.json:1: '[[[[[[[[[[[[[[[[[[[[' (allowed: up to "}};
    for (const auto& [text, refusal] : cases)
    {
        const std::string actual = GetRefusal([&]() { JsonScanner("a.json", text).Skip(); });
        NS_TEST_EXPECT_MSG_EQ(actual.substr(0, refusal.size()), refusal, "refused");
    }
    const std::string nested = R"([{"a": [[], {}, "]}\"", -1e5, null]}, [[{"b": {}}]]] )";
    JsonScanner scanner("a.json", nested);
    scanner.Skip();
    NS_TEST_EXPECT_MSG_EQ(scanner.Peek(), 0, "goes past all of it");
}

const Suite g_suite("json",
                    Duration::QUICK,
                    {{"escapes become UTF-8", TestEscapes},
                     {"every character, escaped and written", TestCodePoints},
                     {"escapes that are refused", TestRefusals},
                     {"what the writer writes is read back", TestWriter},
                     {"objects and arrays", TestStructure}});

} // namespace ns3::training::tests::json_test
