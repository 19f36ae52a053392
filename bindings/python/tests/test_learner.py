# SPDX-License-Identifier: GPL-2.0-only
"""Trainings in Python whose gradients are summed by a simulated network."""

import numpy
import pytest

import distributed_training as dt

FEATURES, CLASSES = 6, 3


class Softmax(dt.Learner):
    """Multinomial logistic regression on blobs; its replicas and gradients are recorded."""

    layers = [dt.Layer("bias", CLASSES, 1, 2), dt.Layer("fc", FEATURES * CLASSES, 1, 2)]

    def begin(self, ranks, iterations, batch):
        self.batch = batch
        self.weights = [numpy.zeros(CLASSES * (FEATURES + 1), numpy.float32) for _ in range(ranks)]
        self.made, self.sums = {}, {}

    @staticmethod
    def draw(key, count):
        source = numpy.random.default_rng(key)
        labels = source.integers(CLASSES, size=count)
        features = source.normal(size=(count, FEATURES))
        features[numpy.arange(count), labels] += 4
        return features, labels

    @staticmethod
    def get_losses(weights, features, labels):
        scores = features @ weights[: FEATURES * CLASSES].reshape(FEATURES, CLASSES)
        scores += weights[FEATURES * CLASSES :]
        scores -= numpy.log(numpy.exp(scores).sum(1, keepdims=True))
        return scores, -scores[numpy.arange(len(labels)), labels].mean()

    def make(self, rank, iteration):
        assert (rank, iteration) not in self.made
        features, labels = self.draw((1, rank, iteration), self.batch)
        scores, loss = self.get_losses(self.weights[rank], features, labels)
        deltas = (numpy.exp(scores) - numpy.eye(CLASSES)[labels]) / self.batch
        gradient = numpy.concatenate([(features.T @ deltas).ravel(), deltas.sum(0)])
        self.made[rank, iteration] = gradient.astype(numpy.float32)
        return loss, self.made[rank, iteration]

    def apply(self, rank, iteration, gradient):
        self.sums[rank, iteration] = gradient.copy()
        self.weights[rank] -= numpy.float32(0.5 / len(self.weights)) * gradient

    def get_weights(self, rank):
        return self.weights[rank]

    def evaluate(self, iteration):
        features, labels = self.draw(2, 200)
        scores, loss = self.get_losses(self.weights[0], features, labels)
        return loss, (scores.argmax(1) == labels).mean()


OPTIONS = {"ranks": 3, "batch": 8, "iterations": 20, "warmup": 0}


@pytest.mark.parametrize("network", [{"transport": "tcp", "loss": 0.01}, {"bucket": 4}])
def test_sums_come_back(network):
    learner = Softmax()
    result = dt.TrainingJob(**OPTIONS, **network).train(learner)
    assert result.configuration["resolved"]["payload"] == "real"
    assert result.iterations["verified"].all()
    assert set(learner.sums) == {(r, i) for r in range(3) for i in range(20)}
    for (rank, iteration), total in learner.sums.items():
        exact = sum(learner.made[r, iteration].astype(float) for r in range(3))
        assert numpy.allclose(total, exact, rtol=1e-5, atol=1e-6), (rank, iteration)
    rows = result.learning
    assert len(rows) == 20 and (rows["drift"] == 0).all()
    assert list(rows["end_s"]) == sorted(rows["end_s"])
    loss, accuracy = learner.evaluate(19)
    assert rows["test_loss"].iloc[-1] == loss and rows["test_accuracy"].iloc[-1] == accuracy
    assert loss < rows["test_loss"].iloc[0] / 2 and accuracy > 0.95


def test_each_run_begins_anew():
    result = dt.TrainingJob(ranks=2, iterations=1, warmup=0, runs=2).train(Softmax())
    rows = result.learning.set_index("run")
    assert rows.loc[1].equals(rows.loc[2]) and len(rows) == 2


def test_codecs_let_replicas_drift():
    learner = Softmax()
    rows = dt.TrainingJob(**OPTIONS, nic="fp16").train(learner).learning
    weights = numpy.array(learner.weights)
    drift = (weights.max(0).astype(float) - weights.min(0)).max()
    assert rows["drift"].iloc[-1] == drift > 0


def test_errors_of_learners_are_raised():
    class Failing(Softmax):
        def make(self, rank, iteration):
            if iteration == 2:
                raise KeyError("no samples")
            return super().make(rank, iteration)

    class Short(Softmax):
        def make(self, rank, iteration):
            return 0.0, numpy.zeros(5)

    with pytest.raises(KeyError, match="no samples"):
        dt.TrainingJob(**OPTIONS).train(Failing())
    with pytest.raises(ValueError, match="gradient: 5 numbers .allowed: 21"):
        dt.TrainingJob(**OPTIONS).train(Short())
    with pytest.raises(TypeError, match="workload='vgg16' .allowed: none"):
        dt.TrainingJob(workload="vgg16").train(Softmax())
    with pytest.raises(ValueError, match="the program has no socket of this number"):
        dt.TrainingJob(gradients="pipe:fd=1000").run()
    with pytest.raises(ValueError, match="--ranks=0 "):
        dt.TrainingJob(ranks=0).train(Softmax())
