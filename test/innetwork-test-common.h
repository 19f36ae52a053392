/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H

#include "ns3/cluster.h"
#include "ns3/config.h"
#include "ns3/configuration-error.h"
#include "ns3/guarded-run.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/** An attribute whose default differs while this lives. */
class Default
{
  public:
    Default(const std::string& name, const std::string& value, const std::string& usual)
        : m_name("ns3::training::" + name),
          m_usual(usual)
    {
        Config::SetDefault(m_name, StringValue(value));
    }

    ~Default()
    {
        Config::SetDefault(m_name, StringValue(m_usual));
    }

  private:
    std::string m_name;
    std::string m_usual;
};

/** @return why a cluster of these options is refused; empty if it is not */
inline std::string
Refuse(const ClusterOptions& options)
{
    std::string text;
    try
    {
        const Cluster cluster(options);
    }
    catch (const ConfigurationError& error)
    {
        text = error.what();
    }
    Simulator::Destroy();
    return text;
}

/** All-reduces, or others, of the same random tensors on a cluster, and what came of them. */
class Trial
{
  public:
    /**
     * @param options of the cluster, with an algorithm of the network
     * @param count numbers in a tensor
     * @param integers whether they are whole
     * @param real whether there are any
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
     * Runs so many operations, one after the other, of the inputs each time.
     * @return what went wrong, or empty
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
            try
            {
                run.Run();
            }
            catch (const SimulationStuck& stuck)
            {
                return stuck.what();
            }
        }
        return "";
    }

    /** @return the largest difference from the exact sums; infinite if ranks differ */
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

    /** @return whether all ranks have the sum of the network, bit for bit */
    bool IsSumOfNetwork() const
    {
        const auto sum = cluster->GetInNetworkCommunicators()[0]->GetSum(inputs);
        return std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
            return tensor->values == sum;
        });
    }

    /** @return ranks that have gone over to the hosts */
    uint32_t CountFallenBack() const
    {
        const auto& workers = cluster->GetInNetworkCommunicators();
        return static_cast<uint32_t>(
            std::count_if(workers.begin(), workers.end(), [](const auto& worker) {
                return worker->HasFallenBack();
            }));
    }

    /** @return packets sent again by all ranks */
    uint64_t CountResent() const
    {
        uint64_t count = 0;
        for (const auto& worker : cluster->GetInNetworkCommunicators())
        {
            count += worker->GetCounters().resent;
        }
        return count;
    }

    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what it runs, root 0
    std::unique_ptr<Cluster> cluster;
    std::vector<std::vector<float>> inputs; ///< by rank
    std::vector<Ptr<Tensor>> tensors;       ///< by rank
    Time start;                             ///< of the latest all-reduce
    Time end;                               ///< when its last rank was done
    uint32_t left{0};                       ///< ranks that are not done

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

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_INNETWORK_TEST_COMMON_H
