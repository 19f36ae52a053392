/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-job
 *
 * The GPUs. Peaks, bandwidths and memory: NVIDIA's data sheets, dense products, SXM modules.
 * Throughputs of one GPU in mixed precision, from:
 *
 * - DLE: NVIDIA DeepLearningExamples, README of PyTorch/Classification/ConvNets/resnet50v1.5
 *   (container 21.03) and of PyTorch/LanguageModeling/BERT (21.11, pre-training, sequences of 128,
 *   gradients accumulated), DGX A100 with 80 GB and DGX-1 with 32 GB;
 * - Lambda TF: tf-train-throughput-fp16.csv of lambda-tensorflow-benchmark (TensorFlow 2.3, XLA),
 * A100 40GB PCIe and V100 32GB;
 * - Lambda PyTorch: pytorch-train-throughput-fp16.csv and -v2-fp16.csv of
 * lambdal/deeplearning-benchmark. It feeds images more slowly than DLE and fine-tunes BERT on
 * sequences of 384, so its ratio of two GPUs multiplies DLE's figure of the A100: ResNet-50 1582,
 * 2790 and 3079 images/s on A100, H100 and H200; BERT-large 152, 309 and 350 sequences/s.
 *
 * The efficiency is the mean of what the measured models reach.
 *
 * Large transformers reach another part, communication and bubbles included, so that it is rather
 * too low: A100 163 TFLOP/s (Narayanan et al., SC 2021, table 1, 1008e9 parameters), H100 489
 * (README of Megatron-LM, 16e9 parameters), V100 39 (Shoeybi et al., 2019, section 5.1), GB200 2070
 * of FP8 (performance summary of Megatron Bridge: Llama 3.1 405B, 850 tokens/s, 6 operations a
 * parameter). H200 and H800 have the tensor cores of H100. B200 counts as GB200, and MI300X as
 * H100, for lack of a measurement with the same software.
 */

#include "training-gpu.h"

namespace ns3::training
{

namespace
{

constexpr uint64_t GIGABYTE = 1'000'000'000;

const Registry<GpuEntry>::Entry g_a100(
    "a100",
    {"NVIDIA A100 80 GB: 312 TFLOP/s, 2.04 TB/s; measured: every built-in model",
     312e12,
     2.039e12,
     0.36,
     {{"alexnet", 16487, 3584, "Lambda TF"},
      {"bert-large", 580, 256, "NVIDIA DLE"},
      {"resnet50", 2470, 256, "NVIDIA DLE"},
      {"vgg16", 1190, 448, "Lambda TF"}},
     0,
     0.52,
     80 * GIGABYTE});

const Registry<GpuEntry>::Entry g_h100(
    "h100",
    {"NVIDIA H100 80 GB: 989 TFLOP/s, 3.35 TB/s; bert-large and resnet50 scaled from a100",
     989.4e12,
     3.35e12,
     0.26,
     {{"bert-large", 580 * 309.0 / 152, 256, "NVIDIA DLE on A100 x 309 / 152, Lambda PyTorch"},
      {"resnet50", 2470 * 2790.0 / 1582, 256, "NVIDIA DLE on A100 x 2790 / 1582, Lambda PyTorch"}},
     1978.9e12,
     0.49,
     80 * GIGABYTE});

const Registry<GpuEntry>::Entry g_h200(
    "h200",
    {"NVIDIA H200 141 GB: 989 TFLOP/s, 4.8 TB/s; bert-large and resnet50 scaled from a100",
     989.4e12,
     4.8e12,
     0.27,
     {{"bert-large", 580 * 350.0 / 152, 256, "NVIDIA DLE on A100 x 350 / 152, Lambda PyTorch"},
      {"resnet50", 2470 * 3079.0 / 1582, 256, "NVIDIA DLE on A100 x 3079 / 1582, Lambda PyTorch"}},
     1978.9e12,
     0.49,
     141 * GIGABYTE});

const Registry<GpuEntry>::Entry g_h800(
    "h800",
    {"NVIDIA H800 80 GB: 989 TFLOP/s, 3.35 TB/s; an h100 with slower NVLink",
     989.4e12,
     3.35e12,
     0.26,
     {},
     1978.9e12,
     0.49,
     80 * GIGABYTE});

const Registry<GpuEntry>::Entry g_gb200("gb200",
                                        {"NVIDIA GB200, one of two GPUs: 2500 TFLOP/s, 8 TB/s",
                                         2500e12,
                                         8e12,
                                         0.41,
                                         {},
                                         5000e12,
                                         0.41,
                                         186 * GIGABYTE});

const Registry<GpuEntry>::Entry g_b200("b200",
                                       {"NVIDIA B200 of an HGX: 2250 TFLOP/s, 8 TB/s",
                                        2250e12,
                                        8e12,
                                        0.41,
                                        {},
                                        4500e12,
                                        0.41,
                                        180 * GIGABYTE});

const Registry<GpuEntry>::Entry g_mi300x("mi300x",
                                         {"AMD MI300X: 1307 TFLOP/s, 5.3 TB/s",
                                          1307.4e12,
                                          5.3e12,
                                          0.26,
                                          {},
                                          2614.9e12,
                                          0.49,
                                          192 * GIGABYTE});

const Registry<GpuEntry>::Entry g_v100(
    "v100",
    {"NVIDIA V100 32 GB: 125 TFLOP/s, 0.9 TB/s; measured: every built-in model",
     125e12,
     0.9e12,
     0.40,
     {{"alexnet", 9319, 3072, "Lambda TF"},
      {"bert-large", 224, 64, "NVIDIA DLE"},
      {"resnet50", 1156, 256, "NVIDIA DLE"},
      {"vgg16", 456, 384, "Lambda TF"}},
     0,
     0.31,
     32 * GIGABYTE});

} // namespace

const MeasuredThroughput*
GpuEntry::Find(const std::string& model) const
{
    for (const MeasuredThroughput& throughput : measured)
    {
        if (throughput.model == model)
        {
            return &throughput;
        }
    }
    return nullptr;
}

} // namespace ns3::training
