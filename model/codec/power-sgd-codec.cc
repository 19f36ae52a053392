/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * PowerSGD (Vogels et al., NeurIPS 2019).
 */

#include "bucket-codec.h"
#include "codec-blocks.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/**
 * The bucket is a matrix M of a rows and b columns, by rows; zeros fill up the last row. With Q, b
 * rows of r numbers, from the last iteration:
 *
 *   P = M Q, summed over the ranks and orthogonalized; Q = M^T P, summed; the sum is P Q^T.
 *
 * Two sums in sequence. A bucket that P and Q would not make smaller is summed as it is.
 */
class PowerSgdBucket final : public BucketCodec
{
  public:
    PowerSgdBucket(const BucketRequest& request, uint32_t rank, uint64_t columns)
        : m_request(request),
          m_rank(rank)
    {
        const double side = std::sqrt(static_cast<double>(request.count));
        m_columns = columns > 0 ? columns : std::max<uint64_t>(std::llround(std::ceil(side)), 1);
        m_rows = (request.count + m_columns - 1) / m_columns;
        m_isRaw =
            m_rank * (m_rows + m_columns) >= request.count || m_rank > std::min(m_rows, m_columns);
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        if (m_isRaw)
        {
            return {{BucketExchange::SUM, m_request.count, 32, 32}};
        }
        return {{BucketExchange::SUM, m_rows * m_rank, 32, 32},
                {BucketExchange::SUM, m_columns * m_rank, 32, 32}};
    }

    void Start(const float* gradient, const CodecKey& key) override
    {
        CheckFinite(gradient, m_request.count);
        m_matrix.assign(gradient, gradient + m_request.count);
        if (m_isRaw)
        {
            SetPart(m_matrix);
            return;
        }
        m_matrix.resize(m_rows * m_columns);
        FillZeroColumns(key);
        m_left.clear();
        std::vector<float> product(m_rows * m_rank, 0);
        for (uint64_t row = 0; row < m_rows; row++)
        {
            for (uint32_t k = 0; k < m_rank; k++)
            {
                double sum = 0;
                for (uint64_t column = 0; column < m_columns; column++)
                {
                    sum +=
                        double{m_matrix[row * m_columns + column]} * m_right[column * m_rank + k];
                }
                product[row * m_rank + k] = static_cast<float>(sum);
            }
        }
        SetPart(std::move(product));
    }

    void Continue(const BucketResult& result) override
    {
        if (m_isRaw)
        {
            m_own = m_matrix;
            m_sum = result.numbers;
        }
        else if (m_left.empty())
        {
            m_left = result.numbers;
            Orthogonalize();
            std::vector<float> product(m_columns * m_rank, 0);
            for (uint64_t column = 0; column < m_columns; column++)
            {
                for (uint32_t k = 0; k < m_rank; k++)
                {
                    double sum = 0;
                    for (uint64_t row = 0; row < m_rows; row++)
                    {
                        sum +=
                            double{m_matrix[row * m_columns + column]} * m_left[row * m_rank + k];
                    }
                    product[column * m_rank + k] = static_cast<float>(sum);
                }
            }
            SetPart(std::move(product));
        }
        else
        {
            m_right = result.numbers;
            Restore();
        }
    }

  private:
    /** A column of Q that is 0 would stay 0. */
    void FillZeroColumns(const CodecKey& key)
    {
        m_right.resize(m_columns * m_rank, 0);
        const CodecRandom random(key.GetShared());
        for (uint32_t k = 0; k < m_rank; k++)
        {
            bool isZero = true;
            for (uint64_t column = 0; column < m_columns; column++)
            {
                isZero &= m_right[column * m_rank + k] == 0;
            }
            for (uint64_t column = 0; isZero && column < m_columns; column++)
            {
                const uint64_t at = column * m_rank + k;
                m_right[at] = static_cast<float>(2 * random.GetUniform(at) - 1);
            }
        }
    }

    /** Gram and Schmidt's method in the order of columns, twice because of rounding. */
    void Orthogonalize()
    {
        std::vector<double> columns(m_left.begin(), m_left.end());
        const auto dot = [&](uint32_t a, uint32_t b) {
            double sum = 0;
            for (uint64_t row = 0; row < m_rows; row++)
            {
                sum += columns[row * m_rank + a] * columns[row * m_rank + b];
            }
            return sum;
        };
        for (uint32_t k = 0; k < m_rank; k++)
        {
            const double before = std::sqrt(dot(k, k));
            for (uint32_t pass = 0; pass < 2; pass++)
            {
                for (uint32_t other = 0; other < k; other++)
                {
                    const double along = dot(k, other);
                    for (uint64_t row = 0; row < m_rows; row++)
                    {
                        columns[row * m_rank + k] -= along * columns[row * m_rank + other];
                    }
                }
            }
            // What is left of a dependent column is rounding; the float32 has 24 bits.
            const double norm = std::sqrt(dot(k, k));
            const double factor = norm > before * 0x1p-22 ? 1 / norm : 0;
            for (uint64_t row = 0; row < m_rows; row++)
            {
                columns[row * m_rank + k] *= factor;
            }
        }
        std::transform(columns.begin(), columns.end(), m_left.begin(), [](double value) {
            return static_cast<float>(value);
        });
    }

    void Restore()
    {
        m_sum.resize(m_request.count);
        m_own.resize(m_request.count);
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            double sum = 0;
            for (uint32_t k = 0; k < m_rank; k++)
            {
                sum += double{m_left[i / m_columns * m_rank + k]} *
                       m_right[i % m_columns * m_rank + k];
            }
            m_sum[i] = static_cast<float>(sum);
            m_own[i] = static_cast<float>(sum / m_request.ranks);
        }
    }

    BucketRequest m_request;
    uint64_t m_rank;             // r
    uint64_t m_columns;          // b
    uint64_t m_rows;             // a
    bool m_isRaw;                // whether the bucket is summed as it is
    std::vector<float> m_matrix; // M
    std::vector<float> m_left;   // P, orthogonalized
    std::vector<float> m_right;  // Q
};

Ptr<BucketCodec>
MakePowerSgd(const KeyValues& keys, const BucketRequest& request)
{
    return Create<PowerSgdBucket>(request,
                                  static_cast<uint32_t>(keys.GetCount("rank")),
                                  keys.GetCount("columns"));
}

const Registry<CodecEntry>::Entry g_powerSgd(
    "powersgd",
    {"PowerSGD: a matrix of low rank, summed by two all-reduces; for error feedback",
     {Key::Count("rank", 4, 1, 256, "of the matrix"),
      Key::Count("columns", 0, 0, 1ULL << 32, "of a bucket as a matrix; 0: nearly square")},
     nullptr,
     MakeGraceCost(3, 1),
     &MakePowerSgd});

} // namespace

} // namespace ns3::training
