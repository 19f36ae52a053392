/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-training.h"
#include "job/dense-network.h"
#include "job/random-number.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Names of the tasks.
constexpr const char* LOGISTIC = "logistic";
constexpr const char* MLP = "mlp";

/// Most numbers of features, and most weights.
constexpr uint64_t MAX_NUMBERS = 1ULL << 28;

/** What the random numbers of a training are for; part of their keys. */
enum class Use : uint64_t
{
    WEIGHTS,
    TEACHER,
    CENTERS,
    LABELS,
    FEATURES,
    BATCHES
};

/** @return key of the random numbers for a use */
uint64_t
GetKey(uint64_t seed, Use use)
{
    return MixBits(MixBits(seed) ^ static_cast<uint64_t>(use));
}

/** @return the normal number of an index */
double
DrawNormalAt(uint64_t key, uint64_t index)
{
    const uint64_t bits = MixBits(key ^ MixBits(index));
    return DrawNormal(bits, MixBits(~bits ^ key));
}

/** Labelled samples. */
struct Samples
{
    uint32_t width{0};            // features of a sample
    std::vector<float> features;  // sample by sample
    std::vector<uint32_t> labels; // by sample

    const float* GetFeatures(std::size_t sample) const
    {
        return &features[sample * width];
    }
};

/** Widths of the model, and of the teacher of the task mlp. */
std::vector<uint32_t>
GetWidths(const KeyValues& values)
{
    std::vector<uint32_t> widths{static_cast<uint32_t>(values.GetCount("features"))};
    if (values.GetText("task") == MLP)
    {
        widths.push_back(static_cast<uint32_t>(values.GetCount("hidden")));
    }
    widths.push_back(static_cast<uint32_t>(values.GetCount("classes")));
    return widths;
}

/**
 * Samples of the task. Logistic: a Gaussian blob with variance 1 for each class, around a center at
 * the distance `separation` from the origin in a random direction. MLP: normal features, and the
 * class that a random network of the model's shape, the teacher, finds most likely.
 */
Samples
MakeSamples(const KeyValues& values, uint64_t seed)
{
    Samples samples;
    samples.width = static_cast<uint32_t>(values.GetCount("features"));
    const uint64_t classes = values.GetCount("classes");
    const uint64_t count = values.GetCount("samples") + values.GetCount("tests");
    samples.features.resize(count * samples.width);
    const uint64_t key = GetKey(seed, Use::FEATURES);
    for (std::size_t i = 0; i < samples.features.size(); i++)
    {
        samples.features[i] = static_cast<float>(DrawNormalAt(key, i));
    }
    samples.labels.resize(count);
    if (values.GetText("task") == MLP)
    {
        const DenseNetwork teacher(GetWidths(values), GetKey(seed, Use::TEACHER));
        for (std::size_t sample = 0; sample < count; sample++)
        {
            samples.labels[sample] = teacher.Classify(samples.GetFeatures(sample));
        }
        return samples;
    }
    std::vector<double> centers(classes * samples.width);
    for (uint64_t label = 0; label < classes; label++)
    {
        double* center = &centers[label * samples.width];
        double square = 0;
        for (uint32_t i = 0; i < samples.width; i++)
        {
            center[i] = DrawNormalAt(GetKey(seed, Use::CENTERS), label * samples.width + i);
            square += center[i] * center[i];
        }
        const double factor = values.GetNumber("separation") / std::sqrt(square);
        std::transform(center, center + samples.width, center, [factor](double number) {
            return number * factor;
        });
    }
    for (std::size_t sample = 0; sample < count; sample++)
    {
        const uint64_t label = MixBits(GetKey(seed, Use::LABELS) ^ MixBits(sample)) % classes;
        samples.labels[sample] = static_cast<uint32_t>(label);
        for (uint32_t i = 0; i < samples.width; i++)
        {
            samples.features[sample * samples.width + i] +=
                static_cast<float>(centers[label * samples.width + i]);
        }
    }
    return samples;
}

/** The constants of a training, which all replicas share. */
struct Setting
{
    KeyValues values;
    TrainingPlan plan;
    Samples samples; // those of training, then those of the test
};

/** A replica, trained by stochastic gradient descent with momentum. */
class NetworkLearner : public GradientLearner
{
  public:
    NetworkLearner(std::shared_ptr<const Setting> setting, uint32_t rank)
        : m_setting(std::move(setting)),
          m_rank(rank),
          m_network(GetWidths(m_setting->values), GetKey(m_setting->plan.seed, Use::WEIGHTS)),
          m_gradient(m_network.GetWeights().size())
    {
    }

    std::vector<float> Make(const GradientPlace& place, std::size_t count) override
    {
        while (m_losses.size() <= place.iteration)
        {
            Compute();
        }
        const auto first = m_gradient.begin() + static_cast<std::ptrdiff_t>(place.first);
        return {first, first + static_cast<std::ptrdiff_t>(count)};
    }

    void Apply(const GradientPlace& place, const std::vector<float>& sum) override
    {
        const KeyValues& values = m_setting->values;
        m_network.Descend(place.first,
                          sum,
                          m_setting->plan.ranks,
                          static_cast<float>(values.GetNumber("learning-rate")),
                          static_cast<float>(values.GetNumber("momentum")));
    }

    double GetLoss(uint32_t iteration) const override
    {
        return m_losses.at(iteration);
    }

    std::vector<float> GetWeights() const override
    {
        return m_network.GetWeights();
    }

    LearnerScore Evaluate(uint32_t) const override
    {
        const uint64_t first = m_setting->values.GetCount("samples");
        const uint64_t count = m_setting->values.GetCount("tests");
        LearnerScore score;
        for (uint64_t sample = first; sample < first + count; sample++)
        {
            const float* features = m_setting->samples.GetFeatures(sample);
            const uint32_t label = m_setting->samples.labels[sample];
            score.loss += m_network.GetLoss(features, label);
            score.accuracy += m_network.Classify(features) == label ? 1 : 0;
        }
        score.loss /= static_cast<double>(count);
        score.accuracy /= static_cast<double>(count);
        return score;
    }

  private:
    /** Makes the gradients of the next iteration, from random samples of the rank's share. */
    void Compute()
    {
        const TrainingPlan& plan = m_setting->plan;
        const uint64_t samples = m_setting->values.GetCount("samples");
        const uint64_t share = (samples - m_rank - 1) / plan.ranks + 1; // every ranks-th sample
        const uint64_t key =
            MixBits(MixBits(GetKey(plan.seed, Use::BATCHES) ^ m_rank) ^ m_losses.size());
        std::fill(m_gradient.begin(), m_gradient.end(), 0.0F);
        double loss = 0;
        for (uint64_t i = 0; i < plan.batch; i++)
        {
            const uint64_t sample = m_rank + plan.ranks * (MixBits(key ^ MixBits(i)) % share);
            loss += m_network.AddGradient(m_setting->samples.GetFeatures(sample),
                                          m_setting->samples.labels[sample],
                                          m_gradient);
        }
        const float factor = 1 / static_cast<float>(plan.batch);
        for (float& number : m_gradient)
        {
            number *= factor;
        }
        m_losses.push_back(loss / static_cast<double>(plan.batch));
    }

    std::shared_ptr<const Setting> m_setting;
    uint32_t m_rank;
    DenseNetwork m_network;
    std::vector<float> m_gradient; // of the last iteration
    std::vector<double> m_losses;  // by iteration
};

/** Training of a small network on a generated task. */
class NetworkTraining : public GradientTraining
{
  public:
    NetworkTraining(const KeyValues& values, const TrainingPlan& plan)
        : m_setting(
              std::make_shared<Setting>(Setting{values, plan, MakeSamples(values, plan.seed)}))
    {
    }

    std::vector<LayerShape> GetLayers() const override
    {
        return DenseNetwork(GetWidths(m_setting->values), 0).GetLayers();
    }

    void Check(uint32_t, uint64_t) const override
    {
    }

    std::unique_ptr<GradientLearner> MakeLearner(uint32_t rank) const override
    {
        return std::make_unique<NetworkLearner>(m_setting, rank);
    }

    bool RepeatsInMemory() const override
    {
        return true;
    }

    std::unique_ptr<GradientLearner> MakeReference(uint32_t rank) const override
    {
        return MakeLearner(rank);
    }

  private:
    std::shared_ptr<const Setting> m_setting;
};

/** @throw ConfigurationError if keys contradict each other or the job */
void
CheckLearning(const KeyValues& values, const TrainingPlan& plan)
{
    const auto refuse = [&](const std::string& reason) {
        throw ConfigurationError("gradients", values.GetSpelling(), reason);
    };
    const bool isMlp = values.GetText("task") == MLP;
    for (const auto& [key, allowed] : {std::pair<const char*, bool>{"hidden", isMlp},
                                       std::pair<const char*, bool>{"separation", !isMlp}})
    {
        if (values.IsGiven(key) && !allowed)
        {
            refuse(std::string(": the task has no ") + key +
                   " (allowed: task=" + (isMlp ? LOGISTIC : MLP) + ")");
        }
    }
    if (values.GetCount("samples") < plan.ranks)
    {
        refuse(": there are fewer samples than ranks (allowed: samples=" +
               std::to_string(plan.ranks) + " or more)");
    }
    const uint64_t features = values.GetCount("features");
    const uint64_t numbers = (values.GetCount("samples") + values.GetCount("tests")) * features;
    uint64_t weights = 0;
    const auto widths = GetWidths(values);
    for (std::size_t i = 1; i < widths.size(); i++)
    {
        weights += uint64_t{widths[i - 1] + 1} * widths[i];
    }
    if (numbers > MAX_NUMBERS || weights > MAX_NUMBERS)
    {
        refuse(": the task has " + std::to_string(numbers) + " features of samples and " +
               std::to_string(weights) + " weights (allowed: up to " + std::to_string(MAX_NUMBERS) +
               " of each)");
    }
}

std::shared_ptr<const GradientTraining>
MakeLearn(const KeyValues& values, const TrainingPlan& plan)
{
    CheckLearning(values, plan);
    return std::make_shared<NetworkTraining>(values, plan);
}

/** @return keys of the source */
std::vector<Key>
MakeKeys()
{
    return {
        Key::Word(
            "task",
            MLP,
            {LOGISTIC, MLP},
            "logistic: multinomial logistic regression on Gaussian blobs, one per class; mlp: "
            "a network with a hidden layer learns the classes of a random one of its shape"),
        Key::Count("samples",
                   16384,
                   1,
                   1ULL << 24,
                   "samples for training, divided among the ranks"),
        Key::Count("tests", 1000, 1, 1ULL << 24, "samples for the accuracy"),
        Key::Count("features", 16, 1, 65536, "numbers of a sample"),
        Key::Count("classes", 10, 2, 65536, "classes of the samples"),
        Key::Count("hidden", 128, 1, 65536, "mlp: width of the hidden layer"),
        Key::Number("separation",
                    4,
                    0,
                    1e6,
                    "logistic: distance of the blobs from the origin, in standard deviations"),
        Key::Number("learning-rate", 0.1, 0, 1e6, "step of SGD along the mean gradient"),
        Key::Number("momentum", 0.9, 0, 1, "share of the last step that is added to the next one"),
    };
}

const Registry<GradientSourceEntry>::Entry g_learn(
    "learn",
    {"a real training inside the job, which is also its workload; reports loss and accuracy",
     nullptr,
     MakeKeys(),
     {},
     &MakeLearn});

} // namespace

} // namespace ns3::training
