/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/size-list.h"
#include "test-case.h"

#include "ns3/data-rate.h"
#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/program-options.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <limits>
#include <sstream>

namespace ns3::training::tests::program_options_test
{

/** Numbers with units as typed by users. */
void
TestQuantity()
{
    constexpr uint64_t MAX_NUMBER = std::numeric_limits<int64_t>::max();

    for (const auto& [text, bytes] :
         std::vector<std::pair<std::string, uint64_t>>{{"0", 0},
                                                       {"8", 8},
                                                       {"8B", 8},
                                                       {"64KiB", 65536},
                                                       {"64K", 65536},
                                                       {"25MiB", 26214400},
                                                       {"25M", 26214400},
                                                       {"1GiB", 1ULL << 30},
                                                       {"1G", 1ULL << 30},
                                                       {"2TiB", 2ULL << 40},
                                                       {"1kB", 1000},
                                                       {"1KB", 1000},
                                                       {"100MB", 100000000},
                                                       {"3GB", 3000000000},
                                                       {"1TB", 1000000000000},
                                                       {"1.5KiB", 1536},
                                                       {"0.5M", 524288},
                                                       {"9223372036854775807", MAX_NUMBER}})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseBytes(text).value_or(12345), bytes, text);
    }
    for (const std::string& text : Split("| 8|8 |8 KiB|-8|8kiB|8Mib|KiB|8x|1.1|0.3KiB|1e3|0x10|"
                                         "nan|inf|1..5K|8KK|9223372036854775808|8388608TiB|"
                                         "99999999999999999999G"))
    {
        NS_TEST_EXPECT_MSG_EQ(ParseBytes(text).has_value(), false, "bytes: " << text);
    }
    for (const uint64_t bytes : {uint64_t(0),
                                 uint64_t(1),
                                 uint64_t(1023),
                                 uint64_t(26214400),
                                 uint64_t(1000000),
                                 uint64_t(1) << 40,
                                 MAX_NUMBER})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseBytes(FormatBytes(bytes)).value(), bytes, "round trip");
    }
    NS_TEST_EXPECT_MSG_EQ(FormatBytes(25 << 20), "25MiB", "format");

    for (const auto& [text, rate] :
         std::vector<std::pair<std::string, uint64_t>>{{"100Gbps", 100000000000},
                                                       {"100Gbit/s", 100000000000},
                                                       {"100Gb/s", 100000000000},
                                                       {"12.5GB/s", 100000000000},
                                                       {"12.5GBps", 100000000000},
                                                       {"0.1Tbps", 100000000000},
                                                       {"10Mbps", 10000000},
                                                       {"1.5kbps", 1500},
                                                       {"1Kbps", 1000},
                                                       {"1bps", 1}})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseRate(text).value_or(DataRate(7)), DataRate(rate), text);
    }
    for (const std::string& text : Split("|100|100G|0bps|0Gbps|0.1bps|-1Gbps|1 Gbps|1gbps|"
                                         "nanGbps|Gbps|1Gbps |1e2Gbps|99999999Tbps|1Gbpsx"))
    {
        NS_TEST_EXPECT_MSG_EQ(ParseRate(text).has_value(), false, "rate: " << text);
    }
    NS_TEST_EXPECT_MSG_EQ(FormatRate(DataRate(100000000000)), "100Gbps", "format");
    NS_TEST_EXPECT_MSG_EQ(FormatRate(DataRate(1234567)), "1234567bps", "format");

    for (const auto& [text, time] :
         std::vector<std::pair<std::string, Time>>{{"0", Time(0)},
                                                   {"0s", Time(0)},
                                                   {"1ps", PicoSeconds(1)},
                                                   {"500ns", NanoSeconds(500)},
                                                   {"0.5us", NanoSeconds(500)},
                                                   {"1.25ms", MicroSeconds(1250)},
                                                   {"3s", Seconds(3)},
                                                   {"2min", Seconds(120)},
                                                   {"1h", Seconds(3600)}})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseTime(text).value_or(Seconds(7)), time, text);
    }
    for (const std::string& text : Split("|1|500|-1ns|1 ns|ns|1nss|1e3ns|nans|infs|1d|"
                                         "9999999999s|1ns\n"))
    {
        NS_TEST_EXPECT_MSG_EQ(ParseTime(text).has_value(), false, "time: " << text);
    }
    NS_TEST_EXPECT_MSG_EQ(FormatTime(NanoSeconds(500)), "500ns", "format");
    NS_TEST_EXPECT_MSG_EQ(FormatTime(PicoSeconds(1500)), "1500ps", "format");
    NS_TEST_EXPECT_MSG_EQ(FormatTime(NanoSeconds(-500)), "-500ns", "negative");
    NS_TEST_EXPECT_MSG_EQ(FormatTime(PicoSeconds(-1)), "-1ps", "negative");
    NS_TEST_EXPECT_MSG_EQ(FormatTime(PicoSeconds(std::numeric_limits<int64_t>::min())),
                          "-9223372036854775808ps",
                          "the least one");

    NS_TEST_EXPECT_MSG_EQ(ParseUnsigned("18446744073709551615").value(),
                          std::numeric_limits<uint64_t>::max(),
                          "64 bits");
    for (const std::string text : {"", "+", "-1", "1.0", "18446744073709551616", "1 ", "x"})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseUnsigned(text).has_value(), false, "unsigned: " << text);
    }
    NS_TEST_EXPECT_MSG_EQ(ParseDouble("-2.5e-3").value(), -2.5e-3, "double");
    for (const std::string text : {"", ".", "e", "1e", "1e999", "nan", "inf", "0x1", "1 ", "1-1"})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseDouble(text).has_value(), false, "double: " << text);
    }
}

/** @return two alternatives, one of them with a first value and keys */
std::vector<AlternativeDescription>
ListTopologies()
{
    AlternativeDescription grid{"grid", "hosts in rows", {"rows are rings"}, {}, {}};
    grid.first = FirstValue{"4x4", "sides", false, true, {}};
    grid.keys = {Key::Count("lanes", 1, 1, 8, "links in parallel"),
                 Key::Of("cable", Key::Type::TIME, "", "delay of one")};
    grid.keys[1].attribute = "CableDelay";
    return {grid, {"ring", "hosts in a ring", {}, {}, {}}};
}

/** The program's variables. */
struct Program
{
    std::string workload{"resnet50"};                        ///< text
    std::string transport{"rdma"};                           ///< a choice
    uint64_t ranks{16};                                      ///< a whole number
    double scale{1};                                         ///< a number
    bool overlap{true};                                      ///< a truth value
    DataRate rate{100000000000};                             ///< a rate
    Time delay{NanoSeconds(500)};                            ///< a time
    uint64_t bucket{25 << 20};                               ///< a size
    std::string topology{"ring"};                            ///< an alternative with keys
    std::string model{"small"};                              ///< an alternative or other text
    std::string mtu{"auto"};                                 ///< a word or a whole number
    std::vector<std::string> faults;                         ///< a list
    std::string json;                                        ///< text without default
    ProgramOptions options{"test-program", "Does nothing."}; ///< its options

    Program()
    {
        options.Group("Job");
        options.AddString("workload", "model to train", workload);
        options.AddUnsigned("ranks", "number of workers", ranks, 1, 1024);
        options.AddDouble("compute-scale", "factor on compute times", scale, 0, 1000);
        options.AddBool("overlap", "communicate during backward", overlap);
        options.AddBytes("bucket", "cap of a bucket", bucket, 1);
        options.Group("Network");
        options.AddChoice("transport", "who carries messages", transport, {"rdma", "tcp"});
        options.AddRate("rate", "rate of links", rate);
        options.AddTime("delay", "delay of links", delay);
        options.AddKind("topology", "network", "links of hosts", topology, &ListTopologies);
        options.AddKind(
            "model",
            "model",
            "latency of hosts",
            model,
            [] {
                return std::vector<AlternativeDescription>{{"small", "little", {}, {}, {}},
                                                           {"grid", "in rows", {}, {}, {}}};
            },
            "a CSV file");
        Key key = Key::Count("mtu", 0, 256, 9000, "largest payload");
        key.words = {"auto"};
        options.Add(key, mtu);
        options.AddList("fault", "faults of links", faults);
        options.Group("Output");
        options.AddString("json", "file for results", json);
        options.AddRenamed("sides", "--topology=grid:VALUE", "grid");
        options.AddRenamed("topology=mesh", "--topology=grid", "grid");
        options.AddToDescription("measured", JsonValue::Array().Append("time_s"));
    }
};

/** @param arguments a command line @return the text of the ConfigurationError, or nothing */
std::string
Try(const std::vector<std::string>& arguments)
{
    Program program;
    return GetRefusal([&] { program.options.Parse(arguments); });
}

/** @param argument an argument @param parts texts that the message must contain */
void
Refuse(const std::string& argument, const std::vector<std::string>& parts)
{
    const std::string message = Try({argument});
    for (const auto& part : parts)
    {
        ExpectPart(message, part, argument);
    }
    ExpectPart(message, "(allowed: ");
    NS_TEST_EXPECT_MSG_EQ(message.find('\n'), std::string::npos, message);
}

/** Checks the overview and the details. */
void
CheckHelp()
{
    const Program program;
    std::ostringstream overview;
    program.options.Describe().PrintOverview(overview);
    for (const std::string part : {"Job:\n",
                                   "Network:\n",
                                   "number of workers [16]",
                                   "who carries messages: rdma|tcp [rdma]",
                                   "rate of links [100Gbps]",
                                   "delay of links [500ns]",
                                   "cap of a bucket [25MiB]",
                                   "communicate during backward [true]",
                                   "links of hosts: grid, ring [ring]",
                                   "latency of hosts: small, grid, or a CSV file [small]",
                                   "file for results\n",
                                   "--help=topology or --help=grid\n",
                                   "ps, ns, us"})
    {
        ExpectPart(overview.str(), part);
    }
    const std::string grid = "grid: hosts in rows\n"
                             "    rows are rings\n"
                             "    4x4        sides (required, first)\n"
                             "    lanes=1    links in parallel (count 1 to 8)\n"
                             "    cable=...  delay of one (a time with a unit; attribute "
                             "CableDelay)\n";
    const std::string other = "model grid: in rows\n";
    const std::string topology = "--topology=ring\n"
                                 "    links of hosts\n"
                                 "    allowed: NAME or NAME:key=value,... of these; --help=NAME "
                                 "explains the keys of one\n"
                                 "\n"
                                 "    grid  hosts in rows\n    ring  hosts in a ring\n";
    for (const auto& [word, text] : std::vector<std::pair<std::string, std::string>>{
             {"ring", "network ring: hosts in a ring\n"},
             {"grid", "network " + grid + "\n" + other},
             {"topology", topology},
             {"network", topology},
             {"model",
              "--model=small\n"
              "    latency of hosts\n"
              "    allowed: NAME or NAME:key=value,... of these, or a CSV file; --help=NAME "
              "explains the keys of\n    one\n"
              "\n    small  little\n    grid   in rows\n"},
             {"mtu", "--mtu=auto\n    largest payload\n    allowed: auto, or 256 to 9000\n"},
             {"json", "--json\n    file for results\n    allowed: text that is not empty\n"},
             {"fault",
              "--fault\n    faults of links\n    allowed: texts that are not empty, separated "
              "by "
              ";; may be given several times\n"}})
    {
        std::ostringstream details;
        program.options.Describe().PrintDetails(word, details);
        NS_TEST_EXPECT_MSG_EQ(details.str(), text, "details of " << word);
    }
}

/** Checks the JSON of --describe. */
void
CheckDescription()
{
    const Program program;
    const std::string json = program.options.Describe().ToJson().Write();
    NS_TEST_EXPECT_MSG_EQ(json.rfind(R"({"program":"test-program","version":")" + GetVersion() +
                                         R"(","description":"Does nothing.","options":[)",
                                     0),
                          0,
                          json);
    for (const std::string part :
         {R"({"name":"workload","group":"Job","help":"model to train","type":"text",)"
          R"("default":"resnet50","allowed":"text that is not empty"})",
          R"({"name":"ranks","group":"Job","help":"number of workers","type":"count",)"
          R"("default":16,"allowed":"1 to 1024","min":1,"max":1024})",
          R"("type":"number","default":1,"allowed":"0 to 1000","min":0,"max":1000})",
          R"("type":"boolean","default":true,)",
          R"("type":"bytes","default":26214400,)",
          R"(units: B, K=KiB, M=MiB, G=GiB, T=TiB, kB, MB, GB, TB","min":1})",
          R"("type":"word","default":"rdma","allowed":"rdma|tcp","words":["rdma","tcp"]})",
          R"("type":"rate","default":"100Gbps",)",
          R"("type":"time","default":"500ns",)",
          R"("name":"topology","group":"Network","help":"links of hosts","type":"choice",)"
          R"("default":"ring","allowed":"grid, ring; --help=topology explains them",)"
          R"("kind":"network"})",
          R"("type":"count","default":"auto","allowed":"auto, or 256 to 9000","min":256,)"
          R"("max":9000,"words":["auto"]})",
          R"("type":"list","default":null,)",
          R"("kinds":{"network":[{"name":"grid","help":"hosts in rows",)"
          R"("notes":["rows are rings"],"first":{"name":"4x4","help":"sides","required":true},)"
          R"("keys":[{"name":"lanes","help":"links in parallel","type":"count","default":1,)"
          R"("allowed":"1 to 8","min":1,"max":8},{"name":"cable","help":"delay of one",)"
          R"("type":"time","default":null,"allowed":"a time with a unit",)"
          R"("attribute":"CableDelay"}]},{"name":"ring",)",
          R"("model":[{"name":"small","help":"little","notes":[],"keys":[]},)",
          R"("renamed":[{"name":"sides","spelling":"--topology=grid:VALUE","help":"grid"},)",
          R"("help":"grid"}],"measured":["time_s"]})"})
    {
        ExpectPart(json, part);
    }
}

/** A program with an option of each type. */
void
TestOptions()
{
    {
        Program program;
        program.options.Parse(Split("--workload=a=b|--ranks=4|--ranks=5|"
                                    "--compute-scale=0.5|--overlap=false|--bucket=1.5MiB|"
                                    "--transport=tcp|--rate=400Gbit/s|--delay=1us"));
        NS_TEST_EXPECT_MSG_EQ(program.workload, "a=b", "string");
        NS_TEST_EXPECT_MSG_EQ(program.ranks, 5, "the last one counts");
        NS_TEST_EXPECT_MSG_EQ(program.scale, 0.5, "double");
        NS_TEST_EXPECT_MSG_EQ(program.overlap, false, "bool");
        NS_TEST_EXPECT_MSG_EQ(program.bucket, 3 << 19, "bytes");
        NS_TEST_EXPECT_MSG_EQ(program.transport, "tcp", "choice");
        NS_TEST_EXPECT_MSG_EQ(program.rate, DataRate(400000000000), "rate");
        NS_TEST_EXPECT_MSG_EQ(program.delay, NanoSeconds(1000), "time");
        NS_TEST_EXPECT_MSG_EQ(program.options.IsGiven("ranks"), true, "given");
        NS_TEST_EXPECT_MSG_EQ(program.options.IsGiven("json"), false, "not given");
        NS_TEST_EXPECT_MSG_EQ(
            program.options.ToJson().Write(),
            R"({"workload":"a=b","ranks":5,"compute-scale":0.5,"overlap":false,)"
            R"("bucket":1572864,"transport":"tcp","rate":"400Gbps","delay":"1us",)"
            R"("topology":"ring","model":"small","mtu":"auto","fault":"","json":"",)"
            R"("config":"","save-config":"","log":"","extension":"",)"
            R"("given":["--workload=a=b","--ranks=5","--compute-scale=0.5","--overlap=false",)"
            R"("--bucket=1536KiB","--transport=tcp","--rate=400Gbps","--delay=1us"]})",
            "record");
    }
    {
        Program program;
        program.options.Parse(Split("--topology=grid:4x4,lanes=2|--model=other:file.csv|"
                                    "--mtu=1500|--fault=a;b|--fault=c"));
        NS_TEST_EXPECT_MSG_EQ(program.topology, "grid:4x4,lanes=2", "as written");
        NS_TEST_EXPECT_MSG_EQ(program.model, "other:file.csv", "other text, unchecked");
        NS_TEST_EXPECT_MSG_EQ(program.mtu, "1500", "a number in place of the word");
        NS_TEST_EXPECT_MSG_EQ(program.faults.size(), 3, "list");
        program.options.Parse(std::vector<std::string>{"--fault=d"});
        NS_TEST_EXPECT_MSG_EQ(program.faults.size(), 1, "another command line, another list");
        ExpectPart(program.options.ToJson().Write(),
                   R"("mtu":1500)",
                   "a number in the record, too");
    }
    {
        Program program;
        program.overlap = false;
        char name[] = "program";
        char argument[] = "--overlap";
        char* argv[] = {name, argument, nullptr};
        program.options.Parse(2, argv);
        NS_TEST_EXPECT_MSG_EQ(program.overlap, true, "a flag");
        program.options.Parse(0, nullptr);

        // The recorded options can be given again.
        Program again;
        for (const auto& value : program.options.Values())
        {
            if (!value.text.empty())
            {
                again.options.Parse(std::vector<std::string>{"--" + value.name + "=" + value.text});
            }
        }
        const auto getValues = [](const ProgramOptions& options) {
            const std::string json = options.ToJson().Write();
            return json.substr(0, json.find(R"(,"given":)")); // defaults are given now
        };
        NS_TEST_EXPECT_MSG_EQ(getValues(again.options), getValues(program.options), "round trip");
    }

    CheckHelp();
    CheckDescription();

    Refuse("ranks=4", {"'ranks=4'", "--name=value"});
    Refuse("-ranks=4", {"'-ranks=4'"});
    Refuse("", {"''"});
    Refuse("--", {"unknown option --"});
    Refuse("--rank=4", {"unknown option --rank;", "did you mean --ranks?"});
    Refuse("--overlapp", {"did you mean --overlap?"});
    Refuse("--RngRum=1", {"did you mean --RngRun?"});
    Refuse("--xyzzy-plugh=1", {"unknown option --xyzzy-plugh ("});
    for (const std::string bad : {"", "0", "1025", "-1", "4x", "4.0", "nan", "1e2", " 4"})
    {
        Refuse("--ranks=" + bad, {"--ranks=" + bad + " (", "1 to 1024"});
    }
    Refuse("--ranks", {"--ranks without value", "1 to 1024"});
    for (const std::string bad : {"", "-0.1", "1000.1", "nan", "inf", "1x"})
    {
        Refuse("--compute-scale=" + bad, {"(allowed: 0 to 1000)"});
    }
    Refuse("--overlap=", {"true|false"});
    Refuse("--overlap=maybe", {"--overlap=maybe", "true|false"});
    Refuse("--bucket=0", {"--bucket=0", "a size of 1 and more"});
    Refuse("--bucket=25mb", {"MiB"});
    Refuse("--bucket=-1", {"a size"});
    Refuse("--transport=udp", {"--transport=udp", "rdma|tcp"});
    Refuse("--transport", {"rdma|tcp"});
    Refuse("--rate=100", {"--rate=100 (", "Gbps"});
    Refuse("--rate=0Gbps", {"a rate with a unit: bps"});
    Refuse("--delay=5", {"--delay=5 (", "ns, us"});
    Refuse("--delay=-5ns", {"a time with a unit: ps"});
    Refuse("--workload=", {"--workload= (", "not empty"});
    Refuse("--overlap=1", {"true|false"});
    Refuse("--mtu=255", {"(allowed: auto, or 256 to 9000)"});
    Refuse("--mtu=", {"(allowed: auto, or 256 to 9000)"});
    for (const std::string bad : {"", ";", "a;;b"})
    {
        Refuse("--fault=" + bad, {"--fault=" + bad + " (", "not empty"});
    }
    Refuse("--extension=", {"--extension= (", "not empty"});
    Refuse("--extension=/no/such.so", {"extension '/no/such.so': ", "No such file"});
    Refuse("--extension=no-such.so", {"extension 'no-such.so': ./no-such.so: "});
    Refuse("--model=", {"--model= ("});
    Refuse("--model=small:a=1", {"--model=small:a=1: 'a=1' (allowed: no keys)"});
    Refuse("--topology=rings", {"--topology=rings; did you mean ring? (allowed: grid, ring;"});
    Refuse("--topology=star", {"--topology=star (allowed: grid, ring; --help=topology "});
    Refuse("--topology=grid", {"--topology=grid: '' (allowed: 4x4 first: sides, lanes=1 to 8"});
    Refuse("--topology=grid:4,lanes=9", {"--topology=grid:4,lanes=9: 'lanes=9' (allowed: "});
    Refuse("--topology=grid:4,cable=9", {"'cable=9' (allowed: "});
    Refuse("--sides=2x2",
           {"--sides=2x2: written as --topology=grid:2x2 (allowed: see --help=grid)"});
    Refuse("--sides", {"--sides: written as --topology=grid:... ("});
    Refuse("--topology=mesh", {"--topology=mesh: written as --topology=grid ("});
    Refuse("--topology=mesh:2x2", {"--topology=mesh:2x2: written as --topology=grid ("});
    Refuse("--describe", {"--describe (allowed: --describe=json)"});
    Refuse("--describe=xml", {"--describe=xml (allowed: --describe=json)"});
    Refuse("--help=sides", {"--help=sides: written as --topology=grid:VALUE (allowed: "});
    Refuse("--help=", {"--help= (allowed: bucket, compute-scale, "});
    Refuse("--help=rnig", {"--help=rnig; did you mean ring? (allowed: ", ", grid, ", "network"});
}

/** @param argument an argument @param part text that the message must contain; empty: no message */
void
Check(const std::string& argument, const std::string& part)
{
    ProgramOptions options("test-program", "Does nothing.");
    const std::size_t own = options.Values().size();
    const std::string message =
        GetRefusal([&] { options.Parse(std::vector<std::string>{argument}); });
    if (part.empty())
    {
        NS_TEST_EXPECT_MSG_EQ(message, "", argument);
        NS_TEST_EXPECT_MSG_GT(options.Values().size(), own, argument);
        NS_TEST_EXPECT_MSG_EQ("--" + options.Values().back().name + "=" +
                                  options.Values().back().text,
                              argument,
                              "record");
        return;
    }
    ExpectPart(message, part, argument);
}

/** ns-3's own arguments work, and invalid ones do not end the program. */
void
TestNs3Arguments()
{
    Check("--RngRun=5", "");
    NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetRun(), 5, "run");
    Check("--RngSeed=6", "");
    NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetSeed(), 6, "seed");
    Check("--RngRun=x", "--RngRun=x: ns-3 does not take this value");
    Check("--RngRun=-1", "--RngRun=-1: ");
    Check("--RngRun=", "and a value");
    Check("--RngRun", "and a value");
    Check("--RngSeed=0", "--RngSeed=0: ");
    NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetRun(), 5, "still the last good run");
    NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetSeed(), 6, "still the last good seed");
    Check("--SchedulerType=ns3::HeapScheduler", "");
    Check("--SchedulerType=ns3::NoSuchScheduler", "ns3::NoSuchScheduler: ");
    Check("--SchedulerType=ns3::UniformRandomVariable", "does not take this value");
    Check("--SchedulerType=ns3::MapScheduler", "");

    Check("--ns3::UniformRandomVariable::Max=2", "");
    Check("--ns3::UniformRandomVariable::Max=two", "does not take this value");
    Check("--ns3::UniformRandomVariable::Max=1", "");
    Check("--ns3::UniformRandomVariable::Mix=2", "has no attribute 'Mix'");
    Check("--ns3::NoSuchType::Max=2", "there is no type 'ns3::NoSuchType' (allowed: see");
    const std::string nic = "--ns3::training::RdmaNic::";
    Check(nic + "AckIntervl=1",
          "has no attribute 'AckIntervl' of its own; did you mean " + nic + "AckInterval?");
    Check("--ns3::training::RdmaNik::AckInterval=1",
          "there is no type 'ns3::training::RdmaNik'; did you mean ns3::training::RdmaNic?");
    Check("--ns3::RdmaNic::AckInterval=1", "; did you mean ns3::training::RdmaNic? (allowed");
    Check("--ns3::training::TrainingApplication::StartTime=1s",
          "; did you mean --ns3::Application::StartTime? (allowed");
    Check(nic + "Colour=1", "has no attribute 'Colour' of its own (allowed: see");
    Check("--ns3::training::TrainingApplication::Iterations=1", "");
    Check("--ns3::training::TrainingApplication::Iterations=-1", "does not take this value");
    Check("--ns3::training::TrainingApplication::RealPayload=maybe", "does not take this value");
    Check("--ns3::training::SwitchDevice::Weights=1 2 3 4 5 6 7 8", "");
    Check("--ns3::training::SwitchDevice::Weights=1 2 3", "does not take this value");
    Check("--ns3::training::SwitchDevice::Weights=0 1 1 1 1 1 1 1", "does not take this value");
    Check("--ns3::training::SwitchDevice::Path=scenic", "does not take this value");
    Check("--ns3::training::SwitchDevice::Weights=1 1 1 1 1 1 1 1", "");
    for (const bool hasOption : {true, false})
    {
        ProgramOptions options("test-program", "Does nothing.");
        std::string mtu;
        if (hasOption)
        {
            options.AddString("mtu", "largest payload", mtu);
        }
        options.Reserve("ns3::training::RdmaNic::Mtu", "mtu");
        const std::string message = GetRefusal(
            [&] { options.Parse(std::vector<std::string>{"--ns3::training::RdmaNic::Mtu=1000"}); });
        NS_TEST_EXPECT_MSG_EQ(message,
                              "--ns3::training::RdmaNic::Mtu=1000: the program sets it (allowed: " +
                                  std::string(hasOption ? "--mtu" : "follows from other options") +
                                  ")",
                              "an attribute without effect");
    }
    Check("--ns3::Application::StartTime=1parsec", "does not take this value");
    Check("--ns3::Application::StartTime=0s", "");
    Check("--PrintAttributes=ns3::NoSuchType", "--PrintTypeIds");
    Check("--PrintGroup=NoSuchGroup", "--PrintGroups");
    Check("--PrintGlobals=1", "without a value");
}

/** Text that users and files control, in messages; ranges of sizes. */
void
TestProgramText()
{
    NS_TEST_EXPECT_MSG_EQ(ToLine("a b  c"), "a b  c", "unchanged");
    NS_TEST_EXPECT_MSG_EQ(ToLine("a\nb\x1b[2J\x7f"), "a?b?[2J?", "control characters");
    NS_TEST_EXPECT_MSG_EQ(ToLine(""), "", "empty");
    NS_TEST_EXPECT_MSG_EQ(ToLine(std::string(300, 'x')), std::string(300, 'x'), "long");
    const std::string value = ToLine("--a=" + std::string(100000, 'x') + " (allowed: y)");
    NS_TEST_EXPECT_MSG_LT(value.size(), 330, "a longer word is shortened");
    NS_TEST_EXPECT_MSG_EQ(value.substr(0, 8), "--a=xxxx", "its begin remains");
    NS_TEST_EXPECT_MSG_EQ(value.substr(value.size() - 14), "x (allowed: y)", "the rest remains");
    std::string words;
    for (uint32_t i = 0; i < 10000; i++)
    {
        words += "word ";
    }
    NS_TEST_EXPECT_MSG_LT(ToLine(words).size(), 4001, "a long message is shortened");

    using Sizes = std::vector<uint64_t>;
    const auto parse = [](const std::string& text) { return ParseSizes("--bytes", text); };
    NS_TEST_EXPECT_MSG_EQ(parse("0:1K:1M"), Sizes{0}, "a step beyond the end");
    NS_TEST_EXPECT_MSG_EQ(parse("0:1:1667713624GB"), Sizes{0}, "a huge step");
    NS_TEST_EXPECT_MSG_EQ(parse("0:9:4"), (Sizes{0, 4, 8}), "from 0");
    NS_TEST_EXPECT_MSG_EQ(parse("0:8:4"), (Sizes{0, 4, 8}), "to the end");
    NS_TEST_EXPECT_MSG_EQ(parse("5:5:9"), Sizes{5}, "one");
    NS_TEST_EXPECT_MSG_EQ(parse("1:9:x3"), (Sizes{1, 3, 9}), "by a factor");
    NS_TEST_EXPECT_MSG_EQ(parse("9223372036854775806:9223372036854775807:1"),
                          (Sizes{9223372036854775806U, 9223372036854775807U}),
                          "the largest");
}

const Suite g_suite("program-options",
                    Duration::QUICK,
                    {{"quantities: values read, refused and written", TestQuantity},
                     {"options: values, defaults, records, help, refusals", TestOptions},
                     {"options: arguments of ns-3", TestNs3Arguments},
                     {"messages of one short line; ranges of sizes", TestProgramText}});

} // namespace ns3::training::tests::program_options_test
