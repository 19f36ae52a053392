/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "serving/serving-summary.h"

#include "ns3/message-tag.h"
#include "ns3/packet-size.h"
#include "ns3/serving-helper.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

namespace ns3::training::tests::serving_test
{

/** @return picoseconds */
Time
ToTime(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

/** @return a small transformer: 4 layers, 2 of 4 heads have keys and values of 64 numbers */
TransformerModel
MakeSmallModel()
{
    TransformerModel model;
    model.layers = 4;
    model.hidden = 256;
    model.heads = 4;
    model.keyValueHeads = 2;
    model.feedForward = 512;
    model.vocabulary = 1024;
    model.sequence = 4096;
    return model;
}

/// Keys and values of a token in a layer of the small model, bytes: 2 heads, 64 numbers of 2 bytes.
constexpr uint64_t SMALL_TOKEN_BYTES = 2 * 2 * 64 * 2;

/** @return a GPU that computes a layer of the small model in about 100 us */
TransformerRates
MakeRates()
{
    TransformerRates rates;
    rates.operations = 1e12;
    rates.memory = 1e10;
    return rates;
}

/**
 * The roofline, written down once more for the small model on one or two GPUs. Bytes of weights:
 * 2 of each number.
 */
class SmallTimes
{
  public:
    explicit SmallTimes(double gpus)
        : m_gpus(gpus)
    {
    }

    /** @return attention of a layer: projections of q, k, v and the output, and scores */
    Time GetAttention(double tokens, double pairs, double read) const
    {
        const double weights = 256 + 256 * 256 + 2 * 256 * 128 + 256 * 256;
        return ToTime(Max(2 * weights * tokens / m_gpus, 2 * weights / m_gpus) +
                      Max(pairs * 2 * 4 * (64 + 64) / m_gpus,
                          read * static_cast<double>(SMALL_TOKEN_BYTES) / m_gpus));
    }

    /** @return gated feed-forward network of a layer; its norm is read, too */
    Time GetNetwork(double tokens) const
    {
        const double weights = 3 * 256 * 512;
        return ToTime(Max(2 * weights * tokens / m_gpus, 2 * (weights + 256) / m_gpus));
    }

    /** @return output layer */
    Time GetOutput(double tokens) const
    {
        return ToTime(Max(2.0 * 256 * 1024 * tokens / m_gpus, 2.0 * 256 * 1024 / m_gpus));
    }

    /** @return a prompt's pass without all-reduces */
    Time GetPrefill(const std::vector<double>& prompts) const
    {
        double tokens = 0;
        double pairs = 0;
        for (double prompt : prompts)
        {
            tokens += prompt;
            pairs += prompt * (prompt + 1) / 2;
        }
        return 4 * (GetAttention(tokens, pairs, tokens) + GetNetwork(tokens)) +
               GetOutput(static_cast<double>(prompts.size()));
    }

    /** @return a step of requests that attend to these numbers of tokens, likewise */
    Time GetDecode(const std::vector<double>& contexts) const
    {
        double pairs = 0;
        for (double context : contexts)
        {
            pairs += context;
        }
        const auto tokens = static_cast<double>(contexts.size());
        return 4 * (GetAttention(tokens, pairs, pairs) + GetNetwork(tokens)) + GetOutput(tokens);
    }

  private:
    static double Max(double operations, double bytes)
    {
        return std::max(operations / MakeRates().operations, bytes / MakeRates().memory);
    }

    double m_gpus;
};

ClusterOptions
MakeCluster(uint32_t ranks)
{
    ClusterOptions options;
    options.ranks = ranks;
    return options;
}

/** @return requests of a prompt and an answer, at times in microseconds */
std::vector<ServingRequest>
MakeList(const std::vector<std::tuple<double, uint64_t, uint64_t>>& rows)
{
    std::vector<ServingRequest> requests;
    for (const auto& [when, prompt, output] : rows)
    {
        requests.push_back({ToTime(when * 1e-6), prompt, output});
    }
    return requests;
}

/** A system on a cluster of its own. */
class Service
{
  public:
    Service(const ClusterOptions& clusterOptions,
            const ServingOptions& options,
            const std::vector<ServingRequest>& requests,
            const TransformerModel& model = MakeSmallModel(),
            const TransformerRates& rates = MakeRates())
        : cluster(clusterOptions),
          system(InstallServing(cluster, options, model, rates, requests))
    {
        for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
        {
            const auto communicator = cluster.GetHostCommunicator(rank);
            communicator->TraceConnectWithoutContext("Send", MakeCallback(&Service::OnSend, this));
            communicator->TraceConnectWithoutContext("Receive",
                                                     MakeCallback(&Service::OnReceive, this));
        }
        system->SetEnd([this] { ends++; });
        system->Start();
        Simulator::Run();
    }

    ~Service()
    {
        Simulator::Destroy();
    }

    /** @return a request */
    const ServedRequest& Get(std::size_t number) const
    {
        return system->GetRequests().at(number);
    }

    Cluster cluster;
    std::unique_ptr<ServingSystem> system;
    uint32_t ends{0};
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> sent;     ///< by ends, bytes
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> received; ///< likewise
    uint64_t messages{0};                                       ///< received
    std::set<std::tuple<uint32_t, uint32_t, uint64_t>> tags;    ///< of received messages

  private:
    void OnSend(const MessageRecord& record)
    {
        if (record.step == MessageTag::PEER_TO_PEER)
        {
            sent[{record.source, record.destination}] += record.bytes;
        }
    }

    void OnReceive(const MessageRecord& record)
    {
        if (record.step == MessageTag::PEER_TO_PEER)
        {
            received[{record.source, record.destination}] += record.bytes;
            messages++;
            tags.insert({record.source, record.destination, record.tag});
        }
    }
};

/**
 * @return time of a message of at least two full packets between two hosts of an idle switch. The
 * first packet has an address of 16 bytes, and the others queue behind it; the last one has a
 * number of 4 bytes.
 */
Time
GetMessageTime(const ClusterOptions& options, uint64_t packets)
{
    const PacketSize packet = PacketSize::OfRdma(4096);
    const uint64_t frame = packet.payload + packet.headers;
    const uint64_t bytes = (packets + 1) * frame + 2 * 16 + 4 - 2 * Frame::GAP_BYTES;
    return options.rate.CalculateBytesTxTime(static_cast<uint32_t>(bytes)) + 2 * options.delay;
}

/** @return the parts that a GPU has */
std::set<uint32_t>
GetParts(uint32_t gpu, uint32_t gpus, uint32_t parts)
{
    std::set<uint32_t> held;
    for (uint32_t part = 0; part < parts; part++)
    {
        const bool has =
            gpus <= parts ? part / (parts / gpus) == gpu : gpu / (gpus / parts) == part;
        if (has)
        {
            held.insert(part);
        }
    }
    return held;
}

void
CheckRoutes(uint32_t parts, uint32_t senders, uint32_t receivers)
{
    std::vector<uint32_t> received(receivers);
    std::vector<uint32_t> sent(senders);
    for (const KeyValueRoute& route : MakeKeyValueRoutes(parts, senders, receivers))
    {
        const auto from = GetParts(route.from, senders, parts);
        const auto to = GetParts(route.to, receivers, parts);
        std::set<uint32_t> common;
        std::set_intersection(from.begin(),
                              from.end(),
                              to.begin(),
                              to.end(),
                              std::inserter(common, common.end()));
        NS_TEST_EXPECT_MSG_EQ(common.size(),
                              route.parts,
                              parts << " parts, " << senders << " to " << receivers);
        received[route.to] += route.parts;
        sent[route.from] += route.parts;
    }
    const uint32_t each = std::max(1U, parts / receivers);
    for (uint32_t count : received)
    {
        NS_TEST_EXPECT_MSG_EQ(count, each, "parts of " << senders << " to " << receivers);
    }
    const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
    if (receivers % senders == 0)
    {
        NS_TEST_EXPECT_MSG_EQ(*least, *most, "senders share the work");
    }
}

/**
 * Sizes of keys and values: those that DeepSeek-AI publishes (Insights into DeepSeek-V3, ISCA 2025,
 * table 1, BF16); and which GPU has which part.
 */
void
TestKeyValue()
{
    const std::map<std::string, uint64_t> published{{"deepseek-v3", 70272},
                                                    {"llama3-405b", 516096}};
    for (const auto& [name, bytes] : published)
    {
        const TransformerModel model = FindTransformer(name);
        const ServingSteps steps(model, MakeRates(), 1, 2, "prefill");
        NS_TEST_EXPECT_MSG_EQ(steps.GetTokenBytes(), bytes, name);
        NS_TEST_EXPECT_MSG_EQ(steps.GetWeightBytes(), 2 * model.GetParameters(), name);
    }
    // Two of eight GPUs have the same head of four; every GPU has the compressed form.
    const TransformerModel grouped = FindTransformer("llama3-8b"); // 8 heads
    NS_TEST_EXPECT_MSG_EQ(ServingSteps(grouped, MakeRates(), 2, 2, "").GetTokenBytes(),
                          131072 / 2,
                          "four heads");
    NS_TEST_EXPECT_MSG_EQ(ServingSteps(grouped, MakeRates(), 16, 2, "").GetTokenBytes(),
                          131072 / 8,
                          "one head");
    NS_TEST_EXPECT_MSG_EQ(
        ServingSteps(FindTransformer("deepseek-v3"), MakeRates(), 8, 1, "").GetTokenBytes(),
        70272 / 2,
        "compressed, FP8");
    for (uint32_t parts : {1, 2, 6, 8})
    {
        for (uint32_t senders : {1, 2, 3, 6, 8, 24, 48})
        {
            for (uint32_t receivers : {1, 2, 3, 6, 8, 24, 48})
            {
                const auto fits = [parts](uint32_t gpus) {
                    return parts % gpus == 0 || gpus % parts == 0;
                };
                if (fits(senders) && fits(receivers))
                {
                    CheckRoutes(parts, senders, receivers);
                }
            }
        }
    }
}

/** One request on an idle network, to the picosecond: prompt, transfer and steps. */
struct OneRequestTestCase
{
    void Run()
    {
        constexpr uint64_t PROMPT = 64; // 8 packets a layer
        constexpr uint64_t OUTPUT = 5;
        const ClusterOptions cluster = MakeCluster(2);
        const SmallTimes times(1);
        for (bool isLayerwise : {false, true})
        {
            ServingOptions options;
            options.isLayerwise = isLayerwise;
            const Service service(cluster, options, MakeList({{7, PROMPT, OUTPUT}}));
            const ServedRequest& one = service.Get(0);
            const uint64_t packets = (isLayerwise ? 1 : 4) * PROMPT * SMALL_TOKEN_BYTES / 4096;
            const Time prefill = times.GetPrefill({PROMPT});
            NS_TEST_EXPECT_MSG_EQ(one.prefillStart, MicroSeconds(7), "no wait");
            NS_TEST_EXPECT_MSG_EQ(one.GetTransferTime(), GetMessageTime(cluster, packets), "moved");
            NS_TEST_EXPECT_MSG_EQ(one.GetTimeToFirstToken(),
                                  prefill + GetMessageTime(cluster, packets),
                                  "first token, layer by layer: " << isLayerwise);
            NS_TEST_ASSERT_MSG_EQ(one.tokenGaps.size(), OUTPUT - 1, "tokens");
            for (uint64_t token = 1; token < OUTPUT; token++)
            {
                NS_TEST_EXPECT_MSG_EQ(one.tokenGaps[token - 1],
                                      times.GetDecode({static_cast<double>(PROMPT + token)}),
                                      "token " << token);
            }
            NS_TEST_EXPECT_MSG_EQ(service.messages, (isLayerwise ? 4 : 1), "messages");
            NS_TEST_EXPECT_MSG_EQ(service.ends, 1, "end");
        }
        RunTensorParallel();
    }

    /** Two GPUs: each pass has 9 all-reduces, whose time is measured alone. */
    void RunTensorParallel()
    {
        constexpr uint64_t PROMPT = 96;
        const ClusterOptions cluster = MakeCluster(4);
        const Time large = GetAllReduceTime(cluster, PROMPT * 256 * 2);
        const Time small = GetAllReduceTime(cluster, 256 * 2);
        ServingOptions options;
        options.prefillTensor = 2;
        options.decodeTensor = 2;
        const Service service(cluster, options, MakeList({{0, PROMPT, 3}}));
        const ServedRequest& one = service.Get(0);
        const SmallTimes times(2);
        NS_TEST_EXPECT_MSG_EQ(one.prefillEnd,
                              times.GetPrefill({PROMPT}) + 9 * large,
                              "prompt with all-reduces of " << large);
        const auto get = [&](double token) {
            return times.GetDecode({PROMPT + token}) + 9 * small;
        };
        // The first all-reduce meets the last acknowledgements of the keys and values.
        const Time acknowledgement = NanoSeconds(7); // 84 bytes
        NS_TEST_EXPECT_MSG_GT_OR_EQ(one.tokenGaps.at(0), get(1), "token 1");
        NS_TEST_EXPECT_MSG_LT(one.tokenGaps.at(0), get(1) + 2 * acknowledgement, "token 1");
        NS_TEST_EXPECT_MSG_EQ(one.tokenGaps.at(1), get(2), "token 2");
        // A head each: 96 tokens of 256 bytes are 6 packets.
        NS_TEST_EXPECT_MSG_EQ(one.GetTransferTime(), GetMessageTime(cluster, 6), "moved");
    }

    void OnDone()
    {
        end = Simulator::Now();
    }

    /** @return time of an all-reduce of two ranks */
    Time GetAllReduceTime(const ClusterOptions& options, uint64_t bytes)
    {
        const Cluster cluster(options);
        const auto group = cluster.GetCommunicators().Split({{0, 1}}, 1);
        for (uint32_t rank : {0, 1})
        {
            auto tensor = Create<Tensor>();
            tensor->bytes = bytes;
            group[rank]->AllReduce(tensor, MakeCallback(&OneRequestTestCase::OnDone, this));
        }
        Simulator::Run();
        Simulator::Destroy();
        return end;
    }

    Time end;
};

/** @return number of a step by its start */
double
GetPlace(const std::vector<Time>& starts, Time start)
{
    return static_cast<double>(std::find(starts.begin(), starts.end(), start) - starts.begin());
}

/** Requests that are computed together, in the order of arrival. */
void
TestBatch()
{
    const ClusterOptions cluster = MakeCluster(2);
    const SmallTimes times(1);
    ServingOptions options;
    options.prefillTokens = 100;
    // The second is computed alone, as it exceeds the limit; the others wait and share a batch.
    const auto list = MakeList({{0, 30, 1}, {1, 150, 1}, {2, 40, 1}, {3, 60, 1}, {4, 1, 1}});
    {
        const Service service(cluster, options, list);
        const Time first = times.GetPrefill({30});
        const Time second = first + times.GetPrefill({150});
        const Time third = second + times.GetPrefill({40, 60});
        const Time fourth = third + times.GetPrefill({1});
        const std::vector<Time> ends{first, second, third, third, fourth};
        for (std::size_t i = 0; i < ends.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(service.Get(i).prefillEnd, ends[i], "request " << i);
            NS_TEST_EXPECT_MSG_EQ(service.Get(i).isDone, true, "one token");
            NS_TEST_EXPECT_MSG_EQ(service.Get(i).GetTokens(), 1, "one token");
            NS_TEST_EXPECT_MSG_EQ(service.Get(i).lastToken, service.Get(i).firstToken, "both");
        }
    }
    {
        options.prefillRequests = 1;
        const Service service(cluster, options, list);
        NS_TEST_EXPECT_MSG_EQ(service.Get(3).prefillEnd - service.Get(2).prefillEnd,
                              times.GetPrefill({60}),
                              "one at a time");
    }
    // Decoding: the second joins at the end of the step under way, the third waits for a place.
    ServingOptions two;
    two.decodeRequests = 2;
    const Service service(cluster, two, MakeList({{0, 8, 9}, {0, 8, 3}, {0, 8, 2}}));
    const ServedRequest& a = service.Get(0);
    const ServedRequest& b = service.Get(1);
    const ServedRequest& c = service.Get(2);
    NS_TEST_EXPECT_MSG_EQ(c.prefillEnd,
                          a.prefillEnd + times.GetPrefill({8, 8}),
                          "a is alone, then b and c");
    NS_TEST_EXPECT_MSG_EQ(a.joined, a.firstToken, "a begins at once");
    std::vector<Time> starts{a.joined};
    for (Time gap : a.tokenGaps)
    {
        starts.push_back(starts.back() + gap);
    }
    NS_TEST_EXPECT_MSG_EQ(std::count(starts.begin(), starts.end(), b.joined), 1, "b joins");
    NS_TEST_EXPECT_MSG_EQ(b.tokenGaps.at(1),
                          times.GetDecode({10, 10 + 1.0 * GetPlace(starts, b.joined)}),
                          "step of two");
    const Time left = std::min(a.lastToken, b.lastToken);
    NS_TEST_EXPECT_MSG_EQ(c.joined, left, "c has the place of the first that leaves");
    NS_TEST_EXPECT_MSG_EQ(service.system->GetDecodes()[0]->GetLargestBatch(), 2, "batch");
}

void
Check(uint32_t from,
      uint32_t to,
      const std::string& transport,
      const std::vector<ServingRequest>& requests)
{
    ClusterOptions cluster = MakeCluster(3 * from + 2 * to);
    cluster.transport = transport;
    cluster.loss = 0.001;
    ServingOptions options;
    options.prefillInstances = 3;
    options.decodeInstances = 2;
    options.prefillTensor = from;
    options.decodeTensor = to;
    options.routing = from > to ? ServingRouting::ROUND_ROBIN : ServingRouting::LEAST_LOADED;
    options.isLayerwise = from != 2;
    const Service service(cluster, options, requests);
    const std::string what = transport + ", " + std::to_string(from) + " to " + std::to_string(to);
    uint64_t bytes = 0;
    for (std::size_t i = 0; i < requests.size(); i++)
    {
        const ServedRequest& one = service.Get(i);
        NS_TEST_EXPECT_MSG_EQ(one.isDone, true, what);
        NS_TEST_EXPECT_MSG_EQ(one.GetTokens(), requests[i].output, what);
        // Each head of a token once to each GPU that has it: 4 GPUs have 2 heads twice.
        bytes += requests[i].prompt * 4 * SMALL_TOKEN_BYTES * (to == 4 ? 2 : 1);
    }
    uint64_t received = 0;
    for (const auto& [ends, count] : service.received)
    {
        received += count;
    }
    NS_TEST_EXPECT_MSG_EQ(received, bytes, what);
    NS_TEST_EXPECT_MSG_EQ(service.received, service.sent, what);
    NS_TEST_EXPECT_MSG_EQ(service.tags.size(), service.messages, what << ": once");
    NS_TEST_EXPECT_MSG_EQ(service.ends, 1, what);
    std::set<uint32_t> prefills;
    std::set<uint32_t> decodes;
    for (const ServedRequest& one : service.system->GetRequests())
    {
        prefills.insert(one.prefillInstance);
        decodes.insert(one.decodeInstance);
    }
    NS_TEST_EXPECT_MSG_EQ(prefills.size(), 3, what << ": all serve");
    NS_TEST_EXPECT_MSG_EQ(decodes.size(), 2, what << ": all serve");
}

/** Whatever the instances and losses: bytes arrive once, tokens are made once. */
void
TestConservation()
{
    ServingLoad load;
    load.count = 30;
    load.rate = 2000;
    load.prompt = 37;
    load.output = 6;
    load.jitter = "lognormal:cv=0.8";
    const auto requests = MakeRequests(load);
    // GPUs of instances: fewer than heads, as many, more (heads are then copied).
    for (const auto& [from, to] : {std::make_pair(1U, 2U), {2U, 1U}, {4U, 1U}, {1U, 4U}})
    {
        for (const std::string transport : {"rdma", "tcp", "uec"})
        {
            Check(from, to, transport, requests);
        }
    }
}

ServingSummary
Run(const ServingLoad& load)
{
    const auto requests = MakeRequests(load);
    ServingOptions options;
    options.prefillRequests = 1;
    const Service run(MakeCluster(2), options, requests);
    const Time length = SmallTimes(1).GetPrefill({16});
    Time wait;
    for (std::size_t i = 0; i < requests.size(); i++)
    {
        if (i > 0)
        {
            const Time gap = requests[i].arrival - requests[i - 1].arrival;
            wait = std::max(Time(0), wait + length - gap);
        }
        NS_TEST_EXPECT_MSG_EQ(run.Get(i).GetPrefillWait(), wait, "request " << i);
    }
    return ServingSummary::Of(run.system->GetRequests(), {});
}

/**
 * A prefill instance that computes prompts of the same length one by one is an M/D/1 queue: each
 * wait follows from the one before (Lindley), and the mean is that of Pollaczek and Khinchine.
 */
void
TestQueue()
{
    ServingLoad load;
    load.count = 30000;
    load.prompt = 16;
    load.output = 1;
    const double service = SmallTimes(1).GetPrefill({16}).GetSeconds();
    load.rate = 0.6 / service;
    const ServingSummary stable = Run(load);
    const double expected = 0.6 * service / (2 * (1 - 0.6));
    // A standard deviation of the mean is about 2 % of it with 30000 requests at this load.
    NS_TEST_EXPECT_MSG_EQ_TOL(stable.prefillWaitS, expected, 0.06 * expected, "mean wait");
    NS_TEST_EXPECT_MSG_EQ(stable.IsOverloaded(), false, "load 0.6: " << stable.waitGrowth);
    NS_TEST_EXPECT_MSG_EQ_TOL(stable.requestsPerSecond, load.rate, 0.02 * load.rate, "served");

    load.count = 2000;
    load.rate = 1.5 / service;
    const ServingSummary overload = Run(load);
    NS_TEST_EXPECT_MSG_EQ_TOL(overload.waitGrowth, 0.5, 0.1, "load 1.5");
    NS_TEST_EXPECT_MSG_EQ(overload.IsOverloaded(), true, "load 1.5");
    NS_TEST_EXPECT_MSG_EQ_TOL(overload.requestsPerSecond, 1 / service, 0.01 / service, "limit");
}

std::vector<std::tuple<int64_t, uint64_t, uint64_t>>
Make(const ServingLoad& load)
{
    std::vector<std::tuple<int64_t, uint64_t, uint64_t>> rows;
    for (const ServingRequest& one : MakeRequests(load))
    {
        rows.emplace_back(one.arrival.GetPicoSeconds(), one.prompt, one.output);
    }
    return rows;
}

void
CheckObjectives()
{
    // The second request waits for the first one.
    const Service service(MakeCluster(2), {}, MakeList({{0, 64, 3}, {1, 64, 3}}));
    const double first = service.Get(0).GetTimeToFirstToken().GetSeconds();
    const double second = service.Get(1).GetTimeToFirstToken().GetSeconds();
    NS_TEST_EXPECT_MSG_LT(first, second, "the first is faster");
    const auto get = [&](double firstToken, double token) {
        return ServingSummary::Of(service.system->GetRequests(), {firstToken, token});
    };
    NS_TEST_EXPECT_MSG_EQ(get(0, 0).attainment, 1, "no objective");
    NS_TEST_EXPECT_MSG_EQ(get(first, 0).attainment, 0.5, "one");
    NS_TEST_EXPECT_MSG_EQ(get(first / 2, 0).attainment, 0, "none");
    NS_TEST_EXPECT_MSG_EQ(get(second, 1e-9).attainment, 0, "tokens");
    NS_TEST_EXPECT_MSG_EQ_TOL(get(first, 0).goodputPerSecond,
                              1 / get(0, 0).seconds,
                              1e-9,
                              "one in this time");
}

/** Random requests, and what is computed from them. */
void
TestRequest()
{
    ServingLoad load;
    load.count = 20000;
    load.rate = 50;
    load.prompt = 100;
    load.jitter = "lognormal:cv=0.5";
    const auto rows = Make(load);
    NS_TEST_EXPECT_MSG_EQ(rows, Make(load), "the same run number");
    const uint64_t run = RngSeedManager::GetRun();
    RngSeedManager::SetRun(run + 1);
    NS_TEST_EXPECT_MSG_NE(rows, Make(load), "another run number");
    RngSeedManager::SetRun(run);
    // Five standard deviations of the mean of 20000 gaps: 1 / sqrt(20000) each.
    const double mean = static_cast<double>(std::get<0>(rows.back())) * 1e-12 / 20000;
    NS_TEST_EXPECT_MSG_EQ_TOL(mean, 0.02, 0.02 * 5 / std::sqrt(20000.0), "mean gap");
    double prompts = 0;
    for (const auto& [when, prompt, output] : rows)
    {
        prompts += static_cast<double>(prompt) / 20000;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(prompts, 100, 100 * 0.5 * 5 / std::sqrt(20000.0), "prompt");

    std::vector<double> values(100);
    for (std::size_t i = 0; i < values.size(); i++)
    {
        values[i] = static_cast<double>(100 - i); // 1 to 100
    }
    const ServingQuantity quantity = ServingQuantity::Of(values);
    NS_TEST_EXPECT_MSG_EQ(quantity.mean, 50.5, "mean");
    NS_TEST_EXPECT_MSG_EQ(quantity.p50, 50, "median");
    NS_TEST_EXPECT_MSG_EQ(quantity.p90, 90, "p90");
    NS_TEST_EXPECT_MSG_EQ(quantity.p99, 99, "p99");
    NS_TEST_EXPECT_MSG_EQ(ServingQuantity::Of({7}).p99, 7, "one value");

    const Service none(MakeCluster(2), {}, {});
    NS_TEST_EXPECT_MSG_EQ(none.ends, 1, "nothing to do");
    NS_TEST_EXPECT_MSG_EQ(ServingSummary::Of(none.system->GetRequests(), {}).requests, 0, "0");
    CheckObjectives();
}

/** Memory for keys and values, in which requests queue. */
void
TestMemory()
{
    const ServingSteps steps(MakeSmallModel(), MakeRates(), 1, 2, "decode");
    ServingOptions options;
    // 20 + 11 - 1 tokens of a request fit once, twice they do not.
    options.memory = steps.GetWeightBytes() + 59 * steps.GetTokenBytes();
    for (bool isLayerwise : {false, true})
    {
        options.isLayerwise = isLayerwise;
        const Service service(MakeCluster(2),
                              options,
                              MakeList({{0, 20, 11}, {0, 20, 11}, {0, 20, 11}}));
        NS_TEST_EXPECT_MSG_EQ(service.system->GetDecodeCapacity(), 59, "tokens");
        for (std::size_t i : {1, 2})
        {
            const ServedRequest& one = service.Get(i);
            NS_TEST_EXPECT_MSG_EQ(one.granted, service.Get(i - 1).lastToken, "after the other");
            // All layers at once, 20 tokens: 10 packets.
            NS_TEST_EXPECT_MSG_EQ(one.GetTransferTime(),
                                  GetMessageTime(MakeCluster(2), 10),
                                  "then they move");
            NS_TEST_EXPECT_MSG_EQ(one.GetTimeToFirstToken(),
                                  one.GetPrefillWait() + (one.prefillEnd - one.prefillStart) +
                                      one.GetMemoryWait() + one.GetTransferTime(),
                                  "parts");
            NS_TEST_EXPECT_MSG_EQ(one.isDone, true, "done");
        }
        // Two prompts of 20 fit into the memory where they are computed, the third waits until
        // the first has left.
        NS_TEST_EXPECT_MSG_GT_OR_EQ(service.Get(2).prefillStart,
                                    service.Get(0).firstToken,
                                    "memory of the prefill instance");
    }
    const auto refuse = [&](const std::function<void(ServingOptions&)>& change,
                            const std::vector<ServingRequest>& requests = {},
                            const std::string& model = "") {
        ServingOptions changed = options;
        change(changed);
        const std::string refusal = GetRefusal([&] {
            Service(MakeCluster(16),
                    changed,
                    requests,
                    model.empty() ? MakeSmallModel() : FindTransformer(model));
        });
        Simulator::Destroy();
        return refusal;
    };
    const auto nothing = [](ServingOptions&) {};
    ExpectPart(refuse(nothing, MakeList({{0, 1, 1}, {0, 50, 11}})),
               "request 1: 50 + 11 tokens (allowed: up to 59, for which a decode instance has");
    ExpectPart(refuse(nothing, MakeList({{0, 60, 1}})), "for which a prefill instance has");
    NS_TEST_EXPECT_MSG_EQ(refuse(nothing, MakeList({{0, 59, 1}, {0, 1, 59}})), "", "just fits");
    ExpectPart(refuse(nothing, {}, "llama3-8b"), "gpu memory ");
    ExpectPart(refuse([](auto& o) { o.prefillTensor = 3; }),
               "prefill tensor 3 (allowed: divisors of 4, the heads of attention)");
    ExpectPart(refuse([](auto& o) { o.decodeTensor = 8; }), "decode tensor 8 (allowed:");
    ExpectPart(refuse([](auto& o) { o.decodeInstances = 16; }),
               "ranks 16 (allowed: at least 17, the GPUs of all instances)");
}

std::vector<ServingRequest>
Read(const std::string& text)
{
    return ReadRequests(WriteFile("requests.csv", text));
}

void
Refuse(const std::string& text, const std::string& part)
{
    ExpectPart(GetRefusal([&] { Read(text); }), part);
}

void
TestTrace()
{
    const std::string head = "time_s,prompt,output\n";
    const auto rows = Read("# mine\n" + head + "0.5,10,20\r\n\n0.5,1,1\n2,3,4\n");
    NS_TEST_ASSERT_MSG_EQ(rows.size(), 3, "rows");
    NS_TEST_EXPECT_MSG_EQ(rows[0].arrival, MilliSeconds(500), "time");
    NS_TEST_EXPECT_MSG_EQ(rows[0].prompt, 10, "prompt");
    NS_TEST_EXPECT_MSG_EQ(rows[2].output, 4, "output");
    NS_TEST_EXPECT_MSG_EQ(Read(head).size(), 0, "no requests");
    // Both forms of dates that Azure's traces have.
    const auto dated = Read("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                            "2023-12-31 23:59:59.5000000,374,44\n"
                            "2024-01-01 00:00:01,396,109\n"
                            "2024-01-01 00:00:01.250000+00:00,879,55\n");
    NS_TEST_ASSERT_MSG_EQ(dated.size(), 3, "rows");
    NS_TEST_EXPECT_MSG_EQ(dated[0].arrival, Time(0), "the first one");
    NS_TEST_EXPECT_MSG_EQ(dated[1].arrival, MilliSeconds(1500), "the next year");
    NS_TEST_EXPECT_MSG_EQ(dated[2].arrival, MilliSeconds(1750), "with a zone");
    NS_TEST_EXPECT_MSG_EQ(dated[2].prompt, 879, "prompt");

    Refuse("", "no line time_s,prompt,output");
    Refuse("time,a,b\n", "requests.csv:1: 'time,a,b' (allowed: time_s,prompt,output");
    Refuse(head + "1,2\n", ":2: '1,2' has not three columns");
    Refuse(head + "1,2,3,4\n", "has not three columns");
    Refuse(head + "x,2,3\n", ":2: 'x' is not a time");
    Refuse(head + "-1,2,3\n", "'-1' is not a time");
    Refuse(head + "1e99,2,3\n", "'1e99' is not a time (allowed: 0 to 1e+06 s)");
    Refuse(head + "2,2,3\n1,2,3\n", ":3: '1' is before the request of the previous row");
    Refuse(head + "1,0,3\n", ":2: '0' tokens (allowed: 1 to 10000000)");
    Refuse(head + "1,2,10000001\n", "'10000001' tokens");
    Refuse(head + "1,2,3.5\n", "'3.5' tokens");
    Refuse("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-30 00:00:00,1,1\n",
           ":2: '2023-02-30 00:00:00' is no date");
    ExpectPart(GetRefusal([] { ReadRequests("/nowhere/requests.csv"); }), "cannot read");
}

const Suite g_suite(
    "serving",
    Duration::EXTENSIVE,
    {{"keys and values have the published sizes, and go to each GPU once", TestKeyValue},
     {"times of one request equal closed forms", RunTest<OneRequestTestCase>},
     {"batches have the requests that fit, and the times of the roofline", TestBatch},
     {"every byte of keys and values arrives once, every token is made once", TestConservation},
     {"waits are those of a queue with Poisson arrivals; overload is reported", TestQueue},
     {"random requests can be repeated; percentiles, objectives and no requests", TestRequest},
     {"requests wait for memory, or are refused if they never fit", TestMemory},
     {"files of requests are read, or refused with their line", TestTrace}});

} // namespace ns3::training::tests::serving_test
