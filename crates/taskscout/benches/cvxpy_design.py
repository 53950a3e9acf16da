"""The Python side of the benchmark `design`: answers one line for every line it reads.

    python cvxpy_design.py scan FILE ROWS FEATURES
    python cvxpy_design.py optimum FILE ROWS FEATURES TARGETS CRITERION TOLERANCE

FILE holds the candidates, ROWS x FEATURES doubles, row by row, and then targets of the same width.
`scan` is one pass of numpy over the candidates C: max_i |R c_i|^2, where R holds the first
FEATURES of them. `optimum` is the best design for the first TARGETS targets (0: for everything)
by cvxpy and Clarabel, which stops at TOLERANCE. Each says `ready <versions>`, after a first solve
where there is one, and then understands

    time PASSES   -> seconds of wall time and of processor time of one pass (mean of PASSES)
    result        -> scan: the maximum; optimum: the value that the solver states, and the value
                     of its weights, computed anew
    solver        -> optimum: seconds that the solver reports for the last solve; the rest of the
                     wall time is cvxpy's
"""

import sys
import time

import numpy as np


class Scan:
    """One pass over the candidates."""

    def __init__(self, candidates):
        self.x, self.r = candidates, candidates[: candidates.shape[1]].copy()
        self.versions = f"numpy {np.__version__}"

    def run(self):
        self.maximum = ((self.x @ self.r.T) ** 2).sum(1).max()

    def result(self):
        self.run()
        return [float(self.maximum)]


class Optimum:
    """The best design by a solver for cones."""

    def __init__(self, candidates, targets, criterion, tolerance):
        try:
            import clarabel
            import cvxpy as cp
        except ImportError as error:
            sys.exit(f"cvxpy_design.py: {error}")
        self.versions = f"cvxpy {cp.__version__} with Clarabel {clarabel.__version__}"
        n, k = candidates.shape
        self.c, self.criterion = candidates, criterion
        root = targets.T / np.sqrt(len(targets)) if len(targets) else np.eye(k)
        self.need = root @ root.T
        self.q = cp.Variable(n, nonneg=True)
        # The information C' diag(q) C as one matrix times q: the form that cvxpy compiles fastest.
        outer = (candidates[:, :, None] * candidates[:, None, :]).reshape(n, k * k)
        information = cp.reshape(outer.T @ self.q, (k, k), order="C")
        if criterion == "trace":
            # tr(L' S^-1 L) as one cone: a sum over the columns of L takes up to 20 times as long.
            goal = cp.Minimize(cp.matrix_frac(root, information))
            constraints = []
        else:
            t = cp.Variable()
            goal = cp.Maximize(t)
            constraints = [information - t * self.need >> 0]
        self.problem = cp.Problem(goal, [cp.sum(self.q) == 1, *constraints])
        # cvxpy keeps what it compiled in the first solve; the solver starts from nothing, as ours.
        self.options = {
            "solver": cp.CLARABEL,
            "warm_start": False,
            "tol_gap_abs": tolerance,
            "tol_gap_rel": tolerance,
            "tol_feas": tolerance,
        }
        self.run()

    def run(self):
        self.problem.solve(**self.options)
        if self.problem.status not in ("optimal", "optimal_inaccurate"):
            sys.exit(f"cvxpy_design.py: the solver ended with {self.problem.status!r}")

    def result(self):
        stated = float(self.problem.value)
        if self.criterion != "trace":
            stated = 1.0 / stated
        q = np.maximum(self.q.value, 0.0)
        q /= q.sum()
        ratio = np.linalg.solve(self.c.T @ (q[:, None] * self.c), self.need)
        if self.criterion == "trace":
            return [stated, float(np.trace(ratio))]
        return [stated, float(np.linalg.eigvals(ratio).real.max())]


def main():
    kind, file, rows, features, *rest = sys.argv[1:]
    values = np.fromfile(file).reshape(-1, int(features))
    candidates, targets = values[: int(rows)], values[int(rows) :]
    if kind == "scan":
        work = Scan(candidates)
    else:
        count, criterion, tolerance = rest
        work = Optimum(candidates, targets[: int(count)], criterion, float(tolerance))
    print("ready", work.versions, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                work.run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            answer = [wall / passes, cpu / passes]
        elif command == "result":
            answer = work.result()
        elif command == "solver":
            answer = [float(work.problem.solver_stats.solve_time)]
        else:
            sys.exit(f"cvxpy_design.py: unknown command {command!r}")
        print(*map(repr, answer), flush=True)


if __name__ == "__main__":
    main()
