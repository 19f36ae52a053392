/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/layer-operators.h"

#include "parallel/recomputation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::training
{

namespace
{

/// Bytes of a number in memory: activations, and results of products.
constexpr double NUMBER = PARAMETER_BYTES;
/// Bytes of a weight's gradient, which is added to a sum of 4 bytes.
constexpr double SUM = 8;

/** @return a whole number of at least one */
uint64_t
Round(double number)
{
    return std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(number - 1e-9)));
}

/** Writes the operators of a part. */
class OperatorWriter
{
  public:
    OperatorWriter(const ParallelPlan& plan,
                   LayerPass pass,
                   uint32_t layer,
                   double load,
                   uint64_t pieces)
        : m_plan(plan),
          m_model(plan.GetModel()),
          m_options(plan.GetOptions()),
          m_layer(plan.GetModel().GetLayer(layer)),
          m_number(layer),
          m_pass(pass),
          m_load(load),
          m_pieces(pieces),
          m_tensor(static_cast<double>(plan.GetOptions().tensor)),
          m_tokens(static_cast<double>(plan.GetTokens()) / static_cast<double>(pieces)),
          m_hidden(static_cast<double>(plan.GetModel().hidden))
    {
    }

    void WriteInputs();
    void WriteScores();
    void WriteProjection();
    void WriteNetwork();
    void WriteSharedExperts();
    void WriteEmbedding();
    void WriteOutput();
    void WritePrediction();

    /** Counts what the operators lack to a sum as operations of the first one. */
    void Complete(double operations)
    {
        for (const LayerOperator& each : m_all)
        {
            operations -= each.operations;
        }
        m_all.front().operations += operations;
    }

    std::vector<LayerOperator> TakeAll()
    {
        return std::move(m_all);
    }

  private:
    void Multiply(const char* name,
                  double rows,
                  double columns,
                  double inner,
                  uint64_t products = 0,
                  bool isNarrow = true);
    void Add(const char* name,
             uint64_t products,
             double rows,
             double columns,
             double inner,
             double results,
             bool isNarrow);
    void Move(const char* name, double rows, double columns, double forward, double backward);
    void Attend(const char* kernel, double counted, double executed);
    void AttendUnfused(LayerPass pass);
    double GetScoreOperations() const;
    double GetHeads() const;
    double GetKeySize() const;

    /** @return tokens between layers, which sequence parallelism divides */
    double GetRows() const
    {
        return m_options.sequenceParallel ? m_tokens / m_tensor : m_tokens;
    }

    /** Reads numbers and writes as many; backward also reads the gradients. */
    void Normalize()
    {
        const double norms = m_model.Has(TransformerModel::FOUR_NORMS) ? 2 : 1;
        Move("norm", GetRows(), m_hidden, 2 * norms, 3 * norms);
    }

    /** Adds the input of a block to its result; backward the gradients of both. */
    void AddResidual()
    {
        Move("residual", GetRows(), m_hidden, 3, 3);
    }

    /** The matrices of a network and what is between. */
    void WriteMatrices(double rows, double inner, uint64_t products);

    const ParallelPlan& m_plan;
    const TransformerModel& m_model;
    const ParallelOptions& m_options;
    const TransformerLayer m_layer;
    const uint32_t m_number;
    const LayerPass m_pass;
    const double m_load;
    const uint64_t m_pieces;
    const double m_tensor;
    const double m_tokens; // of a piece
    const double m_hidden;
    std::vector<LayerOperator> m_all;
};

void
OperatorWriter::Add(const char* name,
                    uint64_t products,
                    double rows,
                    double columns,
                    double inner,
                    double results,
                    bool isNarrow)
{
    const double count = products > 0 ? static_cast<double>(products) : 1;
    const double operations = 2 * count * rows * columns * inner;
    LayerOperator made{name,
                       products > 0 ? "grouped-gemm" : "gemm",
                       {Round(rows), Round(columns), Round(inner)},
                       operations,
                       operations,
                       count * (rows + columns) * inner,
                       results * count * rows * columns,
                       inner,
                       isNarrow};
    if (products > 0)
    {
        made.sizes.insert(made.sizes.begin(), products);
    }
    m_all.push_back(std::move(made));
}

/** The product of activations and weights, or of its gradient and one of them. */
void
OperatorWriter::Multiply(const char* name,
                         double rows,
                         double columns,
                         double inner,
                         uint64_t products,
                         bool isNarrow)
{
    switch (m_pass)
    {
    case LayerPass::FORWARD:
    case LayerPass::REPEATED:
        Add(name, products, rows, columns, inner, NUMBER, isNarrow);
        break;
    case LayerPass::INPUT_GRADIENT:
        Add(name, products, rows, inner, columns, NUMBER, isNarrow);
        break;
    case LayerPass::WEIGHT_GRADIENT:
        Add(name, products, columns, inner, rows, SUM, isNarrow);
        break;
    }
}

/** A kernel that reads and writes numbers, so many for each in each pass. */
void
OperatorWriter::Move(const char* name, double rows, double columns, double forward, double backward)
{
    const double passes = m_pass == LayerPass::FORWARD          ? forward
                          : m_pass == LayerPass::INPUT_GRADIENT ? backward
                                                                : 0;
    m_all.push_back({name,
                     m_pass == LayerPass::FORWARD ? name : name + std::string("-backward"),
                     {Round(rows), Round(columns)},
                     0,
                     0,
                     0,
                     passes * NUMBER * rows * columns,
                     0,
                     false});
}

double
OperatorWriter::GetHeads() const
{
    const double parts = m_options.context > 1 && m_options.cpCommType == "a2a"
                             ? static_cast<double>(m_options.context)
                             : 1;
    return m_layer.heads / m_tensor / parts;
}

double
OperatorWriter::GetKeySize() const
{
    return static_cast<double>(m_model.GetHeadSize() +
                               (m_model.keyValueRank > 0 ? m_model.rotarySize : 0));
}

void
OperatorWriter::WriteInputs()
{
    Normalize();
    const double last = static_cast<double>(m_layer.heads * m_model.GetValueSize());
    if (m_layer.mixer > 0)
    {
        const double columns = static_cast<double>(m_layer.mixer) / m_hidden - last;
        Multiply("mixer", m_tokens, std::max(0.0, columns) / m_tensor, m_hidden);
    }
    else if (m_model.keyValueRank > 0)
    {
        const auto queryRank = static_cast<double>(m_model.queryRank);
        const auto keyValueRank = static_cast<double>(m_model.keyValueRank);
        const auto index = static_cast<double>(m_model.indexSize);
        const double queries = m_layer.heads * GetKeySize() / m_tensor;
        const auto values =
            static_cast<double>(m_layer.heads * (m_model.GetHeadSize() + m_model.GetValueSize()));
        if (queryRank > 0)
        {
            Multiply("query compression", m_tokens, queryRank / m_tensor, m_hidden);
        }
        Multiply("queries", m_tokens, queries, queryRank > 0 ? queryRank : m_hidden);
        Multiply("key and value compression",
                 m_tokens,
                 (keyValueRank + static_cast<double>(m_model.rotarySize)) / m_tensor,
                 m_hidden);
        Multiply("keys and values", m_tokens, values / m_tensor, keyValueRank);
        if (index > 0)
        {
            const auto heads = static_cast<double>(m_model.indexHeads);
            Multiply("index of queries", m_tokens, heads * index / m_tensor, queryRank);
            Multiply("index of keys", m_tokens, (index + heads) / m_tensor, m_hidden);
        }
        Move("rotary", m_tokens, 2 * m_layer.heads * GetKeySize() / m_tensor, 2, 2);
    }
    else
    {
        const auto head = static_cast<double>(m_model.GetHeadSize());
        const double queries = m_layer.heads * head / m_tensor;
        const double keys = std::max(1.0, m_layer.keyValueHeads / m_tensor) * head;
        const double gates = m_model.Has(TransformerModel::QUERY_GATE) ? 2 : 1;
        Multiply("queries, keys, values", m_tokens, gates * queries + 2 * keys, m_hidden);
        if (!m_model.Has(TransformerModel::POSITIONS))
        {
            Move("rotary", m_tokens, queries + keys, 2, 2);
        }
    }
    const double weights =
        static_cast<double>(m_model.GetAttentionParameters(m_number)) / m_tensor +
        static_cast<double>(m_plan.GetKeyValueCopies(m_number)) - last * m_hidden / m_tensor;
    Complete(2 * weights * m_tokens);
}

double
OperatorWriter::GetScoreOperations() const
{
    const double operations = m_model.GetAttentionOperations(m_number) -
                              2 * static_cast<double>(m_model.GetAttentionParameters(m_number));
    return operations * m_tokens / m_tensor;
}

/** FlashAttention, with the operations that a model's count has, and those of the kernel. */
void
OperatorWriter::Attend(const char* kernel, double counted, double executed)
{
    const bool isRing = m_options.context > 1 && m_options.cpCommType == "p2p";
    const auto sequence = static_cast<double>(m_model.sequence);
    const auto span = static_cast<double>(m_model.GetSpan(m_number));
    const auto context = static_cast<double>(m_options.context);
    const bool isWhole = m_options.cpCommType == "a2a";
    // Tokens see those before them, in a window.
    const double seen = m_model.Has(TransformerModel::MASKED_HEAD) ? 1 : 1 - span / (2 * sequence);
    const double heads = m_layer.heads / m_tensor;
    const double keyValueHeads =
        m_model.keyValueRank > 0 ? heads : std::max(1.0, m_layer.keyValueHeads / m_tensor);
    const auto tokens = static_cast<double>(m_plan.GetTokens());
    const double numbers = (heads + keyValueHeads) *
                           (GetKeySize() + static_cast<double>(m_model.GetValueSize())) * tokens;
    const double operations = GetScoreOperations();
    m_all.push_back({"attention",
                     kernel,
                     {m_options.microBatch,
                      Round(GetHeads()),
                      Round(isWhole ? sequence : sequence / context),
                      Round(isRing ? span / context : span),
                      Round(GetKeySize())},
                     counted * operations,
                     executed * seen * operations,
                     0,
                     executed * NUMBER * numbers,
                     seen * (isRing ? span / context : span),
                     false});
}

/** Scores in memory: their products, and the softmax between them. */
void
OperatorWriter::AttendUnfused(LayerPass pass)
{
    const bool isWhole = m_options.cpCommType == "a2a";
    const auto context = static_cast<double>(m_options.context);
    const double queries = static_cast<double>(m_model.sequence) / (isWhole ? 1 : context);
    const double keys =
        static_cast<double>(m_model.GetSpan(m_number)) / static_cast<double>(m_pieces);
    const uint64_t products = m_options.microBatch * Round(GetHeads());
    const auto values = static_cast<double>(m_model.GetValueSize());
    const double scores = static_cast<double>(products) * queries;
    if (pass == LayerPass::FORWARD)
    {
        Add("scores", products, queries, keys, GetKeySize(), NUMBER, false);
        m_all.push_back({"softmax",
                         "softmax",
                         {Round(scores), Round(keys)},
                         0,
                         0,
                         0,
                         2 * NUMBER * scores * keys,
                         0,
                         false});
        Add("values", products, queries, values, keys, NUMBER, false);
        return;
    }
    // Of both factors of both products.
    Add("scores", products, queries, keys, values, NUMBER, false);
    Add("values", products, keys, values, queries, NUMBER, false);
    m_all.push_back({"softmax",
                     "softmax-backward",
                     {Round(scores), Round(keys)},
                     0,
                     0,
                     0,
                     3 * NUMBER * scores * keys,
                     0,
                     false});
    Add("queries", products, queries, GetKeySize(), keys, NUMBER, false);
    Add("keys", products, keys, GetKeySize(), queries, NUMBER, false);
}

void
OperatorWriter::WriteScores()
{
    // FlashAttention computes scores again: five products instead of two (Dao, 2023, section 3.2).
    constexpr double BACKWARD = 2.5;
    const double total = GetScoreOperations();
    if (total == 0 || m_pass == LayerPass::WEIGHT_GRADIENT)
    {
        return;
    }
    const bool isFused = m_options.attention == "flash";
    if (m_pass == LayerPass::FORWARD)
    {
        isFused ? Attend("attention", 1, 1) : AttendUnfused(LayerPass::FORWARD);
        Complete(total);
        return;
    }
    isFused ? Attend("attention-backward", 2, BACKWARD) : AttendUnfused(LayerPass::INPUT_GRADIENT);
    Complete(2 * total);
}

void
OperatorWriter::WriteProjection()
{
    const double inner = static_cast<double>(m_layer.heads * m_model.GetValueSize()) / m_tensor;
    Multiply("projection", m_tokens, m_hidden, inner);
    AddResidual();
}

void
OperatorWriter::WriteMatrices(double rows, double inner, uint64_t products)
{
    const double first = m_model.Has(TransformerModel::GATED) ? 2 : 1;
    const double all = rows * (products > 0 ? static_cast<double>(products) : 1);
    Multiply("first matrix", rows, first * inner, m_hidden, products);
    Move("activation", all, inner, first + 1, 2 * first + 1);
    Multiply("last matrix", rows, m_hidden, inner, products);
}

void
OperatorWriter::WriteNetwork()
{
    Normalize();
    if (!m_model.HasExperts(m_number))
    {
        WriteMatrices(m_tokens, static_cast<double>(m_layer.feedForward) / m_tensor, 0);
        AddResidual();
        Complete(m_model.GetFeedForwardOperations(m_number) * m_tokens / m_tensor);
        return;
    }
    const double choices = m_model.expertsPerToken;
    const uint64_t experts = m_model.experts / m_options.expert;
    const auto slices = static_cast<double>(m_options.GetExpertTensor());
    const double inner = static_cast<double>(m_model.expertFeedForward) / slices;
    const double tokens = m_tokens * slices / m_tensor; // of the ranks that share an expert
    Multiply("router", m_tokens / m_tensor, m_model.experts, m_hidden, 0, false);
    Move("permutation", choices * GetRows(), m_hidden, 2, 2);
    WriteMatrices(choices * tokens * m_load / static_cast<double>(experts), inner, experts);
    Move("combination", choices * GetRows(), m_hidden, 2, 2);
    AddResidual();
    const double networks =
        choices * static_cast<double>(m_model.GetFeedForwardParameters(m_model.expertFeedForward));
    const double router = m_model.experts * m_hidden;
    Complete(2 * (networks * m_load + router) * m_tokens / m_tensor);
}

void
OperatorWriter::WriteSharedExperts()
{
    if (!m_model.HasExperts(m_number) || m_model.GetSharedParameters() == 0)
    {
        return;
    }
    WriteMatrices(m_tokens, static_cast<double>(GetSharedSize(m_model)) / m_tensor, 0);
    Complete(2 * static_cast<double>(m_model.GetSharedParameters()) * m_tokens / m_tensor);
}

void
OperatorWriter::WriteEmbedding()
{
    Move("embedding", m_tokens, m_hidden, 2, 2);
}

void
OperatorWriter::WriteOutput()
{
    const double columns = static_cast<double>(m_model.vocabulary) / m_tensor;
    Move("norm", GetRows(), m_hidden, 2, 3);
    Multiply("output", m_tokens, columns, m_hidden, 0, false);
    // Maximum and sum, each of which reads them; backward they are changed.
    Move("loss", m_tokens, columns, 2, 2);
}

void
OperatorWriter::WritePrediction()
{
    constexpr double INPUTS = 2;
    Move("norm", INPUTS * GetRows(), m_hidden, 2, 3);
    Multiply("prediction", m_tokens, m_hidden / m_tensor, INPUTS * m_hidden);
}

/** @return whether an operator of a part's forward pass runs again in the backward pass */
bool
IsRepeated(const Recomputation& again, LayerPart part, bool hasExperts, const std::string& name)
{
    using M = RecomputedModule;
    const bool isNorm = name == "norm" && again.Has(M::LAYERNORM);
    switch (part)
    {
    case LayerPart::INPUTS:
        return isNorm || (again.Has(M::MLA_UP_PROJECTION) &&
                          (name == "queries" || name == "keys and values" || name == "rotary"));
    case LayerPart::SCORES:
        return again.Has(M::CORE_ATTENTION);
    case LayerPart::NETWORK:
        return isNorm || (again.HasNetwork(hasExperts) && name != "norm" && name != "residual") ||
               (again.Has(M::MOE_ACTIVATION) && hasExperts && name == "activation");
    case LayerPart::SHARED_EXPERTS:
        return again.Has(M::SHARED_EXPERTS) || again.Has(M::MOE);
    default:
        return false;
    }
}

} // namespace

std::string
LayerOperator::GetShape() const
{
    std::string shape;
    for (uint64_t size : sizes)
    {
        shape += (shape.empty() ? "" : "x") + std::to_string(size);
    }
    return shape;
}

uint64_t
GetSharedSize(const TransformerModel& model)
{
    return model.sharedFeedForward > 0 ? model.sharedFeedForward
                                       : model.sharedExperts * model.expertFeedForward;
}

std::string
GetName(LayerPass pass)
{
    static const char* const names[]{"forward",
                                     "forward again",
                                     "input gradient",
                                     "weight gradient"};
    return names[static_cast<std::size_t>(pass)];
}

std::vector<LayerOperator>
MakeOperators(const ParallelPlan& plan,
              LayerPart part,
              LayerPass pass,
              uint32_t layer,
              double load,
              uint64_t pieces)
{
    if (pass == LayerPass::REPEATED)
    {
        const Recomputation again(plan.GetOptions().recompute);
        const bool hasExperts = plan.GetModel().HasExperts(layer);
        auto all = MakeOperators(plan, part, LayerPass::FORWARD, layer, load, pieces);
        all.erase(std::remove_if(all.begin(),
                                 all.end(),
                                 [&](const LayerOperator& each) {
                                     return !IsRepeated(again, part, hasExperts, each.name);
                                 }),
                  all.end());
        return all;
    }
    OperatorWriter writer(plan, pass, layer, load, pieces);
    switch (part)
    {
    case LayerPart::EMBEDDING:
        writer.WriteEmbedding();
        break;
    case LayerPart::INPUTS:
        writer.WriteInputs();
        break;
    case LayerPart::SCORES:
        writer.WriteScores();
        break;
    case LayerPart::PROJECTION:
        writer.WriteProjection();
        break;
    case LayerPart::NETWORK:
        writer.WriteNetwork();
        break;
    case LayerPart::SHARED_EXPERTS:
        writer.WriteSharedExperts();
        break;
    case LayerPart::OUTPUT:
        writer.WriteOutput();
        break;
    case LayerPart::PREDICTION:
        writer.WritePrediction();
        break;
    }
    return writer.TakeAll();
}

} // namespace ns3::training
