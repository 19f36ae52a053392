/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H

#include "guard/run-warnings.h"
#include "run-test-common.h"
#include "test-case.h"

#include "ns3/config.h"
#include "ns3/in-network-figures.h"
#include "ns3/string.h"
#include "ns3/training-cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <sstream>

namespace ns3::training::tests
{

/** Changes the default of an attribute during its lifetime. */
class Default
{
  public:
    Default(const std::string& name, const std::string& value)
    {
        const std::string full = "ns3::training::" + name;
        const std::size_t separator = full.rfind("::");
        m_type = TypeId::LookupByName(full.substr(0, separator));
        while (m_type.GetAttribute(m_index).name != full.substr(separator + 2))
        {
            m_index++;
        }
        m_former = m_type.GetAttribute(m_index).initialValue;
        Config::SetDefault(full, StringValue(value));
    }

    ~Default()
    {
        m_type.SetAttributeInitialValue(m_index, m_former);
    }

  private:
    TypeId m_type;
    std::size_t m_index{0};
    Ptr<const AttributeValue> m_former;
};

/** @return options of a cluster */
inline ClusterOptions
MakeCluster(uint32_t ranks,
            const std::string& algorithm,
            const std::string& topology = "single-switch")
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.topology = topology;
    return options;
}

/** Sets a key of the in-network system. */
inline void
SetKey(ClusterOptions& options, const std::string& key, const std::string& value)
{
    const std::string& text = options.algorithm;
    const std::size_t colon = text.find(':');
    std::string made = text.substr(0, colon) + ":" + key + "=" + value;
    std::istringstream others(colon == std::string::npos ? "" : text.substr(colon + 1));
    for (std::string other; std::getline(others, other, ',');)
    {
        made += other.rfind(key + "=", 0) == 0 ? "" : "," + other;
    }
    options.algorithm = made;
}

/** Like SetKey() above. */
inline void
SetKey(ClusterOptions& options, const std::string& key, uint64_t value)
{
    SetKey(options, key, std::to_string(value));
}

/** @return faults: links duplicate frames, and delay some beyond timeouts of 100 us */
inline std::vector<std::string>
DoubleAndDelay(const std::string& delay = "150us")
{
    return {"*:duplicate=0.02", "*:reorder=0.02/" + delay};
}

/** @return the refusal of a cluster with these options; empty if it is accepted */
inline std::string
Refuse(const ClusterOptions& options)
{
    const std::string text = GetRefusal([&options]() { const Cluster cluster(options); });
    Simulator::Destroy();
    return text;
}

/** Counts the additions of each contribution, as reported by a trace source of the programs. */
template <typename Program, typename... Parts>
class Contributions
{
  public:
    /** @param source trace source of their programs, with arguments Parts */
    explicit Contributions(const Cluster& cluster, const std::string& source = "Add")
    {
        const auto& devices = cluster.GetFabric().devicesOfSwitches;
        for (std::size_t i = 0; i < devices.size(); i++)
        {
            if (const auto program = DynamicCast<Program>(devices[i]->GetProgram(0)))
            {
                program->TraceConnect(source,
                                      std::to_string(i),
                                      MakeCallback(&Contributions::OnAdd, this));
            }
        }
    }

    /** @return maximum number of additions of one contribution */
    uint32_t GetMost() const
    {
        uint32_t most = 0;
        for (const auto& [key, count] : m_counts)
        {
            most = std::max(most, count);
        }
        return most;
    }

    /** @return number of distinct contributions */
    std::size_t GetCount() const
    {
        return m_counts.size();
    }

    std::vector<std::tuple<Parts...>> order; ///< in order of addition

  private:
    void OnAdd(std::string device, Parts... parts)
    {
        m_counts[{device, parts...}]++;
        order.emplace_back(parts...);
    }

    std::map<std::tuple<std::string, Parts...>, uint32_t> m_counts;
};

/** A job added by a helper, with the ranks' tensors. */
template <typename Worker>
class Job
{
  public:
    /**
     * @param helper of an in-network system
     * @param endpoints of the ranks
     * @param more further arguments of the helper's AddJob()
     */
    template <typename Helper, typename... More>
    void Add(Helper& helper, Fabric& fabric, const std::vector<uint32_t>& endpoints, More... more)
    {
        std::vector<Ptr<ScheduledCommunicator>> hosts;
        for (std::size_t i = 0; i < endpoints.size(); i++)
        {
            hosts.push_back(CreateObject<ScheduledCommunicator>());
        }
        workers = helper.AddJob(fabric, endpoints, hosts, more...);
    }

    /**
     * Starts an all-reduce at each rank; all numbers of a rank are equal.
     * @param first number of rank 0
     * @param step difference between successive ranks
     */
    void AllReduce(uint64_t count, float first = 1, float step = 1)
    {
        for (const auto& worker : workers)
        {
            auto tensor = Create<Tensor>();
            const auto rank = static_cast<float>(worker->GetRank());
            tensor->values.assign(count, first + step * rank);
            tensor->bytes = count * sizeof(float);
            tensors.push_back(tensor);
            worker->AllReduce(tensor, MakeBoundCallback(&Job::OnDone, this, worker->GetRank()));
        }
    }

    /** @return minimum and maximum of all tensors */
    std::pair<float, float> GetRange() const
    {
        std::pair<float, float> range(std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity());
        for (const auto& tensor : tensors)
        {
            const auto [least, most] =
                std::minmax_element(tensor->values.begin(), tensor->values.end());
            range = {std::min(range.first, *least), std::max(range.second, *most)};
        }
        return range;
    }

    std::vector<Ptr<Worker>> workers;
    std::vector<Ptr<Tensor>> tensors;
    std::vector<uint32_t> done;           ///< ranks in order of completion
    std::function<void(uint32_t)> onDone; ///< called at each completion, if set

  private:
    static void OnDone(Job* job, uint32_t rank)
    {
        job->done.push_back(rank);
        if (job->onDone)
        {
            job->onDone(rank);
        }
    }
};

/** Operations on the same random tensors on a cluster, and their results. */
class Trial
{
  public:
    /**
     * @param options of the cluster, with an in-network system
     * @param integers whether the numbers are whole
     * @param real whether the payload is real
     */
    Trial(const ClusterOptions& options, uint64_t count, bool integers, bool real = true)
    {
        cluster = std::make_unique<Cluster>(options);
        std::mt19937 random(static_cast<uint32_t>(count));
        std::uniform_int_distribution<int32_t> whole(-30000, 30000);
        std::normal_distribution<float> floats(0, 1e-3F);
        for (uint32_t rank = 0; rank < cluster->GetRanks(); rank++)
        {
            auto tensor = Create<Tensor>();
            tensor->bytes = count * sizeof(float);
            for (uint64_t i = 0; real && i < count; i++)
            {
                tensor->values.push_back(integers ? static_cast<float>(whole(random))
                                                  : floats(random));
            }
            inputs.push_back(tensor->values);
            tensors.push_back(tensor);
        }
    }

    ~Trial()
    {
        Simulator::Destroy();
    }

    /**
     * Runs operations one after the other, each time on the inputs.
     * @return description of the error, or empty
     */
    std::string Run(uint32_t times = 1)
    {
        GuardedRun run(*cluster);
        for (uint32_t i = 0; i < times; i++)
        {
            left = cluster->GetRanks();
            for (uint32_t rank = 0; rank < cluster->GetRanks(); rank++)
            {
                tensors[rank]->values = inputs[rank];
                Simulator::ScheduleWithContext(cluster->GetFabric().hosts.Get(rank)->GetId(),
                                               Time(0),
                                               &Trial::Start,
                                               this,
                                               rank,
                                               &run);
            }
            start = Simulator::Now();
            const std::string reason = GetStuck([&run] { run.Run(); });
            if (!reason.empty())
            {
                return reason;
            }
        }
        return "";
    }

    /** @return maximum difference from the exact sums; infinite if ranks differ */
    double GetError() const
    {
        double error = 0;
        for (uint64_t i = 0; i < inputs[0].size(); i++)
        {
            double exact = 0;
            for (const auto& input : inputs)
            {
                exact += input[i];
            }
            for (const auto& tensor : tensors)
            {
                error = tensor->values[i] == tensors[0]->values[i]
                            ? std::max(error, std::abs(tensor->values[i] - exact))
                            : std::numeric_limits<double>::infinity();
            }
        }
        return error;
    }

    /** @return whether all ranks have the network's sum, bit for bit */
    bool IsSumOfNetwork() const
    {
        const auto sum =
            cluster->GetInNetworkCommunicators()[0]->GetExpectedSum(inputs, tensors[0]->values);
        return std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
            return tensor->values == sum;
        });
    }

    /** @return number of ranks that have fallen back to the hosts */
    uint32_t CountFallenBack() const
    {
        const auto& workers = cluster->GetInNetworkCommunicators();
        return static_cast<uint32_t>(
            std::count_if(workers.begin(), workers.end(), [](const auto& worker) {
                return worker->HasFallenBack();
            }));
    }

    /** @return duration of the last operation, s */
    double GetSeconds() const
    {
        return (end - start).GetSeconds();
    }

    /** @return packets retransmitted by all ranks */
    uint64_t CountResent() const
    {
        uint64_t count = 0;
        for (const auto& worker : cluster->GetInNetworkCommunicators())
        {
            count += worker->GetCounters().resent;
        }
        return count;
    }

    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< operation to run, root 0
    std::unique_ptr<Cluster> cluster;
    std::vector<std::vector<float>> inputs; ///< by rank
    std::vector<Ptr<Tensor>> tensors;       ///< by rank
    Time start;                             ///< start of the last operation
    Time end;                               ///< completion at its last rank
    uint32_t left{0};                       ///< ranks that have not completed

  private:
    void Start(uint32_t rank, GuardedRun* run)
    {
        cluster->GetCommunicator(rank)->Start(operation,
                                              tensors[rank],
                                              0,
                                              MakeBoundCallback(&Trial::OnDone, this, run));
    }

    static void OnDone(Trial* self, GuardedRun* run)
    {
        if (--self->left == 0)
        {
            self->end = Simulator::Now();
            run->End();
        }
    }
};

/** Expects the refusal of a cluster. */
inline void
ExpectRefusal(const ClusterOptions& options, const std::string& part)
{
    ExpectPart(Refuse(options), part);
}

/** A cluster and part of its refusal. */
struct RefusedCluster
{
    uint32_t ranks;
    std::string algorithm; ///< with its keys
    std::string part;      ///< empty: the cluster is accepted
    std::string topology{"single-switch"};
};

/** Expects the refusals of clusters. */
inline void
ExpectRefusals(const std::vector<RefusedCluster>& clusters)
{
    for (const RefusedCluster& row : clusters)
    {
        ExpectPart(Refuse(MakeCluster(row.ranks, row.algorithm, row.topology)),
                   row.part,
                   row.algorithm + ", " + std::to_string(row.ranks) + " ranks: ");
    }
}

/** Expects the refusal of an attribute's value, also as a default. */
inline void
ExpectChoice(const ClusterOptions& options,
             const std::string& attribute,
             const std::string& allowed)
{
    const Default wrong(attribute, "wrong");
    ExpectRefusal(options, attribute + "='wrong' (allowed: " + allowed + ")");
}

/** @return seconds of an all-reduce with virtual payload, without retransmissions */
inline double
GetSeconds(const ClusterOptions& options, uint64_t count)
{
    Trial trial(options, count, true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "no failure");
    NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, "no retransmission");
    return trial.GetSeconds();
}

/** @return million numbers per second and rank of the same all-reduce */
inline double
GetRate(const ClusterOptions& options, uint64_t count)
{
    return static_cast<double>(count) / GetSeconds(options, count) * 1e-6;
}

/** @return the first warning of an all-reduce of 2^20 numbers; empty: none */
inline std::string
GetWarning(const ClusterOptions& options)
{
    Trial trial(options, 1 << 20, true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", options.algorithm);
    const auto warnings = GetWarnings(*trial.cluster);
    return warnings.empty() ? "" : warnings[0];
}

/** @return the value that a warning names, between its last "=" and the next " or more" */
inline std::string
GetRemedy(const std::string& warning)
{
    const std::size_t begin = warning.rfind('=') + 1;
    return warning.substr(begin, warning.find(" or more", begin) - begin);
}

/** Sets a key as warnings say, which soon cease. */
inline void
FollowWarnings(ClusterOptions& options, const std::string& key, std::string warning)
{
    for (uint32_t attempt = 0; attempt < 4 && !warning.empty(); attempt++)
    {
        SetKey(options, key, GetRemedy(warning));
        warning = GetWarning(options);
    }
    NS_TEST_EXPECT_MSG_EQ(warning, "", key << " that is large enough");
}

/** A failed rank ends the run soon, with a message. */
inline void
CheckDeadWorker(ClusterOptions options, const std::string& host = "host2")
{
    options.faults = {host + ":down,from=30us"};
    Trial trial(options, 200000, false);
    ExpectPart(trial.Run(), "no notice of rank");
    NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MilliSeconds(100), "no hang");
}

/** Without its switch and with OnFailure=error, a run ends with a message with these parts. */
inline void
CheckDeadSwitch(ClusterOptions options, const std::vector<std::string>& parts)
{
    const Default error("InNetworkCommunicator::OnFailure", "error");
    options.faults = {"switch0:down,from=30us"};
    Trial trial(options, 200000, false);
    const std::string text = trial.Run();
    for (const std::string& part : parts)
    {
        ExpectPart(text, part);
    }
}

/** @return options with a restart of switch 0 at a time for a duration, us */
inline ClusterOptions
Restart(ClusterOptions options, uint32_t at, uint32_t duration)
{
    options.faults = {"switch0:restart,from=" + std::to_string(at) +
                      "us,until=" + std::to_string(at + duration) + "us"};
    options.rerouteDelay = MicroSeconds(1);
    return options;
}

/**
 * The switch of a pool restarts at many times: the ranks recover by retransmissions, or all
 * fall back to the hosts.
 */
inline void
CheckPoolRestarts(const std::vector<ClusterOptions>& clusters)
{
    uint32_t fallbacks = 0;
    uint32_t recoveries = 0;
    for (uint32_t at = 5; at <= 245; at += 30)
    {
        for (ClusterOptions options : clusters)
        {
            // A sum that only some ranks have received when the switch restarts cannot be
            // repeated.
            options.loss = at % 2 ? 0.001 : 0;
            SetKey(options, "slots", 128);
            Trial trial(Restart(options, at, 3), 200000, false);
            const std::string what = options.topology + ", " + std::to_string(at) + " us";
            NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
            const uint32_t count = trial.CountFallenBack();
            NS_TEST_EXPECT_MSG_EQ((count == 0 || count == options.ranks),
                                  true,
                                  what << ": all or none");
            (count > 0 ? fallbacks : recoveries)++;
            NS_TEST_EXPECT_MSG_EQ(FormatFallback(*trial.cluster).empty(), (count == 0), what);
            NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), (count == 0), what);
            NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-8, what << ": the tensor is intact");
        }
    }
    NS_TEST_EXPECT_MSG_GT(fallbacks, 0, "some sums are lost in part");
    NS_TEST_EXPECT_MSG_GT(recoveries, 0, "some are not, and retransmissions are enough");
}

/** Checks a trial with random losses, duplicates and reordering. */
inline void
CheckResent(const Trial& trial, const ClusterOptions& options, const std::string& what)
{
    if (options.loss == 0 && options.faults.empty())
    {
        NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, what << ": nothing is sent again");
    }
    else if (options.loss >= 0.01 || !options.faults.empty())
    {
        NS_TEST_EXPECT_MSG_GT(trial.CountResent(), 0, what << ": the network did lose");
    }
}

/**
 * Checks sums at several rates of loss, also with duplicates and reordering.
 * @param check called with the options, the count and a description
 */
inline void
CheckLosses(ClusterOptions options,
            uint64_t count,
            const std::string& name,
            const std::function<void(const ClusterOptions&, uint64_t, const std::string&)>& check)
{
    for (const double loss : {0.0, 0.001, 0.01, 0.05})
    {
        options.loss = loss;
        options.faults.clear();
        const std::string what = name + ", loss " + std::to_string(loss);
        check(options, count, what);
        options.faults = DoubleAndDelay();
        check(options, 10000, what + ", duplicates, reordering");
    }
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H
