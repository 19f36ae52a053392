/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "core/memory.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/object.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-key-values.h"
#include "ns3/uinteger.h"

namespace ns3::training::tests::key_values_test
{

/** A kind for the registry. */
struct Fruit
{
    static constexpr const char* KIND = "fruit";
    std::string help;
    std::vector<Key> keys;
    bool hasSides{false};
};

/** @return description of the first value of some fruits */
std::optional<FirstValue>
GetFirstValue(const Fruit& fruit)
{
    if (!fruit.hasSides)
    {
        return std::nullopt;
    }
    return FirstValue{"AxB", "two sides", false, false, [](const std::string& text) {
                          return text.find('x') != std::string::npos;
                      }};
}

const Registry<Fruit>::Entry g_pear("pear",
                                    {"a pear",
                                     {Key::Count("seeds", 5, 1, 9, "number of seeds"),
                                      Key::Number("weight", 0.2, 0, 1.5, "kg"),
                                      Key::Word("colour", "green", {"green", "red"}, "of the skin"),
                                      Key::Of("age", Key::Type::TIME, "", "since harvest"),
                                      Key::Of("flow", Key::Type::RATE, "1Gbps", "of juice"),
                                      Key::Of("size", Key::Type::BYTES, "1KiB", "of its genome"),
                                      Key::Of("ripe", Key::Type::BOOLEAN, "false", "or not")}});
const Registry<Fruit>::Entry g_fig("fig", {"a fig", {}, true});
const Registry<Fruit>::Entry g_type("ns3::Fruit", {"a fruit with a type", {}});

/** A kind whose alternatives have no keys. */
struct Spice
{
    static constexpr const char* KIND = "spice";
    std::string help;
};

const Registry<Spice>::Entry g_mace("mace", {"a spice"});

/** An object with attributes, for keys that set them. */
class Basket : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::TestBasket")
                                .SetParent<Object>()
                                .AddConstructor<Basket>()
                                .AddAttribute("MaxLoad",
                                              "most that it carries, kg",
                                              DoubleValue(2.5),
                                              MakeDoubleAccessor(&Basket::load),
                                              MakeDoubleChecker<double>(0, 10))
                                .AddAttribute("Handles",
                                              "number of handles",
                                              UintegerValue(2),
                                              MakeUintegerAccessor(&Basket::handles),
                                              MakeUintegerChecker<uint32_t>(1, 4))
                                .AddAttribute("Delay",
                                              "of a hand-over",
                                              TimeValue(MicroSeconds(3)),
                                              MakeTimeAccessor(&Basket::delay),
                                              MakeTimeChecker(MicroSeconds(1), MilliSeconds(4)))
                                .AddAttribute("Rest",
                                              "between two hand-overs",
                                              TimeValue(Time(0)),
                                              MakeTimeAccessor(&Basket::rest),
                                              MakeTimeChecker())
                                .AddAttribute("Third",
                                              "part of the load",
                                              DoubleValue(0.25),
                                              MakeDoubleAccessor(&Basket::third),
                                              MakeDoubleChecker<double>(-1.0 / 3, 1.0 / 3))
                                .AddAttribute("Flow",
                                              "of juice",
                                              DataRateValue(DataRate(100000000)),
                                              MakeDataRateAccessor(&Basket::flow),
                                              MakeDataRateChecker())
                                .AddAttribute("Closed",
                                              "or not",
                                              BooleanValue(false),
                                              MakeBooleanAccessor(&Basket::closed),
                                              MakeBooleanChecker());
        return tid;
    }

    double load;
    uint32_t handles;
    Time delay;
    Time rest;
    double third;
    DataRate flow;
    bool closed;
};

/** An object that inherits attributes. */
class LargeBasket : public Basket
{
  public:
    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::TestBasketLarge")
                                .SetParent<Basket>()
                                .AddConstructor<LargeBasket>();
        return tid;
    }
};

/** Given values are read back, missing ones get their default. */
void
TestKeyValuesRead()
{
    const auto pear =
        Choose<Fruit>("pear:seeds=7,colour=red,age=3ms,size=2KiB,ripe=true,flow=5Gbit/s");
    NS_TEST_ASSERT_MSG_EQ(pear.entry->help, "a pear", "entry");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetName(), "pear", "name");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetCount("seeds"), 7, "count");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetNumber("weight"), 0.2, "default of a number");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetText("colour"), "red", "word");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetTime("age"), MilliSeconds(3), "time");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetBytes("size"), 2048, "size");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetRate("flow").GetBitRate(), 5000000000, "rate");
    NS_TEST_ASSERT_MSG_EQ(pear.values.GetBoolean("ripe"), true, "boolean");
    NS_TEST_ASSERT_MSG_EQ(Choose<Fruit>("pear:ripe,seeds=2").values.GetBoolean("ripe"),
                          true,
                          "a key alone");
    NS_TEST_ASSERT_MSG_EQ(pear.values.IsGiven("weight"), false, "not given");
    NS_TEST_ASSERT_MSG_EQ(pear.values.Has("weight"), true, "but has a value");
    NS_TEST_ASSERT_MSG_EQ(Choose<Fruit>("pear").values.Has("age"), false, "no default");
    NS_TEST_ASSERT_MSG_EQ(Choose<Fruit>("fig:4x4").values.GetFirst(), "4x4", "first value");
    NS_TEST_ASSERT_MSG_EQ(Choose<Fruit>("fig").values.GetFirst(), "", "no first value");
    NS_TEST_ASSERT_MSG_EQ(Choose<Fruit>("ns3::Fruit").entry->help,
                          "a fruit with a type",
                          "two colons are part of a name");
    KeyValues whole = KeyValues::Split("file:a,b=c:d");
    whole.Check("fruit", {}, FirstValue{"PATH", "a file", true, true, nullptr});
    NS_TEST_ASSERT_MSG_EQ(whole.GetFirst(), "a,b=c:d", "everything behind the colon");
}

/** Invalid input is refused by one line with the allowed values. */
void
TestKeyValuesRefusal()
{
    for (const std::string& text : Split("apple||pear:|pear:seeds|pear:seeds=0|pear:seeds=10|"
                                         "pear:seeds=-1|pear:seeds=5x|pear:seeds=5,seeds=5|"
                                         "pear:weight=1.6|pear:weight=nan|pear:colour=blue|"
                                         "pear:age=3|pear:flow=fast|pear:ripe=yes|pear:ripe=|"
                                         "pear:ripe,ripe=false|pear:stones=1|pear:seeds=5,|"
                                         "pear:,seeds=5|fig:4|fig:4x4,4x4|ns3::Fruit:seeds=1"))
    {
        const std::string message = GetRefusal([&] { Choose<Fruit>(text); });
        NS_TEST_ASSERT_MSG_NE(message, "", text << " is refused");
        NS_TEST_ASSERT_MSG_NE(message.find("(allowed: "), std::string::npos, message);
        NS_TEST_ASSERT_MSG_EQ(message.find('\n'), std::string::npos, message);
    }
    NS_TEST_ASSERT_MSG_EQ(GetRefusal([] {
                              Choose<Fruit>("pear:seeds=0");
                          }).find("fruit 'pear:seeds=0': 'seeds=0' (allowed: seeds=1 to 9, "),
                          0,
                          "the text, the part, and the limits");
}

/** Keys that set attributes of ns-3. */
void
TestKeyValuesAttribute()
{
    const auto keys = GetAttributeKeys(Basket::GetTypeId(), {"Handles"});
    NS_TEST_ASSERT_MSG_EQ(keys.size(), 6, "all but the exception");
    NS_TEST_ASSERT_MSG_EQ(keys[0].name, "max-load", "name");
    NS_TEST_ASSERT_MSG_EQ(keys[0].help, "most that it carries, kg", "help");
    NS_TEST_ASSERT_MSG_EQ(keys[0].initial, "2.5", "default");
    NS_TEST_ASSERT_MSG_EQ(keys[0].attribute, "ns3::training::TestBasket::MaxLoad", "full name");
    NS_TEST_ASSERT_MSG_EQ(keys[0].Allows("10"), true, "limit");
    NS_TEST_ASSERT_MSG_EQ(keys[0].Allows("10.5"), false, "beyond the limit");
    NS_TEST_ASSERT_MSG_EQ(keys[1].initial, "3us", "default of a time");
    const Key handles = Key::Attribute(Basket::GetTypeId(), "Handles");
    NS_TEST_ASSERT_MSG_EQ(handles.GetAllowed(), "1 to 4", "limits of an attribute");
    NS_TEST_ASSERT_MSG_EQ(handles.max, 4, "as a number");
    NS_TEST_ASSERT_MSG_EQ(keys[0].GetAllowed(), "0 to 10", "limits of a decimal number");
    NS_TEST_ASSERT_MSG_EQ(Key::Attribute(Basket::GetTypeId(), "Third").GetAllowed(),
                          "a number",
                          "a limit that ns-3 does not tell to the last digit");
    NS_TEST_ASSERT_MSG_EQ(Key::Attribute(Basket::GetTypeId(), "Third").Allows("0.34"),
                          false,
                          "but holds");
    NS_TEST_ASSERT_MSG_EQ(keys[1].GetAllowed(), "a time from 1us to 4ms", "limits of a time");
    NS_TEST_ASSERT_MSG_EQ(keys[1].Allows("5ms"), false, "beyond them");
    NS_TEST_ASSERT_MSG_EQ(keys[4].GetTypeName(), "rate", "type of a rate");
    NS_TEST_ASSERT_MSG_EQ(keys[4].initial, "100Mbps", "default of a rate");
    NS_TEST_ASSERT_MSG_EQ(keys[4].Allows("12.5GB/s"), true, "a unit that ns-3 does not know");
    NS_TEST_ASSERT_MSG_EQ(keys[5].GetTypeName(), "boolean", "type of a truth value");
    NS_TEST_ASSERT_MSG_EQ(keys[5].GetAllowed(), "true|false", "truth values");
    NS_TEST_ASSERT_MSG_EQ(Key::Attribute(Basket::GetTypeId(), "Rest").GetAllowed(),
                          "a time with a unit",
                          "no limits of a time");
    KeyValues values = KeyValues::Split("basket:max-load=4,delay=2ms");
    values.Check("basket", keys);
    ObjectFactory factory;
    factory.SetTypeId(Basket::GetTypeId());
    const AttributeList attributes = values.GetAttributes(keys);
    attributes.ApplyTo(factory);
    const auto made = factory.Create<Basket>();
    NS_TEST_ASSERT_MSG_EQ(made->load, 4, "set by the factory");
    NS_TEST_ASSERT_MSG_EQ(made->delay, MilliSeconds(2), "a time");
    NS_TEST_ASSERT_MSG_EQ(made->handles, 2, "left alone");
    const auto other = CreateObject<Basket>();
    attributes.ApplyTo(*other);
    NS_TEST_ASSERT_MSG_EQ(other->load, 4, "set in an object");
    NS_TEST_ASSERT_MSG_EQ(CreateObject<Basket>()->load, 2.5, "defaults stay");
}

/** A list sets attributes of its types only, and reports values that no object took. */
void
TestAttributeList()
{
    const std::string type = Basket::GetTypeId().GetName();
    NS_TEST_ASSERT_MSG_EQ(LargeBasket::GetTypeId().GetName(), type + "Large", "registered");
    AttributeList list;
    NS_TEST_ASSERT_MSG_EQ(list.IsEmpty(), true, "new");
    list.Set(type + "::MaxLoad", "1");
    list.Set(type + "::Delay", "4ms");
    list.Set(type + "Large::MaxLoad", "9");
    list.Set(type + "::MaxLoad", "3"); // later, but less specific: it does not win
    list.Set(type + "Large::MaxLoad", "8");
    NS_TEST_ASSERT_MSG_EQ(list.Has(LargeBasket::GetTypeId(), "MaxLoad"), true, "has");
    NS_TEST_ASSERT_MSG_EQ(list.Has(Basket::GetTypeId(), "Handles"), false, "has not");
    const auto get = [&](const std::string& attribute) {
        return list.Get(Basket::GetTypeId(), attribute)->SerializeToString(nullptr);
    };
    NS_TEST_ASSERT_MSG_EQ(get("MaxLoad"), "3", "value of the list");
    NS_TEST_ASSERT_MSG_EQ(get("Handles"), "2", "default");
    NS_TEST_ASSERT_MSG_EQ(list.GetUnused().size(), 3, "none is used yet");

    ObjectFactory factory;
    factory.SetTypeId(Basket::GetTypeId());
    list.ApplyTo(factory);
    const auto basket = factory.Create<Basket>();
    NS_TEST_ASSERT_MSG_EQ(basket->load, 3, "not that of the derived type");
    NS_TEST_ASSERT_MSG_EQ(basket->delay, MilliSeconds(4), "time");
    NS_TEST_ASSERT_MSG_EQ(list.GetUnused().size(), 1, "that of the derived type");
    NS_TEST_ASSERT_MSG_EQ(list.GetUnused().front(), type + "Large::MaxLoad=8", "as text");
    const auto large = CreateObject<LargeBasket>();
    list.ApplyTo(*large);
    NS_TEST_ASSERT_MSG_EQ(large->load, 8, "derived");
    NS_TEST_ASSERT_MSG_EQ(large->delay, MilliSeconds(4), "inherited");
    NS_TEST_ASSERT_MSG_EQ(list.GetUnused().size(), 0, "all are used");

    AttributeList more;
    more.Set(type + "::Handles", "4");
    more.Add(list);
    {
        const AttributeDefaults defaults(more);
        NS_TEST_ASSERT_MSG_EQ(CreateObject<Basket>()->handles, 4, "default for a while");
    }
    NS_TEST_ASSERT_MSG_EQ(more.GetUnused().size(), 0, "defaults count as use");
    NS_TEST_ASSERT_MSG_EQ(CreateObject<Basket>()->handles, 2, "former default");
    NS_TEST_ASSERT_MSG_EQ(CreateObject<Basket>()->load, 2.5, "former default");
    NS_TEST_ASSERT_MSG_EQ(CreateObject<LargeBasket>()->load, 2.5, "former default");

    for (const auto& [name, value, reason] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {type + "::MaxLoad", "11", "::MaxLoad=11 (allowed: 0 to 10)"},
             {type + "::MaxLoad", "much", "(allowed: "},
             {type + "::Handles", "-1", "::Handles=-1 (allowed: 1 to 4)"},
             {type + "::Delay", "4", "(allowed: a time from 1us to 4ms)"},
             {type + "::Lid", "1", "has no attribute 'Lid' (allowed: MaxLoad, Handles, Delay"},
             {"ns3::training::Bag::Lid", "1", "there is no type 'ns3::training::Bag'"},
             {"Lid", "1", "there is no type 'Lid'"}})
    {
        const std::string text =
            GetRefusal([&list, &name = name, &value = value] { list.Set(name, value); });
        ExpectPart(text, reason);
        NS_TEST_EXPECT_MSG_EQ(text.find("attribute " + name + "=" + value), 0, text);
    }
}

/** Descriptions for help and JSON. */
void
TestKeyValuesDescription()
{
    const auto all = DescribeAlternatives<Fruit>();
    NS_TEST_ASSERT_MSG_EQ(all.size(), 3, "fig, ns3::Fruit, pear");
    NS_TEST_ASSERT_MSG_EQ(all[0].first->name, "AxB", "first value");
    const std::vector<std::string> allowed{"1 to 9",
                                           "0 to 1.5",
                                           "green|red",
                                           "a time with a unit",
                                           "a rate with a unit",
                                           "a size of 0 and more",
                                           "true|false"};
    const std::vector<std::string>
        types{"count", "number", "word", "time", "rate", "bytes", "boolean"};
    for (std::size_t i = 0; i < allowed.size(); i++)
    {
        NS_TEST_ASSERT_MSG_EQ(all[2].keys[i].GetAllowed(), allowed[i], "values allowed");
        NS_TEST_ASSERT_MSG_EQ(all[2].keys[i].GetTypeName(), types[i], "type");
    }
    const auto spices = DescribeAlternatives<Spice>();
    NS_TEST_ASSERT_MSG_EQ(spices.size(), 1, "mace");
    NS_TEST_ASSERT_MSG_EQ(spices[0].keys.size(), 0, "a kind without keys");
    NS_TEST_ASSERT_MSG_EQ(Choose<Spice>("mace").entry->help, "a spice", "chosen by name");
    Key seeds = all[2].keys[0];
    seeds.words = {"auto"};
    NS_TEST_ASSERT_MSG_EQ(seeds.GetAllowed(), "auto, or 1 to 9", "a word beside numbers");
    NS_TEST_ASSERT_MSG_EQ(seeds.Allows("auto"), true, "the word");
    NS_TEST_ASSERT_MSG_EQ(seeds.Allows("9"), true, "a number");
    NS_TEST_ASSERT_MSG_EQ(seeds.Allows("10"), false, "a number beyond the limit");
}

/** Files that would crash a parser or fill the memory. */
void
TestInputLimits()
{
    const auto repeat = [](const std::string& text, uint32_t times) {
        std::string all;
        for (uint32_t i = 0; i < times; i++)
        {
            all += text;
        }
        return all;
    };
    const auto check = [](const std::string& text) {
        return GetRefusal([&] { CheckNesting(text, "f"); });
    };
    const std::string values = "<a b='<' c=\"/>\">";
    for (const std::string open : {"[", "{\"a]}\\\"\":", "<a>", values.c_str()})
    {
        NS_TEST_EXPECT_MSG_EQ(check(repeat(open, MAX_NESTING)), "", open);
        ExpectPart(check(repeat(open, MAX_NESTING + 1)), "f:1: nested too deeply (allowed: up");
        ExpectPart(check(repeat(open + "\n", 50000)), "f:65: nested too deeply");
    }
    NS_TEST_EXPECT_MSG_EQ(check(repeat("[{}]", 1000)), "", "side by side");
    NS_TEST_EXPECT_MSG_EQ(check("\"" + repeat("[", 1000) + "\""), "", "in a string");
    NS_TEST_EXPECT_MSG_EQ(check(repeat("<a/><b></b>", 1000)), "", "side by side");
    NS_TEST_EXPECT_MSG_EQ(check("<?xml?><!--" + repeat("<a>", 99) + "--><a/>"), "", "comment");
    for (const std::string malformed : {"", "<", "<a", "<!--", "\"", "\"\\", "]]", "</a></a>"})
    {
        NS_TEST_EXPECT_MSG_EQ(check(malformed), "", "left to the parser");
    }

    ExpectPart(GetRefusal([] { ReadInputFile("/dev/zero"); }), "/dev/zero: is too long");
    NS_TEST_EXPECT_MSG_EQ(ReadInputFile("/dev/null").value_or("none"), "", "an empty file");
    NS_TEST_EXPECT_MSG_EQ(ReadInputFile("/").has_value(), false, "a directory");
    NS_TEST_EXPECT_MSG_EQ(ReadInputFile("/nosuch").has_value(), false, "no file");

    const double available = GetAvailableMemory();
    NS_TEST_EXPECT_MSG_GT(available, 1 << 20, "some memory");
    NS_TEST_EXPECT_MSG_LT(available, 1e18, "but not all");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([] { CheckMemory(1, "it"); }), "", "little");
    ExpectPart(GetRefusal([] { CheckMemory(1e18, "it"); }),
               "it: needs about 9.31e+08 GiB of memory (allowed: up to ");

    NS_TEST_EXPECT_MSG_EQ(MakePrintableName("ring 2 ~"), "ring 2 ~", "printable");
    NS_TEST_EXPECT_MSG_EQ(MakePrintableName("a\n\x1b[1m\xc3\xa4"), "a??[1m??", "replaced");
    NS_TEST_EXPECT_MSG_EQ(MakePrintableName(std::string(1000, 'x')).size(), 100, "shortened");
}

const Suite g_suite(
    "key-values",
    Duration::QUICK,
    {{"values of all types, defaults, a first value, names with colons", TestKeyValuesRead},
     {"unknown names and keys, wrong values, keys given twice", TestKeyValuesRefusal},
     {"values of attributes for some objects, refusals and restored defaults", TestAttributeList},
     {"keys made of attributes set them, within their range", TestKeyValuesAttribute},
     {"descriptions of alternatives, types and limits", TestKeyValuesDescription},
     {"input: nested text, endless files, memory, names", TestInputLimits}});

} // namespace ns3::training::tests::key_values_test
