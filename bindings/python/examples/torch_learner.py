# SPDX-License-Identifier: GPL-2.0-only
"""Trains a PyTorch model over a simulated network, by codec. Needs PyTorch.

    ./ns3w python bindings/python/examples/torch_learner.py

A small convolutional network learns to find patterns in noisy 16x16 images, with 4 workers of 16
images and SGD with momentum. Any torch.nn.Module can take its place.
"""

from __future__ import annotations

from typing import Any

import numpy

import distributed_training as dt

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

CLASSES = 6
SIDE = 16
STEPS = 60
CODECS: tuple[dict[str, str], ...] = (
    {},
    {"nic": "fp16"},
    {"nic": "inceptionn:bound=-10,variant=bounded"},
    {"codec": "powersgd:rank=2,feedback=true"},
    {"codec": "top-k:keep=0.01,feedback=true"},
    {"codec": "top-k:keep=0.01"},
)


def make_model() -> Any:
    """Return the model, with the same weights each time."""
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(4),
        torch.nn.Flatten(),
        torch.nn.Linear(8 * (SIDE // 4) ** 2, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, CLASSES),
    )


class TorchLearner(dt.Learner):
    """A model and an optimizer for each rank."""

    def __init__(self) -> None:
        self.layers = [
            dt.Layer(name, sum(p.numel() for p in part.parameters()), 20, 40)
            for name, part in make_model().named_children()
            if list(part.parameters())
        ]

    def begin(self, ranks: int, iterations: int, batch: int) -> None:
        """Make equal replicas, patterns and a test."""
        self.batch = batch
        self.models = [make_model() for _ in range(ranks)]
        self.optimizers = [
            torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9) for model in self.models
        ]
        source = torch.Generator().manual_seed(2)
        self.patterns = torch.randn(CLASSES, 1, SIDE, SIDE, generator=source)
        self.test = self.draw(source, 500)

    def draw(self, source: Any, count: int) -> tuple[Any, Any]:
        """Return images, patterns under noise, and their labels."""
        labels = torch.randint(CLASSES, (count,), generator=source)
        noise = torch.randn(count, 1, SIDE, SIDE, generator=source)
        return self.patterns[labels] + noise, labels

    def get_parameters(self, rank: int) -> list[Any]:
        """Return the parameters of a replica, the last layer first, as gradients are sent."""
        return list(self.models[rank].parameters())[::-1]

    def make(self, rank: int, iteration: int) -> tuple[float, numpy.ndarray]:
        """Return loss and gradient of new samples of the rank."""
        source = torch.Generator().manual_seed(1000 * (iteration + 1) + rank)
        images, labels = self.draw(source, self.batch)
        self.optimizers[rank].zero_grad()
        loss = torch.nn.functional.cross_entropy(self.models[rank](images), labels)
        loss.backward()
        return loss.item(), torch.cat([p.grad.flatten() for p in self.get_parameters(rank)]).numpy()

    def apply(self, rank: int, iteration: int, gradient: numpy.ndarray) -> None:
        """Make a step of the optimizer along the mean gradient."""
        mean = torch.from_numpy(gradient / numpy.float32(len(self.models)))
        parameters = self.get_parameters(rank)
        for parameter, part in zip(parameters, mean.split([p.numel() for p in parameters])):
            parameter.grad = part.view_as(parameter)
        self.optimizers[rank].step()

    def get_weights(self, rank: int) -> numpy.ndarray:
        """Return the weights of a rank."""
        flat = torch.cat([p.detach().flatten() for p in self.get_parameters(rank)])
        return flat.numpy()

    def evaluate(self, iteration: int) -> tuple[float, float]:
        """Return loss and accuracy of rank 0 on the test."""
        images, labels = self.test
        with torch.no_grad():
            scores = self.models[0](images)
            loss = torch.nn.functional.cross_entropy(scores, labels).item()
        return loss, (scores.argmax(1) == labels).float().mean().item()


def main() -> None:
    """Train with each codec, and print loss, accuracy, time and drift."""
    if torch is None:
        print("torch_learner.py: PyTorch is not installed")
        return
    print(f"{'codec':<46}{'loss':>8}{'accuracy':>10}{'time (ms)':>11}{'drift':>9}")
    for options in CODECS:
        job = dt.TrainingJob(ranks=4, rate="1Gbps", batch=16, iterations=STEPS, warmup=0, **options)
        rows = job.train(TorchLearner()).learning
        last = rows.iloc[-1]
        label = ", ".join(f"{key}={value}" for key, value in options.items()) or "none"
        print(
            f"{label:<46}{last['test_loss']:>8.4f}{100 * last['test_accuracy']:>8.1f} %"
            f"{1e3 * last['end_s']:>11.2f}{last['drift']:>9.3g}"
        )


if __name__ == "__main__":
    main()
