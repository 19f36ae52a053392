# SPDX-License-Identifier: GPL-2.0-only
"""Trains ResNet-50 on 8 workers in one process, and writes the gradients of some iterations.

    python bindings/python/examples/resnet50_gradients.py DIRECTORY [ITERATION...]

Needs PyTorch and torchvision. The files are DIRECTORY/RANK-ITERATION.f32, 102 MB each, for

    ./ns3w run "training-job --workload=resnet50 --ranks=8 --iterations=1 --warmup=0
        --gradients=file:DIRECTORY/{rank}-19.f32"

Without iterations it writes the first one, 0, and 19.

The task is synthetic, so that no data set is needed: each of 10 classes has a pattern of low
frequency, which appears in 64x64 images at a random place, under noise. The batch is 16 images a
worker, the optimizer SGD with momentum 0.9 at a learning rate of 0.002.
"""

from __future__ import annotations

import pathlib
import sys

WORKERS = 8
BATCH = 16
CLASSES = 10
SIDE = 64


def main(directory: str, *iterations: str) -> None:
    """Train until the last of the iterations, and write the gradients of each of them."""
    try:
        import torch
        import torchvision
    except ImportError as error:
        sys.exit(f"resnet50_gradients.py: {error.name} is not installed")
    folder = pathlib.Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sorted(int(text) for text in iterations or ("0", "19"))

    torch.manual_seed(1)
    coarse = torch.randn(CLASSES, 3, 8, 8)
    patterns = torch.nn.functional.interpolate(coarse, size=(SIDE, SIDE), mode="bilinear")
    model = torchvision.models.resnet50(weights=None)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.002, momentum=0.9)

    for iteration in range(wanted[-1] + 1):
        sums = [torch.zeros_like(parameter) for parameter in parameters]
        losses = []
        for rank in range(WORKERS):
            labels = torch.randint(CLASSES, (BATCH,))
            shifts = torch.randint(SIDE, (BATCH, 2)).tolist()
            images = torch.stack(
                [patterns[label].roll(shift, (1, 2)) for label, shift in zip(labels, shifts)]
            )
            loss = torch.nn.functional.cross_entropy(
                model(images + torch.randn(images.shape)), labels
            )
            optimizer.zero_grad()
            loss.backward()
            losses.append(loss.item())
            for total, parameter in zip(sums, parameters):
                total += parameter.grad
            if iteration in wanted:
                # Gradients are complete from the last layer to the first, and in this order the
                # simulator sums them.
                flat = torch.cat([p.grad.flatten() for p in reversed(parameters)])
                flat.numpy().tofile(folder / f"{rank}-{iteration}.f32")
        for total, parameter in zip(sums, parameters):
            parameter.grad = total / WORKERS
        optimizer.step()
        print(f"iteration {iteration}: loss {sum(losses) / WORKERS:.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
