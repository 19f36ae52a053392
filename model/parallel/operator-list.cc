/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/layer-operators.h"

#include <map>
#include <tuple>
#include <utility>

namespace ns3::training
{

uint64_t
GetProductPieces(const ParallelPlan& plan)
{
    return plan.GetOptions().tensor > 1 ? plan.GetOptions().tpCommOverlap : 1;
}

uint64_t
GetScorePieces(const ParallelPlan& plan)
{
    return plan.GetOptions().cpCommType == "p2p" ? plan.GetOptions().context : 1;
}

std::vector<ListedOperator>
ListOperators(const ParallelPlan& plan, uint32_t places)
{
    const TransformerModel& model = plan.GetModel();
    std::vector<ListedOperator> all;
    std::map<std::tuple<LayerPass, std::string, std::string, std::string>, std::size_t> known;
    const auto add = [&](LayerPart part, LayerPass pass, uint32_t layer, double load) {
        const bool isLayer = part != LayerPart::EMBEDDING && part != LayerPart::OUTPUT;
        const bool isRepeated =
            isLayer && pass == LayerPass::FORWARD && plan.GetOptions().recompute == "full";
        const bool isDivided = isLayer && part != LayerPart::SHARED_EXPERTS;
        const uint64_t pieces = part == LayerPart::SCORES ? GetScorePieces(plan)
                                : isDivided && pass != LayerPass::WEIGHT_GRADIENT
                                    ? GetProductPieces(plan)
                                    : 1;
        for (LayerOperator& each : MakeOperators(plan, part, pass, layer, load, pieces))
        {
            if (each.executed == 0 && each.bytes == 0 && each.operands == 0)
            {
                continue;
            }
            const auto [place, isNew] =
                known.try_emplace({pass, each.name, each.kernel, each.GetShape()}, all.size());
            if (isNew)
            {
                all.push_back({pass, std::move(each)});
            }
            all[place->second].count += pieces * (isRepeated ? 2 : 1);
        }
    };
    const auto addPass = [&](LayerPass pass) {
        for (uint32_t layer = 0; layer < model.layers; layer++)
        {
            add(LayerPart::INPUTS, pass, layer, 1);
            add(LayerPart::SCORES, pass, layer, 1);
            add(LayerPart::PROJECTION, pass, layer, 1);
            for (uint32_t place = 0; place < (model.HasExperts(layer) ? places : 1); place++)
            {
                const double share = plan.GetExpertShare(place);
                add(LayerPart::NETWORK,
                    pass,
                    layer,
                    model.HasExperts(layer) ? share * plan.GetOptions().expert : 1);
            }
            add(LayerPart::SHARED_EXPERTS, pass, layer, 1);
            if (model.IsPrediction(layer))
            {
                add(LayerPart::PREDICTION, pass, layer, 1);
                add(LayerPart::OUTPUT, pass, 0, 1);
            }
        }
        add(LayerPart::OUTPUT, pass, 0, 1);
    };
    add(LayerPart::EMBEDDING, LayerPass::FORWARD, 0, 1);
    for (LayerPass pass : {LayerPass::FORWARD,
                           LayerPass::REPEATED,
                           LayerPass::INPUT_GRADIENT,
                           LayerPass::WEIGHT_GRADIENT})
    {
        addPass(pass);
    }
    return all;
}

} // namespace ns3::training
