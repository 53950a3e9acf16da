"""The Python side of the benchmark `neural`: answers one line for every line it reads.

    python torch_steps.py FILE TASKS FEATURES ROWS HELD_OUT WIDTHS BATCH RATE

FILE holds single precision numbers, lowest byte first: the features of TASKS tasks, FEATURES each;
then ROWS rows to learn from, and then HELD_OUT rows, both as all inputs, all labels, all numbers of
tasks; then where to start, a matrix for each layer of the network (inputs x outputs) and the task
map (k x FEATURES). WIDTHS is the network, as in 20-20-20-4. It says `ready <version>` and then
understands

    time EPOCHS                     -> seconds of wall time and of processor time of an epoch (mean of
                                       EPOCHS), from the start in FILE
    result                          -> the losses before each of the first steps on all rows at once,
                                       from the start in FILE
    train SEED EPOCHS EVERY FACTOR  -> seconds of wall time and of processor time of a training from
                                       PyTorch's own initialisation, with the rate times FACTOR every
                                       EVERY steps, and the loss on the held-out rows after it

PyTorch runs eagerly, on as many threads as OMP_NUM_THREADS says. Rows are shuffled once an epoch and
then cut into batches, which is faster than picking the rows of every batch, and tasks are embedded
once a step, which is faster than embedding the task of every row.
"""

import os
import sys
import time

# Before the library loads: threads that spin for long while they wait collapse on a busy machine.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f"torch_steps.py: {error}")

FULL_STEPS = 5


class Joint(nn.Module):
    """A network and a linear task map, without bias."""

    def __init__(self, widths, features):
        super().__init__()
        layers = []
        for inputs, outputs in zip(widths, widths[1:]):
            layers += [nn.Linear(inputs, outputs, bias=False), nn.ReLU()]
        self.phi = nn.Sequential(*layers[:-1])
        self.map = nn.Linear(features, widths[-1], bias=False)

    def forward(self, x, tasks, task):
        return (self.phi(x) * nn.functional.embedding(task, self.map(tasks))).sum(1)


class Work:
    """The rows and the model."""

    def __init__(self, file, tasks, features, rows, held_out, widths, batch, rate):
        self.widths = [int(width) for width in widths.split("-")]
        self.features, self.batch, self.rate = int(features), int(batch), float(rate)
        self.values = torch.from_numpy(np.fromfile(file, dtype="<f4"))
        self.tasks = self.take(int(tasks), self.features)
        self.rows, self.held_out = self.table(int(rows)), self.table(int(held_out))
        self.start = [self.take(*pair).T for pair in zip(self.widths, self.widths[1:])]
        self.start.append(self.take(self.widths[-1], self.features))

    def take(self, *shape):
        count = int(np.prod(shape))
        first, self.values = self.values[:count], self.values[count:]
        return first.clone().reshape(shape)

    def table(self, rows):
        x, y, task = self.take(rows, self.widths[0]), self.take(rows), self.take(rows)
        return x, task.long(), y

    def known(self):
        """The model of the file."""
        model = Joint(self.widths, self.features)
        with torch.no_grad():
            for to, value in zip(model.parameters(), self.start):
                to.copy_(value)
        return model

    def descend(self, model, epochs, every=0, factor=1.0):
        x, task, y = self.rows
        loss_of = nn.MSELoss()
        optimiser = torch.optim.SGD(model.parameters(), lr=self.rate)
        steps = 0
        for _ in range(epochs):
            order = torch.randperm(len(y))
            batches = (part[order].split(self.batch) for part in (x, task, y))
            for some_x, some_task, some_y in zip(*batches):
                optimiser.zero_grad(set_to_none=True)
                loss_of(model(some_x, self.tasks, some_task), some_y).backward()
                optimiser.step()
                steps += 1
                if every and steps % every == 0:
                    for group in optimiser.param_groups:
                        group["lr"] *= factor

    def result(self):
        model, (x, task, y) = self.known(), self.rows
        optimiser = torch.optim.SGD(model.parameters(), lr=self.rate)
        losses = []
        for _ in range(FULL_STEPS):
            optimiser.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x, self.tasks, task), y)
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
        return losses

    def loss(self, model):
        x, task, y = self.held_out
        with torch.no_grad():
            return float(nn.functional.mse_loss(model(x, self.tasks, task), y))


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def main():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.set_num_interop_threads(1)
    work = Work(*sys.argv[1:])
    print("ready", f"PyTorch {torch.__version__}", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            epochs, model = int(arguments[0]), work.known()
            answer = [seconds / epochs for seconds in timed(lambda: work.descend(model, epochs))]
        elif command == "result":
            answer = work.result()
        elif command == "train":
            seed, epochs, every, factor = arguments
            torch.manual_seed(int(seed))
            model = Joint(work.widths, work.features)
            times = timed(
                lambda: work.descend(model, int(epochs), int(every), float(factor))
            )
            answer = [*times, work.loss(model)]
        else:
            sys.exit(f"torch_steps.py: unknown command {command!r}")
        print(*map(repr, answer), flush=True)


if __name__ == "__main__":
    main()
