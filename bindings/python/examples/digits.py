# SPDX-License-Identifier: GPL-2.0-only
"""Trains an MLP on scikit-learn's digits over a simulated network, by codec in the NICs.

    ./ns3w python bindings/python/examples/digits.py

Needs scikit-learn, which brings the data. The MLP is 64-128-10, on 4 workers of 32 samples, with SGD
at a learning rate of 0.2 for 400 steps.
"""

from __future__ import annotations

import sys

import numpy

import distributed_training as dt

RATE = 0.2
STEPS = 400
WIDTHS = ((64, 128), (128, 10))
CODECS = ("none", "fp16", "bf16") + tuple(
    f"inceptionn:bound={bound},variant={variant}"
    for bound in (-10, -8, -6)
    for variant in ("paper", "bounded")
)


class Digits(dt.Learner):
    """The MLP; each rank has every fourth training sample."""

    layers = [dt.Layer(f"fc{i}", (a + 1) * b, 10, 20) for i, (a, b) in enumerate(WIDTHS)]

    def begin(self, ranks: int, iterations: int, batch: int) -> None:
        """Load the data, and make equal replicas."""
        from sklearn.datasets import load_digits

        data = load_digits()
        order = numpy.random.default_rng(1).permutation(len(data.target))
        features = (data.data[order] / 16).astype(numpy.float32)
        labels = data.target[order]
        self.batch = batch
        self.train = features[400:], labels[400:]
        self.test = features[:400], labels[:400]
        source = numpy.random.default_rng(2)
        start = []
        for inputs, outputs in reversed(WIDTHS):
            start += [source.normal(0, (2 / inputs) ** 0.5, inputs * outputs), numpy.zeros(outputs)]
        self.weights = [numpy.concatenate(start).astype(numpy.float32) for _ in range(ranks)]

    @staticmethod
    def split(flat: numpy.ndarray) -> list[numpy.ndarray]:
        """Return weights and biases of the second, then of the first layer."""
        parts, start = [], 0
        for inputs, outputs in reversed(WIDTHS):
            parts.append(flat[start : start + inputs * outputs].reshape(inputs, outputs))
            start += inputs * outputs
            parts.append(flat[start : start + outputs])
            start += outputs
        return parts

    def run(
        self, rank: int, features: numpy.ndarray, labels: numpy.ndarray
    ) -> tuple[float, numpy.ndarray, numpy.ndarray]:
        """Return loss, hidden values and logarithms of probabilities."""
        w2, b2, w1, b1 = self.split(self.weights[rank])
        hidden = numpy.maximum(features @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        scores -= scores.max(1, keepdims=True)
        scores -= numpy.log(numpy.exp(scores).sum(1, keepdims=True))
        return -float(scores[numpy.arange(len(labels)), labels].mean()), hidden, scores

    def make(self, rank: int, iteration: int) -> tuple[float, numpy.ndarray]:
        """Return loss and gradient of a random batch of the rank's samples."""
        features, labels = (part[rank :: len(self.weights)] for part in self.train)
        source = numpy.random.default_rng((3, rank, iteration))
        chosen = source.integers(len(labels), size=self.batch)
        features, labels = features[chosen], labels[chosen]
        loss, hidden, scores = self.run(rank, features, labels)
        deltas = (numpy.exp(scores) - numpy.eye(10, dtype=numpy.float32)[labels]) / self.batch
        before = (deltas @ self.split(self.weights[rank])[0].T) * (hidden > 0)
        parts = (hidden.T @ deltas, deltas.sum(0), features.T @ before, before.sum(0))
        return loss, numpy.concatenate([part.ravel() for part in parts])

    def apply(self, rank: int, iteration: int, gradient: numpy.ndarray) -> None:
        """Make a step along the mean gradient."""
        self.weights[rank] -= numpy.float32(RATE / len(self.weights)) * gradient

    def get_weights(self, rank: int) -> numpy.ndarray:
        """Return the weights of a rank."""
        return self.weights[rank]

    def evaluate(self, iteration: int) -> tuple[float, float]:
        """Return loss and accuracy of rank 0 on the test samples."""
        loss, _, scores = self.run(0, *self.test)
        return loss, float((scores.argmax(1) == self.test[1]).mean())


def main() -> None:
    """Train with each codec, and print loss, accuracy, time and drift."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        sys.exit("digits.py: scikit-learn is not installed")
    print(f"{'codec':<36}{'loss':>8}{'accuracy':>10}{'time (ms)':>11}{'ratio':>7}{'drift':>9}")
    for codec in CODECS:
        job = dt.TrainingJob(
            ranks=4, rate="10Gbps", batch=32, iterations=STEPS, warmup=0, nic=codec
        )
        result = job.train(Digits())
        rows = result.learning
        last = rows.iloc[-1]
        ratio = result.data.get("nic", {}).get("ratio", 1)
        print(
            f"{codec:<36}{rows['training_loss'].iloc[-20:].mean():>8.4f}"
            f"{100 * last['test_accuracy']:>8.2f} %{1e3 * last['end_s']:>11.2f}{ratio:>7.2f}"
            f"{last['drift']:>9.3g}"
        )


if __name__ == "__main__":
    main()
