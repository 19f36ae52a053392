/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/dense-network.h"
#include "record/codec-figures.h"
#include "run-test-common.h"
#include "test-case.h"

#include "ns3/bucket-codec.h"
#include "ns3/error-feedback.h"
#include "ns3/gradient-training.h"
#include "ns3/training-run.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ns3::training::tests::learning_test
{

void
TestDerivative()
{
    for (const auto& widths : {std::vector<uint32_t>{5, 3},
                               std::vector<uint32_t>{1, 2},
                               std::vector<uint32_t>{4, 7, 3},
                               std::vector<uint32_t>{3, 6, 5, 2}})
    {
        DenseNetwork network(widths, 7);
        uint64_t parameters = 0;
        for (const LayerShape& layer : network.GetLayers())
        {
            parameters += layer.parameters;
        }
        NS_TEST_EXPECT_MSG_EQ(parameters, network.GetWeights().size(), "parameters");
        const std::vector<float> features{0.5F, -1.25F, 2, 0.75F, -0.5F};
        std::vector<float> gradient(parameters, 1); // to which that of the loss is added
        const double loss = network.AddGradient(features.data(), 1, gradient);
        NS_TEST_EXPECT_MSG_EQ(loss, network.GetLoss(features.data(), 1), "the same loss");
        for (std::size_t i = 0; i < parameters; i++)
        {
            constexpr float STEP = 1.0F / 256;
            const float weight = network.GetWeights()[i];
            network.GetWeights()[i] = weight + STEP;
            const double above = network.GetLoss(features.data(), 1);
            network.GetWeights()[i] = weight - STEP;
            const double below = network.GetLoss(features.data(), 1);
            network.GetWeights()[i] = weight;
            NS_TEST_EXPECT_MSG_EQ_TOL(gradient[i] - 1,
                                      (above - below) / (2 * STEP),
                                      2e-4,
                                      "weight " << i << " of " << widths.size() << " widths");
        }
    }
    DenseNetwork even({3, 4}, 1);
    std::fill(even.GetWeights().begin(), even.GetWeights().end(), 0.0F);
    const std::vector<float> features{1, 2, 3};
    NS_TEST_EXPECT_MSG_EQ_TOL(even.GetLoss(features.data(), 2), std::log(4), 1e-12, "log(4)");
}

/** The step of a replica: SGD with momentum along the mean gradient of the ranks. */
void
TestStep()
{
    const auto training =
        MakeGradientTraining("learn:learning-rate=0.5,momentum=0.25,samples=7", {4, 8, 1});
    const auto learner = training->MakeLearner(3);
    const auto before = learner->GetWeights();
    const uint64_t count = before.size() - 10;
    const std::vector<float> sum(count, 4);
    for (uint32_t iteration = 0; iteration < 3; iteration++)
    {
        const GradientPlace place{1, 3, iteration, 1, 10};
        const auto gradient = learner->Make(place, count);
        NS_TEST_EXPECT_MSG_EQ(gradient, learner->Make(place, count), "made again");
        learner->Apply(place, sum);
    }
    // Velocities 1, 1.25 and 1.3125 along a mean gradient of 1.
    float expected = before[20];
    for (const float velocity : {1.0F, 1.25F, 1.3125F})
    {
        expected -= 0.5F * velocity;
    }
    NS_TEST_EXPECT_MSG_EQ(learner->GetWeights()[20], expected, "momentum");
    NS_TEST_EXPECT_MSG_EQ(learner->GetWeights()[9], before[9], "of another bucket");
}

/** @return options of a small training */
TrainingRunOptions
MakeOptions(uint64_t ranks)
{
    TrainingRunOptions options;
    options.gradients = "learn:features=7,hidden=13,classes=3,samples=101,tests=50";
    options.batch = 5;
    options.bucket = 100; // one for each layer
    options.iterations = 6;
    options.cluster.ranks = ranks;
    options.cluster.rate = DataRate("10Gbps");
    return options;
}

/** @return states of the training */
std::vector<LearningRow>
Train(const TrainingRunOptions& options, const std::string& what)
{
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", what);
    NS_TEST_EXPECT_MSG_EQ(result.mean.verified, true, what);
    NS_TEST_EXPECT_MSG_EQ(result.learning.size(), 7, what);
    ExpectPart(result.training, "bit for bit", what);
    if (const auto* codec = result.figures.Find<CodecFigures>())
    {
        NS_TEST_EXPECT_MSG_EQ(codec->isDeclared, false, what << ": codes have sizes");
    }
    for (uint32_t i = 0; i < result.learning.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(result.learning[i].iteration, i, what);
        NS_TEST_EXPECT_MSG_EQ(result.learning[i].endS, result.iterations[i].endS, what);
    }
    return result.learning;
}

/** Expects equal losses, bit for bit. */
void
ExpectSame(const std::vector<LearningRow>& rows,
           const std::vector<LearningRow>& others,
           const std::string& what)
{
    for (std::size_t i = 0; i < rows.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(rows[i].trainingLoss, others[i].trainingLoss, what);
        NS_TEST_EXPECT_MSG_EQ(rows[i].testLoss, others[i].testLoss, what);
        NS_TEST_EXPECT_MSG_EQ(rows[i].testAccuracy, others[i].testAccuracy, what);
        NS_TEST_EXPECT_MSG_EQ(rows[i].drift, others[i].drift, what);
    }
}

/** Trains without and with losses of frames, to the same states. @return the states */
std::vector<LearningRow>
TrainWithLosses(TrainingRunOptions options, const std::string& what)
{
    const auto rows = Train(options, what);
    options.cluster.loss = 0.01;
    ExpectSame(Train(options, what + ", with losses"), rows, what + ", with losses");
    return rows;
}

void
CheckProgress()
{
    TrainingRunOptions options = MakeOptions(2);
    options.gradients = "learn:task=logistic,separation=8,classes=3,features=5";
    options.iterations = 60;
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_GT(result.learning.back().testAccuracy, 0.99, "blobs far apart");
    NS_TEST_EXPECT_MSG_LT(result.learning.back().trainingLoss,
                          result.learning.front().trainingLoss / 10,
                          "loss");
    options.gradients = "learn:learning-rate=1e6,tests=5";
    TrainingRun diverging(options);
    ExpectPart(GetStuck([&diverging] { diverging.Run(); }),
               "the training diverges: a weight or loss of iteration");
}

void
CheckRefusals()
{
    using O = TrainingRunOptions&;
    const auto refuse = [](const std::string& part, const std::function<void(O)>& change) {
        TrainingRunOptions options = MakeOptions(3);
        change(options);
        ExpectPart(GetRefusal([&] { TrainingRun run(options); }), part);
    };
    refuse("allowed: with payload=real", [](O o) { o.payload = "virtual"; });
    refuse("learn a model of their own", [](O o) { o.workload = "vgg16"; });
    refuse("the task has no hidden", [](O o) { o.gradients = "learn:task=logistic,hidden=3"; });
    refuse("the task has no separation", [](O o) { o.gradients = "learn:separation=3"; });
    refuse("fewer samples than ranks", [](O o) { o.gradients = "learn:samples=2"; });
    refuse("allowed: up to 268435456 of each",
           [](O o) { o.gradients = "learn:features=60000,samples=60000"; });
    refuse("allowed: collectives that return sums",
           [](O o) { o.cluster.algorithm = "switch-ps:optimizer=sgd"; });
    ExpectPart(GetRefusal([] { MakeGradientSource("learn"); }), "takes a training job");
}

/** A training inside a job is that without a network, bit for bit, whatever carries the sums. */
void
TestJobTraining()
{
    std::map<std::pair<std::string, std::string>, std::vector<LearningRow>> first;
    for (const std::string collective : {"ring", "direct", "switchml"})
    {
        for (const std::string nic : {"none", "fp16", "inceptionn:bound=-10"})
        {
            if (collective == "switchml" && nic != "none")
            {
                continue; // refused: a switch cannot sum these codes
            }
            for (const std::string transport : {"rdma", "tcp"})
            {
                TrainingRunOptions options = MakeOptions(3);
                options.cluster.algorithm = collective;
                options.cluster.transport = transport;
                options.cluster.nic = nic;
                const std::string what = collective + " " + transport + " " + nic;
                const auto rows = TrainWithLosses(options, what);
                auto& expected = first[{collective, nic}];
                if (expected.empty())
                {
                    expected = rows;
                    NS_TEST_EXPECT_MSG_EQ((rows.back().drift > 0), (nic != "none"), what);
                }
                ExpectSame(rows, expected, what);
            }
        }
    }
    for (const std::string collective : {"ring", "direct"})
    {
        for (const std::string& codec : Split("inceptionn:bound=-10|qsgd|ef-sign:feedback=true|"
                                              "top-k:keep=0.1,feedback=true|"
                                              "powersgd:rank=1,feedback=true"))
        {
            TrainingRunOptions options = MakeOptions(3);
            options.cluster.algorithm = collective;
            options.cluster.codec = codec;
            const std::string what = collective + " " + codec;
            const LearningRow last = TrainWithLosses(options, what).back();
            // Ranks code messages at each hop, but decode the same codes of buckets.
            NS_TEST_EXPECT_MSG_EQ((last.drift > 0), (codec[0] == 'i'), what);
            const double plain = first[{collective, "none"}].back().trainingLoss;
            NS_TEST_EXPECT_MSG_NE(last.trainingLoss, plain, what << " codes");
        }
    }
    for (const uint64_t ranks : {1, 2, 7})
    {
        const auto rows = Train(MakeOptions(ranks), std::to_string(ranks) + " ranks");
        NS_TEST_EXPECT_MSG_EQ(rows.back().drift, 0, "equal replicas");
    }
    TrainingRunOptions stored = MakeOptions(3);
    stored.life.checkpoint = LifeOptions::BLOCKING;
    stored.life.storageHosts = 1;
    Train(stored, "checkpoints on a storage host, which learns nothing");
    TrainingRunOptions mended = MakeOptions(4);
    mended.cluster.nic = "inceptionn:bound=-10,owner=coded";
    NS_TEST_EXPECT_MSG_EQ(Train(mended, "owner=coded").back().drift, 0, "no drift");
    CheckProgress();
    CheckRefusals();
}

/** Error feedback repairs the training with codecs that leave most of a gradient out. */
struct FeedbackTestCase
{
    /**
     * Trains in memory with a bucket that all ranks sum in coded form.
     * @param codec of the bucket; empty: exact sums
     * @param withFeedback whether ranks keep what codes leave out
     * @return mean training loss of the last 20 of 400 steps
     */
    static double Train(const std::string& codec, bool withFeedback)
    {
        constexpr uint32_t RANKS = 4;
        constexpr uint32_t STEPS = 400;
        constexpr uint32_t LAST = 20;
        const auto training =
            MakeGradientTraining("learn:hidden=96,learning-rate=0.3,momentum=0", {RANKS, 32, 1});
        std::vector<std::unique_ptr<GradientLearner>> learners;
        for (uint32_t rank = 0; rank < RANKS; rank++)
        {
            learners.push_back(training->MakeLearner(rank));
        }
        const uint64_t count = learners[0]->GetWeights().size();
        std::vector<Ptr<BucketCodec>> codecs;
        for (uint32_t rank = 0; rank < RANKS && !codec.empty(); rank++)
        {
            codecs.push_back(MakeBucketCodec(codec, {RANKS, rank, count}));
        }
        ErrorFeedback feedback;
        double loss = 0;
        for (uint32_t step = 0; step < STEPS; step++)
        {
            std::vector<std::vector<float>> gradients;
            std::vector<float> sum(count, 0);
            for (uint32_t rank = 0; rank < RANKS; rank++)
            {
                gradients.push_back(learners[rank]->Make({1, rank, step, 0, 0}, count));
                for (uint64_t i = 0; i < count; i++)
                {
                    sum[i] += gradients[rank][i];
                }
                if (withFeedback)
                {
                    feedback.Add(rank, 0, gradients[rank]);
                }
                loss += step + LAST < STEPS ? 0 : learners[rank]->GetLoss(step) / (LAST * RANKS);
            }
            if (!codec.empty())
            {
                CodecKey key;
                key.iteration = step;
                ExchangeBuckets(codecs, gradients, key);
                sum = codecs[0]->GetSum();
            }
            for (uint32_t rank = 0; rank < RANKS; rank++)
            {
                if (withFeedback)
                {
                    feedback.Keep(rank, 0, gradients[rank], codecs[rank]->GetOwn());
                }
                learners[rank]->Apply({1, rank, step, 0, 0}, sum);
            }
        }
        return loss;
    }

    /**
     * Trains over a ring of 4 hosts.
     * @param codec option of the hosts
     * @return mean training loss of the last 20 of 400 steps
     */
    static double Simulate(const std::string& codec)
    {
        constexpr uint32_t STEPS = 400;
        constexpr uint32_t LAST = 20;
        TrainingRunOptions options;
        options.gradients = "learn:hidden=96,learning-rate=0.3,momentum=0";
        options.batch = 32;
        options.iterations = STEPS;
        options.warmup = 0;
        options.cluster.ranks = 4;
        options.cluster.rate = DataRate("10Gbps");
        options.cluster.codec = codec;
        const std::vector<LearningRow> rows = TrainingRun(options).Run().learning;
        double loss = 0;
        for (std::size_t i = rows.size() - LAST; i < rows.size(); i++)
        {
            loss += rows[i].trainingLoss / LAST;
        }
        return loss;
    }

    void Run()
    {
        const double plain = Train("", false);
        NS_TEST_EXPECT_MSG_EQ(plain, Train("", false), "the same training again");
        for (const std::string codec : {"ef-sign", "top-k:keep=0.01"})
        {
            const double with = Train(codec, true) / plain;
            const double without = Train(codec, false) / plain;
            NS_TEST_EXPECT_MSG_EQ_TOL(with, 1, 0.02, codec << " with error feedback");
            NS_TEST_EXPECT_MSG_GT(without, 1.5, codec << " without error feedback");
        }
        // The same over a simulated network, whose hosts code.
        const double exact = Simulate("none");
        for (const std::string codec : {"ef-sign:feedback=", "top-k:keep=0.01,feedback="})
        {
            const double with = Simulate(codec + "true") / exact;
            const double without = Simulate(codec + "false") / exact;
            NS_TEST_EXPECT_MSG_LT(with, 1.02, "network, " << codec << "true");
            NS_TEST_EXPECT_MSG_GT(without, 1.5, "network, " << codec << "false");
        }
    }
};

const Suite g_suite("learning",
                    Duration::EXTENSIVE,
                    {{"gradients of a network against differences of its loss", TestDerivative},
                     {"steps of a replica", TestStep},
                     {"trainings over networks and without one", TestJobTraining},
                     {"losses with and without error feedback", RunTest<FeedbackTestCase>}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::learning_test
