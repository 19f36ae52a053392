/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/yaml.h"
#include "test-case.h"

#include "ns3/training-json-writer.h"

namespace ns3::training::tests::yaml_test
{

/** @return a value as JSON whose values are all texts */
std::string
ToText(const YamlValue& value)
{
    if (value.kind == YamlValue::Kind::TEXT)
    {
        return QuoteJson(value.text);
    }
    const bool isList = value.kind == YamlValue::Kind::LIST;
    std::string text;
    for (const YamlValue& element : value.list)
    {
        text += (text.empty() ? "" : ",") + ToText(element);
    }
    for (const auto& [key, member] : value.members)
    {
        text += (text.empty() ? "" : ",") + QuoteJson(key) + ":" + ToText(member);
    }
    return (isList ? "[" : "{") + text + (isList ? "]" : "}");
}

std::string
Read(const std::string& text)
{
    return ToText(ParseYaml("a.yaml", text));
}

void
TestBlocks()
{
    const std::pair<std::string, std::string> cases[] = {
        {"a: 1\nb: two words\n", R"({"a":"1","b":"two words"})"},
        {"---\n# first\na: 1 # one\n\nb: x#y\n", R"({"a":"1","b":"x#y"})"},
        {"- 1\n- - 2\n  - 3\n- a: 4\n  b: 5\n", R"(["1",["2","3"],{"a":"4","b":"5"}])"},
        {"a:\n  b:\n    - 1\n    - 2\n  c: 3\nd:\n- 4\n",
         R"({"a":{"b":["1","2"],"c":"3"},"d":["4"]})"},
        {"a:\nb: 1\n", R"({"a":"","b":"1"})"},
        {"a: one\n  two\n  three\nb: 1\n", R"({"a":"one two three","b":"1"})"},
        {"a: |\n  one\n  two\nb: >\n  three\n", R"({"a":"one two","b":"three"})"},
        {"a: [1, [2, 3], {b: 4}]\nc: {d: e f, g: []}\n",
         R"({"a":["1",["2","3"],{"b":"4"}],"c":{"d":"e f","g":[]}})"},
        {"a: [1,\n  2, # two\n  3]\nb: 4\n", R"({"a":["1","2","3"],"b":"4"})"},
        {"time: 12:30:00\r\nurl: http://x\r\n", R"({"time":"12:30:00","url":"http://x"})"},
        {"just a text", R"("just a text")"}};
    for (const auto& [text, json] : cases)
    {
        NS_TEST_EXPECT_MSG_EQ(Read(text), json, text);
    }
    const YamlValue value = ParseYaml("a.yaml", "\na:\n  - 1\n\n  - b: [2,\n      3]\n");
    const YamlValue* list = value.Find("a");
    NS_TEST_ASSERT_MSG_NE(list, nullptr, "a member");
    NS_TEST_ASSERT_MSG_EQ(list->list.size(), 2, "elements");
    NS_TEST_EXPECT_MSG_EQ(list->line, 3, "line");
    NS_TEST_EXPECT_MSG_EQ(list->list[0].line, 3, "line");
    NS_TEST_EXPECT_MSG_EQ(list->list[1].line, 5, "line");
    NS_TEST_EXPECT_MSG_EQ(list->list[1].Find("b")->list[1].line, 6, "line");
    NS_TEST_EXPECT_MSG_EQ(ParseYaml("a.yaml", "a:\nb:\n").Find("b")->line, 2, "line");
    NS_TEST_EXPECT_MSG_EQ(value.Find("b"), nullptr, "no member");
    NS_TEST_EXPECT_MSG_EQ(list->Find("a"), nullptr, "no mapping");
}

void
TestQuotes()
{
    const std::pair<std::string, std::string> cases[] = {
        {R"(a: "x: [y] # z" # comment)", R"({"a":"x: [y] # z"})"},
        {R"(a: 'it''s # "x"' # comment)", R"({"a":"it's # \"x\""})"},
        {R"("a: b": c)", R"({"a: b":"c"})"},
        {R"('a''s: b': c)", R"({"a's: b":"c"})"},
        {R"("a\": b" : c)", R"({"a\": b":"c"})"},
        {R"("a\" # b": c # comment)", R"({"a\" # b":"c"})"},
        {R"(a: "x\" # y" # comment)", R"({"a":"x\" # y"})"},
        {R"(["\u00e9\ud834\udd1e\n\\", "\"", '\n'])",
         "[\"\xC3\xA9\xF0\x9D\x84\x9E\\n\\\\\",\"\\\"\",\"\\\\n\"]"},
        {R"({"\u0061": "\/"})", R"({"a":"/"})"},
        {R"(- "\u0061": 1)", R"([{"a":"1"}])"},
        {R"(a: x "y" \n)", R"({"a":"x \"y\" \\n"})"}};
    for (const auto& [text, json] : cases)
    {
        NS_TEST_EXPECT_MSG_EQ(Read(text), json, text);
    }
}

/** What the writer of JSON writes is read back. */
void
TestJson()
{
    const std::string odd = "k\"\\\n\t\x01\x7F'#: {[\xC2\xB5\xF0\x9D\x84\x9E";
    auto inner = JsonValue::Object();
    inner.Set(odd, JsonValue::Array().Append(odd).Append("-").Append(""));
    auto value = JsonValue::Object();
    value.Set("list", JsonValue::Array().Append(inner).Append(JsonValue::Array()));
    value.Set("x", JsonValue::Object());
    for (int indent : {-1, 0, 2, 4})
    {
        NS_TEST_EXPECT_MSG_EQ(Read(value.Write(indent)), value.Write(), "indented by " << indent);
    }
}

void
TestRefusals()
{
    const std::pair<std::string, std::string> cases[] = {
        {"", "a.yaml:1: empty file (allowed: YAML or JSON)"},
        {"# nothing\n", "a.yaml:1: empty file (allowed: YAML or JSON)"},
        {"a: 1\n---\nb: 2\n", "a.yaml:2: '---' (allowed: one document)"},
        {"a:\n\tb: 1\n", "a.yaml:2: 'b: 1' (allowed: spaces before the content of a line)"},
        {"a: 1\n  b: 2\n", "a.yaml:2: 'b: 2' (allowed: lines that are indented as others before)"},
        {"a: 1\nb\n", "a.yaml:2: 'b' (allowed: 'key: value')"},
        {"a: 1\na: 2\n", "a.yaml:2: 'a: 2' (allowed: each key once)"},
        {"a: 1\n\"\\u0061\": 2\n", "a.yaml:2: '\"\\u0061\": 2' (allowed: each key once)"},
        {"\"a\"b: 2\n", "a.yaml:1: '\"a\"b: 2' (allowed: 'key: value')"},
        {"-\n", "a.yaml:1: '-' (allowed: an element behind '- ')"},
        {"a: &x 1\n",
         "a.yaml:1: 'a: &x 1' (allowed: texts, lists and mappings without anchors and tags)"},
        {"a: \"x\n", "a.yaml:1: 'a: \"x' (allowed: a text that ends with \")"},
        {"a: [1\n", "a.yaml:1: 'a: [1' (allowed: a value that ends with ']')"},
        {"a: [1} \n", "a.yaml:1: 'a: [1}' (allowed: ',' or ']')"},
        {"a: {b}\n", "a.yaml:1: 'a: {b}' (allowed: 'key: value', each key once)"},
        {"a: [1] 2\n", "a.yaml:1: 'a: [1] 2' (allowed: nothing behind a value)"},
        {"a: 1\nb: \"\\x41\"\n", "a.yaml:2: 'b: \"\\x41\"' (allowed: an escape \\\", "},
        {"a: \"x\n  \\ud800\"\n", "a.yaml:2: '\\ud800\"' (allowed: a pair of surrogates, "},
        {"a: \"\\u12\"\n", "a.yaml:1: 'a: \"\\u12\"' (allowed: four hexadecimal digits "},
        {"a: \"\\", "a.yaml:1: 'a: \"\\' (allowed: an escape \\\", "},
        {std::string(100000, '['), "a.yaml:1: '[[["}};
    for (const auto& [text, refusal] : cases)
    {
        const std::string actual = GetRefusal([&text = text]() { ParseYaml("a.yaml", text); });
        NS_TEST_EXPECT_MSG_EQ(actual.substr(0, refusal.size()), refusal, text.substr(0, 40));
    }
}

const Suite g_suite("yaml",
                    Duration::QUICK,
                    {{"blocks, brackets, comments and lines", TestBlocks},
                     {"quotes and escapes", TestQuotes},
                     {"JSON is read as it is written", TestJson},
                     {"malformed files, and YAML that is not read", TestRefusals}});

} // namespace ns3::training::tests::yaml_test
