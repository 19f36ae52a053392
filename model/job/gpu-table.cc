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
 * Products of the best shapes, FP16/BF16 and FP8: table "Maximum Achievable Matmul FLOPS" of
 * stas00/ml-engineering at 744d01e (compute/accelerator). FlashAttention with heads of 128, the
 * longest sequences, forward and backward: FlashAttention-2 on A100 (Dao, 2023: 73 and 63 %),
 * FlashAttention-3 on H100 (Shah et al., 2024, figures 5 and 6: 648 and 561 TFLOP/s),
 * FlashAttention-4 on B200 (2026: 1605 TFLOP/s; backward in the ratio of H100). Multiprocessors:
 * data sheets; those of GB200 and GB300 as devices report them.
 *
 * Large transformers reach a part of the rooflines of their operators, `trained`. It is what is
 * left of a published iteration without the bubbles and the communication that the lower bound of
 * --check has, so that such a bound stays one. Each is calibrated with one row; that of H100 fp8
 * by a simulation of its packets, as its context-parallel messages leave the servers:
 *
 * - A100: 37.83 s of MT-NLG 530B on 280 GPUs (Korthikanti et al., MLSys 2023, table 5);
 * - H100 bf16: 430 TFLOP/s of Llama 3 405B on 8192 GPUs (Llama team, 2024, table 4);
 * - H100 fp8: 55.102 s of Llama 3.1 405B on 512 GPUs (MLPerf Training v5.0);
 * - B200 fp8: 27.641 s of the same on 256 GPUs (MLPerf Training v5.1, University of Florida);
 * - GB200 fp4: 17.237 s of the same on 512 GPUs (MLPerf Training v5.1, NVIDIA, in NVFP4);
 * - V100: 1121 ms of 1.16e9 parameters on one GPU, batch 8 (Megatron-LM, images/tables.tex);
 * - TPU v5p: the 66.9 % of a v5e (README of MaxText, 32e9 parameters).
 *
 * Serving knows one factor for all operators, from the same rows; that of V100 from 39 TFLOP/s
 * (Shoeybi et al., 2019, section 5.1).
 *
 * H200 and H800 have the tensor cores of H100. Formats and GPUs without a row of their own count as
 * their kin: Blackwell's bf16 as H100's, B200 and GB200 as each other, B300, GB300, Rubin and GB10
 * as B200, AMD's as H100; products of V100 and TPU as those of A100, attention of AMD's at H100's
 * ratio to products. Peaks of those: glennklockwood.com on HGX B300 and NVIDIA's data sheets
 * of GB300 NVL72 (a 72nd), Vera Rubin NVL72 (a 72nd, of training), DGX Spark; AMD's of MI300X,
 * MI355X. Rubin Ultra: NVIDIA's GTC 2025, a 144th of a rack (fp8, memory); others twice Rubin's.
 */

#include "training-gpu.h"

namespace ns3::training
{

namespace
{

constexpr uint64_t GIGABYTE = 1'000'000'000;

// Parts of their peaks that products and FlashAttention reach.
constexpr double H100_REACHED = 794.5 / 989.4;
constexpr double H100_ATTENTION = 648 / 989.4;
constexpr double H100_BACKWARD = 561 / 989.4;
constexpr double B200_REACHED = 1745.0 / 2250;
constexpr double BLACKWELL_ATTENTION = 1605.0 / 2250;
constexpr double BLACKWELL_BACKWARD = BLACKWELL_ATTENTION * H100_BACKWARD / H100_ATTENTION;
// Parts of their rooflines that transformers reach.
constexpr double TRAINED = 0.752;
constexpr double H100_TRAINED_FP8 = 0.954;
constexpr double BLACKWELL_TRAINED_FP8 = 0.658;
constexpr double BLACKWELL_TRAINED_FP4 = 0.65;
// Parts of their peaks that they reach on Blackwell, as one factor.
constexpr double BLACKWELL_FP8 = 0.42;
constexpr double BLACKWELL_FP4 = 0.314;

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
     {},
     0.65,
     80 * GIGABYTE,
     108,
     271.2 / 312,
     0.73,
     0.63,
     0.829});

const Registry<GpuEntry>::Entry g_h100(
    "h100",
    {"NVIDIA H100 80 GB: 989 TFLOP/s, 3.35 TB/s; bert-large and resnet50 scaled from a100",
     989.4e12,
     3.35e12,
     0.26,
     {{"bert-large", 580 * 309.0 / 152, 256, "NVIDIA DLE on A100 x 309 / 152, Lambda PyTorch"},
      {"resnet50", 2470 * 2790.0 / 1582, 256, "NVIDIA DLE on A100 x 2790 / 1582, Lambda PyTorch"}},
     {{"fp8", {1978.9e12, 0.511, 0.709, H100_TRAINED_FP8}}},
     0.57,
     80 * GIGABYTE,
     132,
     H100_REACHED,
     H100_ATTENTION,
     H100_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_h200(
    "h200",
    {"NVIDIA H200 141 GB: 989 TFLOP/s, 4.8 TB/s; bert-large and resnet50 scaled from a100",
     989.4e12,
     4.8e12,
     0.27,
     {{"bert-large", 580 * 350.0 / 152, 256, "NVIDIA DLE on A100 x 350 / 152, Lambda PyTorch"},
      {"resnet50", 2470 * 3079.0 / 1582, 256, "NVIDIA DLE on A100 x 3079 / 1582, Lambda PyTorch"}},
     {{"fp8", {1978.9e12, 0.511, 0.734, H100_TRAINED_FP8}}},
     0.57,
     141 * GIGABYTE,
     132,
     H100_REACHED,
     H100_ATTENTION,
     H100_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_h800(
    "h800",
    {"NVIDIA H800 80 GB: 989 TFLOP/s, 3.35 TB/s; an h100 with slower NVLink",
     989.4e12,
     3.35e12,
     0.26,
     {},
     {{"fp8", {1978.9e12, 0.511, 0.709, H100_TRAINED_FP8}}},
     0.57,
     80 * GIGABYTE,
     132,
     H100_REACHED,
     H100_ATTENTION,
     H100_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_gb200(
    "gb200",
    {"NVIDIA GB200, one of two GPUs: 2500 TFLOP/s, 8 TB/s",
     2500e12,
     8e12,
     0.41,
     {},
     {{"fp8", {5000e12, BLACKWELL_FP8, 0.723, BLACKWELL_TRAINED_FP8}},
      {"fp4", {10000e12, BLACKWELL_FP4, 0.723, BLACKWELL_TRAINED_FP4}}},
     0.57,
     186 * GIGABYTE,
     152,
     0.729,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_b200(
    "b200",
    {"NVIDIA B200 of an HGX: 2250 TFLOP/s, 8 TB/s",
     2250e12,
     8e12,
     0.41,
     {},
     {{"fp8", {4500e12, BLACKWELL_FP8, 0.763, BLACKWELL_TRAINED_FP8}},
      {"fp4", {9000e12, BLACKWELL_FP4, 0.763, BLACKWELL_TRAINED_FP4}}},
     0.57,
     180 * GIGABYTE,
     148,
     B200_REACHED,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_mi300x("mi300x",
                                         {"AMD MI300X: 1307 TFLOP/s, 5.3 TB/s",
                                          1307.4e12,
                                          5.3e12,
                                          0.26,
                                          {},
                                          {{"fp8", {2614.9e12, 0.511, 0.511, H100_TRAINED_FP8}}},
                                          0.57,
                                          192 * GIGABYTE,
                                          304,
                                          668.4 / 1307.4,
                                          0.417,
                                          0.361,
                                          TRAINED});

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
     {},
     0.31,
     32 * GIGABYTE,
     80,
     271.2 / 312,
     0.73,
     0.63,
     0.887});

const Registry<GpuEntry>::Entry g_b300(
    "b300",
    {"NVIDIA B300 of an HGX: 2250 TFLOP/s, 8 TB/s",
     2250e12,
     8e12,
     0.41,
     {},
     {{"fp8", {4500e12, BLACKWELL_FP8, 0.745, BLACKWELL_TRAINED_FP8}},
      {"fp4", {13125e12, BLACKWELL_FP4, 0.745, BLACKWELL_TRAINED_FP4}}},
     0.57,
     288 * GIGABYTE,
     148,
     0.786,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_gb300(
    "gb300",
    {"NVIDIA GB300, one of two GPUs: 2500 TFLOP/s, 8 TB/s",
     2500e12,
     8e12,
     0.41,
     {},
     {{"fp8", {5000e12, BLACKWELL_FP8, 0.723, BLACKWELL_TRAINED_FP8}},
      {"fp4", {15000e12, BLACKWELL_FP4, 0.723, BLACKWELL_TRAINED_FP4}}},
     0.57,
     279 * GIGABYTE,
     152,
     0.729,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_vr200(
    "vr200",
    {"NVIDIA Rubin of a Vera Rubin NVL72: 4000 TFLOP/s, 22 TB/s",
     4000e12,
     22e12,
     0.41,
     {},
     {{"fp8", {17500e12, BLACKWELL_FP8, 0.763, BLACKWELL_TRAINED_FP8}},
      {"fp4", {35000e12, BLACKWELL_FP4, 0.763, BLACKWELL_TRAINED_FP4}}},
     0.57,
     288 * GIGABYTE,
     224,
     B200_REACHED,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_rubinUltra(
    "rubin-ultra",
    {"NVIDIA Rubin Ultra of an NVL576: 8000 TFLOP/s, 32 TB/s",
     8000e12,
     32e12,
     0.41,
     {},
     {{"fp8", {35000e12, BLACKWELL_FP8, 0.763, BLACKWELL_TRAINED_FP8}},
      {"fp4", {70000e12, BLACKWELL_FP4, 0.763, BLACKWELL_TRAINED_FP4}}},
     0.57,
     1024 * GIGABYTE,
     448,
     B200_REACHED,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_gb10(
    "gb10",
    {"NVIDIA GB10 of a DGX Spark: 125 TFLOP/s, 0.27 TB/s",
     125e12,
     0.273e12,
     0.41,
     {},
     {{"fp8", {250e12, BLACKWELL_FP8, 0.763, BLACKWELL_TRAINED_FP8}},
      {"fp4", {500e12, BLACKWELL_FP4, 0.763, BLACKWELL_TRAINED_FP4}}},
     0.57,
     128 * GIGABYTE,
     48,
     B200_REACHED,
     BLACKWELL_ATTENTION,
     BLACKWELL_BACKWARD,
     TRAINED});

const Registry<GpuEntry>::Entry g_mi355x(
    "mi355x",
    {"AMD MI355X: 2517 TFLOP/s, 8 TB/s",
     2516.6e12,
     8e12,
     0.26,
     {},
     {{"fp8", {5033.2e12, 0.511, 0.622, H100_TRAINED_FP8}},
      {"fp4", {10066e12, BLACKWELL_FP4, 0.622, BLACKWELL_TRAINED_FP4}}},
     0.57,
     288 * GIGABYTE,
     256,
     1565 / 2516.6,
     0.507,
     0.439,
     TRAINED});

const Registry<GpuEntry>::Entry g_tpuV5p("tpu-v5p",
                                         {"Google TPU v5p: 459 TFLOP/s, 2.77 TB/s",
                                          459e12,
                                          2.765e12,
                                          0.41,
                                          {},
                                          {},
                                          0.67,
                                          95 * GIGABYTE,
                                          0,
                                          271.2 / 312,
                                          0.73,
                                          0.63,
                                          0.822});

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
