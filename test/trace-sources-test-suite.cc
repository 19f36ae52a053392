/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-test-common.h"
#include "test-case.h"

#include "ns3/communicator-list.h"
#include "ns3/config.h"
#include "ns3/node-list.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job-helper.h"

#include <fstream>
#include <map>
#include <set>

namespace ns3::training::tests::trace_sources_test
{

const std::string NAMESPACE = "ns3::training::";

/** @return the text between the first and the last double backquote; all of it if there is none */
std::string
StripQuotes(const std::string& text)
{
    const std::size_t begin = text.find("``");
    const std::size_t end = text.rfind("``");
    return begin == end ? text : text.substr(begin + 2, end - begin - 2);
}

/**
 * @param name of a list-table of doc/observation.rst
 * @return its rows, without the heading; words of a cell are separated by one space
 */
std::vector<std::vector<std::string>>
ReadTable(const std::string& name)
{
    std::ifstream file(std::string(NS_TEST_SOURCEDIR) + "/../doc/observation.rst");
    std::vector<std::vector<std::string>> rows;
    bool isInside = false;
    for (std::string line; std::getline(file, line);)
    {
        const std::size_t first = line.find_first_not_of(' ');
        if (line == "   :name: " + name)
        {
            isInside = true;
        }
        else if (isInside && first == 0)
        {
            break; // the next paragraph
        }
        else if (isInside && line.rfind("   * - ", 0) == 0)
        {
            rows.push_back({line.substr(7)});
        }
        else if (isInside && line.rfind("     - ", 0) == 0)
        {
            rows.back().push_back(line.substr(7));
        }
        else if (isInside && !rows.empty() && first == 7)
        {
            rows.back().back() += " " + line.substr(7);
        }
    }
    if (!rows.empty())
    {
        rows.erase(rows.begin());
    }
    for (auto& row : rows)
    {
        for (std::string& cell : row)
        {
            cell = StripQuotes(cell);
        }
    }
    return rows;
}

/** A trace source: class, name, callback, event. */
using Source = std::tuple<std::string, std::string, std::string, std::string>;

/** @return all trace sources that classes of the module register */
std::set<Source>
GetRegistered()
{
    std::set<Source> sources;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.GetName().rfind(NAMESPACE, 0) != 0)
        {
            continue;
        }
        for (std::size_t t = 0; t < type.GetTraceSourceN(); t++)
        {
            const auto source = type.GetTraceSource(t);
            sources.insert({type.GetName().substr(NAMESPACE.size()),
                            source.name,
                            source.callback,
                            source.help});
        }
    }
    return sources;
}

/** @return Config path of the objects of each documented class */
std::map<std::string, std::string>
GetPaths()
{
    std::map<std::string, std::string> paths;
    for (const auto& row : ReadTable("trace-paths"))
    {
        paths[row.at(0)] = row.at(1);
    }
    return paths;
}

/** The clusters whose objects have all trace sources of the module. */
std::vector<ClusterOptions>
MakeClusters()
{
    std::vector<ClusterOptions> clusters;
    const auto add = [&](const std::string& algorithm) -> ClusterOptions& {
        ClusterOptions options;
        options.ranks = 4;
        options.algorithm = algorithm;
        clusters.push_back(options);
        return clusters.back();
    };
    add("ring");
    add("ring").transport = "uec";
    add("ring").codec = "thc";
    for (const char* algorithm : {"nic-ring", "switchml", "atp", "sharp", "switch-ps"})
    {
        add(algorithm);
    }
    return clusters;
}

/** doc/observation.rst has all trace sources, as they are registered. */
void
TestTraceTable()
{
    std::set<Source> documented;
    std::set<std::string> classes;
    for (const auto& row : ReadTable("trace-sources"))
    {
        NS_TEST_ASSERT_MSG_EQ(row.size(), 4, "columns of " << row.at(0));
        NS_TEST_EXPECT_MSG_EQ(documented.insert({row[0], row[1], row[2], row[3]}).second,
                              true,
                              row[0] << "::" << row[1] << " once");
        classes.insert(row[0]);
    }
    const std::set<Source> registered = GetRegistered();
    NS_TEST_EXPECT_MSG_GT_OR_EQ(registered.size(), 35, "the module has trace sources");
    for (const Source& source : registered)
    {
        NS_TEST_EXPECT_MSG_EQ(documented.count(source),
                              1,
                              std::get<0>(source)
                                  << "::" << std::get<1>(source) << " (" << std::get<2>(source)
                                  << ", " << std::get<3>(source) << ") is missing");
    }
    for (const Source& source : documented)
    {
        NS_TEST_EXPECT_MSG_EQ(registered.count(source),
                              1,
                              std::get<0>(source)
                                  << "::" << std::get<1>(source) << " is not registered so");
    }
    std::set<std::string> withPath;
    for (const auto& [name, path] : GetPaths())
    {
        withPath.insert(name);
    }
    NS_TEST_EXPECT_MSG_EQ(withPath, classes, "a path for each class");
}

struct TracePathsTestCase
{
    void OnCollective(std::string path, const CollectiveRecord& record)
    {
        byPath[path].push_back(record);
    }

    void OnDone()
    {
        done++;
    }

    void OnFinished(std::string, uint32_t)
    {
        finished++;
    }

    /** Looks up the objects of a path; notes the class if they have its sources. */
    void Check(const std::string& name, const std::string& path)
    {
        const auto matches = Config::LookupMatches(path);
        for (std::size_t i = 0; i < matches.GetN(); i++)
        {
            for (const auto& [owner, source, callback, help] : GetRegistered())
            {
                if (owner == name)
                {
                    const TypeId type = matches.Get(i)->GetInstanceTypeId();
                    NS_TEST_EXPECT_MSG_NE(type.LookupTraceSourceByName(source),
                                          nullptr,
                                          matches.GetMatchedPath(i) << "/" << source);
                }
            }
            found.insert(name);
        }
    }

    /** Runs an all-reduce and a job of one step, with callbacks connected by path. */
    void Run(const ClusterOptions& options)
    {
        auto cluster = std::make_unique<Cluster>(options);
        TrainingJobHelper().Install(
            *cluster,
            std::make_shared<WrittenGraph>(
                cluster->GetRanks(),
                std::vector<TaskGroups>(1),
                [](TaskWriter& writer, uint32_t) { writer.Compute(0, MicroSeconds(1)); }),
            {{}});
        const auto paths = GetPaths();
        byPath.clear();
        done = 0;
        finished = 0;
        for (const auto& [name, path] : paths)
        {
            Check(name, path);
        }
        for (const std::string& name : Split("ScheduledCommunicator|InNetworkCommunicator|"
                                             "NicCommunicator|CodedCommunicator"))
        {
            if (Config::LookupMatches(paths.at(name)).GetN() > 0)
            {
                Config::Connect(paths.at(name) + "/Collective",
                                MakeCallback(&TracePathsTestCase::OnCollective, this));
            }
        }
        Config::Connect(paths.at("TrainingApplication") + "/Finished",
                        MakeCallback(&TracePathsTestCase::OnFinished, this));
        std::vector<Ptr<Tensor>> tensors;
        for (uint32_t rank = 0; rank < options.ranks; rank++)
        {
            tensors.push_back(Create<Tensor>());
            tensors.back()->bytes = 4096;
            cluster->GetCommunicator(rank)->AllReduce(
                tensors.back(),
                MakeCallback(&TracePathsTestCase::OnDone, this));
        }
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
        const std::string name = options.algorithm + "/" + options.transport + "/" + options.codec;
        NS_TEST_EXPECT_MSG_EQ(done, options.ranks, name << ": the all-reduce is complete");
        NS_TEST_EXPECT_MSG_EQ(finished, options.ranks, name << ": so is the job");
        // The communicator that was asked is the last one in the list of each node.
        for (uint32_t rank = 0; rank < options.ranks; rank++)
        {
            const Ptr<Node> node = cluster->GetFabric().hosts.Get(rank);
            const auto list = node->GetObject<CommunicatorList>();
            const uint32_t last = list->GetN() - 1;
            NS_TEST_EXPECT_MSG_EQ(list->Get(0), cluster->GetHostCommunicator(rank), "the first");
            NS_TEST_EXPECT_MSG_EQ(list->Get(last), cluster->GetCommunicator(rank), "the last");
            uint32_t records = 0;
            for (const auto& [path, collectives] : byPath)
            {
                const std::string place = "/NodeList/" + std::to_string(node->GetId()) +
                                          "/$ns3::training::CommunicatorList/Communicators/" +
                                          std::to_string(last) + "/";
                if (path.rfind(place, 0) == 0)
                {
                    records += static_cast<uint32_t>(collectives.size());
                    NS_TEST_EXPECT_MSG_EQ(collectives[0].bytes, 4096, name << ": its size");
                    NS_TEST_EXPECT_MSG_EQ(collectives[0].rank, rank, name << ": its rank");
                }
            }
            NS_TEST_EXPECT_MSG_EQ(records, 1, name << ": one record of rank " << rank);
        }
        cluster.reset();
        Simulator::Destroy();
    }

    void Run()
    {
        for (const ClusterOptions& options : MakeClusters())
        {
            Run(options);
        }
        for (const auto& [name, path] : GetPaths())
        {
            NS_TEST_EXPECT_MSG_EQ(found.count(name), 1, path << " leads to no object");
        }
    }

    std::set<std::string> found; // classes whose path led to an object
    std::map<std::string, std::vector<CollectiveRecord>> byPath; // by path
    uint32_t done{0};
    uint32_t finished{0};
};

const Suite g_suite("trace-sources",
                    Duration::QUICK,
                    {{"the documentation lists the registered trace sources", TestTraceTable},
                     {"Config paths lead to the trace sources", RunTest<TracePathsTestCase>}});

} // namespace ns3::training::tests::trace_sources_test
