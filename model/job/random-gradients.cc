/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-source.h"
#include "job/gradient-values.h"
#include "job/random-number.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/** Independent numbers of a distribution, each a function of its place. */
class RandomGradients : public GradientSource
{
  public:
    /** @return a number of the distribution; `bits` and `more` are independent random bits */
    using Draw = double (*)(uint64_t bits, uint64_t more);

    /**
     * @param draw a number with mean 0 and standard deviation 1
     * @param sigma standard deviation
     */
    RandomGradients(Draw draw, double sigma)
        : m_draw(draw),
          m_sigma(sigma)
    {
    }

    std::vector<float> Make(const GradientPlace& place, std::size_t count) const override
    {
        const uint64_t key = GradientKey(place.seed, place.rank, place.iteration, place.bucket);
        std::vector<float> values(count);
        for (std::size_t index = 0; index < count; index++)
        {
            const uint64_t bits = MixBits(key ^ MixBits(index));
            values[index] = static_cast<float>(m_sigma * m_draw(bits, MixBits(bits ^ key)));
        }
        return values;
    }

  private:
    Draw m_draw;
    double m_sigma;
};

double
DrawLaplace(uint64_t bits, uint64_t more)
{
    const double magnitude = -std::log(GetUniform(bits)) * M_SQRT1_2;
    return more >> 63 ? -magnitude : magnitude;
}

/** @return key of the standard deviation */
Key
MakeSigma()
{
    // About that of ResNet-50's gradients in the first iterations.
    return Key::Number("sigma", 0.001, 1e-30, 1e30, "standard deviation");
}

std::shared_ptr<const GradientSource>
MakeNormal(const KeyValues& values)
{
    return std::make_shared<RandomGradients>(&DrawNormal, values.GetNumber("sigma"));
}

std::shared_ptr<const GradientSource>
MakeLaplace(const KeyValues& values)
{
    return std::make_shared<RandomGradients>(&DrawLaplace, values.GetNumber("sigma"));
}

const Registry<GradientSourceEntry>::Entry g_normal("normal",
                                                    {"normal distribution with mean 0",
                                                     &MakeNormal,
                                                     {MakeSigma()}});

const Registry<GradientSourceEntry>::Entry g_laplace(
    "laplace",
    {"Laplace distribution with mean 0: more small and more large numbers than normal",
     &MakeLaplace,
     {MakeSigma()}});

} // namespace

} // namespace ns3::training
