# SPDX-License-Identifier: GPL-2.0-only
"""A training in Python; a simulated network sums its gradients."""

from __future__ import annotations

import abc
import socket
import struct
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    import numpy

# A question of the program: kind, rank, iteration, 0, first number, count.
_REQUEST = struct.Struct("=IIIIQQ")
_BEGIN, _MAKE, _APPLY, _WEIGHTS, _EVALUATE = range(1, 6)


class Layer(NamedTuple):
    """A layer of a model: its number of parameters, and its compute times in microseconds."""

    name: str
    parameters: int
    forward_us: float = 0
    backward_us: float = 0


class Learner(abc.ABC):
    """A training: a replica of a model for each rank. For TrainingJob.train().

    Gradients and weights are flat float32 arrays in which the last layer comes first, because
    backpropagation completes its gradients first.
    """

    layers: list[Layer]
    """the model's layers, in forward order"""

    def begin(self, ranks: int, iterations: int, batch: int) -> None:
        """Prepare a replica for each of the ranks. Called once, before all others."""

    @abc.abstractmethod
    def make(self, rank: int, iteration: int) -> tuple[float, numpy.ndarray]:
        """Return loss and gradient of a rank's samples of an iteration. Called once for each."""

    @abc.abstractmethod
    def apply(self, rank: int, iteration: int, gradient: numpy.ndarray) -> None:
        """Update a rank's weights by the sum of all ranks' gradients, as the rank received it."""

    @abc.abstractmethod
    def get_weights(self, rank: int) -> numpy.ndarray:
        """Return a rank's weights."""

    @abc.abstractmethod
    def evaluate(self, iteration: int) -> tuple[float, float]:
        """Return loss and accuracy (0 to 1) of rank 0's weights on samples that it never saw."""


class Server:
    """Answers a program's questions about a learner, until the program closes its socket."""

    def __init__(self, learner: Learner, connection: socket.socket) -> None:
        self.error: Optional[BaseException] = None
        """what the learner has raised"""
        self._learner = learner
        self._connection = connection
        self._gradients = sum(layer.parameters for layer in learner.layers)
        self._made: dict[int, tuple[int, float, Any]] = {}  # by rank
        self._sums: dict[int, tuple[Any, int]] = {}  # by rank: sums so far, their number

    def serve(self) -> None:
        """Answer until the end; keep an error of the learner, and end the program by it."""
        try:
            while True:
                request = self._receive(_REQUEST.size)
                if request is None:
                    return
                self._answer(*_REQUEST.unpack(request))
        except OSError:  # the program has ended
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._connection.close()

    def _receive(self, size: int) -> Optional[bytearray]:
        data = bytearray()
        while len(data) < size:
            block = self._connection.recv(min(size - len(data), 1 << 20))
            if not block:
                return None
            data += block
        return data

    def _to_floats(self, numbers: Any, what: str) -> Any:
        import numpy

        floats = numpy.asarray(numbers, dtype=numpy.float32).reshape(-1)
        if floats.size != self._gradients:
            raise ValueError(f"{what}: {floats.size} numbers (allowed: {self._gradients})")
        return floats

    def _answer(
        self, kind: int, rank: int, iteration: int, _: int, first: int, count: int
    ) -> None:
        import numpy

        send = self._connection.sendall
        if kind == _BEGIN:  # of each run
            self._made.clear()
            self._sums.clear()
            self._learner.begin(rank, iteration, first)
            send(struct.pack("=Q", self._gradients))
        elif kind == _MAKE:
            if self._made.get(rank, (-1,))[0] != iteration:
                loss, gradient = self._learner.make(rank, iteration)
                self._made[rank] = (iteration, loss, self._to_floats(gradient, "gradient").copy())
            _number, loss, gradient = self._made[rank]
            send(struct.pack("=d", loss) + gradient[first : first + count].tobytes())
        elif kind == _APPLY:
            data = self._receive(4 * count)
            if data is None:
                return
            sums, done = self._sums.pop(rank, (numpy.empty(self._gradients, numpy.float32), 0))
            sums[first : first + count] = numpy.frombuffer(data, numpy.float32)
            if done + count < self._gradients:
                self._sums[rank] = (sums, done + count)
            else:
                self._learner.apply(rank, iteration, sums)
        elif kind == _WEIGHTS:
            weights = self._to_floats(self._learner.get_weights(rank), "weights")
            send(struct.pack("=Q", weights.size) + weights.tobytes())
        elif kind == _EVALUATE:
            send(struct.pack("=dd", *self._learner.evaluate(iteration)))
