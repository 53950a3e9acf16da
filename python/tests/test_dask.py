"""The executor of Dask, with workers that are processes of their own on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ENVIRONMENT, collect, new_study
from test_run import SETTINGS, answer, dies_once
from test_sweep import SETTINGS as SWEEP
from test_sweep import dies_once as killed_once
from test_sweep import tables

import taskscout as ts

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("dask")
    tests = str(Path(__file__).parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ENVIRONMENT['PYTHONPATH']}:{tests}")
        patch.setenv("TASKSCOUT_TEST_MARK", str(folder / "mark"))
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            local_directory=str(folder),
            silence_logs=50,
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


def test_workers_of_dask_change_nothing(client: Any) -> None:
    alone = answer(new_study().run(collect, **SETTINGS))
    with client.get_executor() as pool:
        assert answer(new_study().run(collect, executor=pool, **SETTINGS)) == alone
    # A worker that dies is replaced, and its work done again.
    with client.get_executor() as pool:
        assert answer(new_study().run(dies_once, executor=pool, **SETTINGS)) == alone
    assert Path(os.environ["TASKSCOUT_TEST_MARK"]).exists()


def test_two_hundred_runs_are_the_same_on_one_and_two_workers(client: Any) -> None:
    many = {**SWEEP, "seeds": 33, "strategies": ["passive", "aware"]}
    first = next(iter(client.scheduler_info()["workers"]))
    with client.get_executor(workers=[first]) as pool:
        alone = ts.sweep(collect, **many, executor=pool)
    assert len(alone.last()) == 198
    with client.get_executor() as pool:
        assert tables(ts.sweep(collect, **many, executor=pool)) == tables(alone)
    # One that is killed in the middle is replaced, and its runs are done again.
    Path(os.environ["TASKSCOUT_TEST_MARK"]).unlink(missing_ok=True)
    with client.get_executor() as pool:
        assert tables(ts.sweep(killed_once, **many, executor=pool)) == tables(alone)
    assert Path(os.environ["TASKSCOUT_TEST_MARK"]).exists()


def shard(part: int) -> ts.Statistics:
    rng = np.random.default_rng(part)
    x = rng.normal(size=(5000, 6))
    statistics = ts.Statistics(6)
    statistics.update(x, x[:, 0] + rng.normal(size=5000))
    return statistics


def test_statistics_of_shards_equal_those_of_one_process(client: Any) -> None:
    parts = client.gather(client.map(shard, range(8)))
    total = sum(parts[1:], start=parts[0])
    rows = [np.random.default_rng(part) for part in range(8)]
    data = [(rng.normal(size=(5000, 6)), rng) for rng in rows]
    whole = ts.Statistics(6)
    x = np.concatenate([x for x, _ in data])
    whole.update(x, x[:, 0] + np.concatenate([rng.normal(size=5000) for _, rng in data]))
    assert total.count == whole.count == 40_000
    assert np.abs(total.gram - whole.gram).max() <= 1e-12 * np.abs(whole.gram).max()
    assert np.abs(total.moment - whole.moment).max() <= 1e-12 * np.abs(whole.moment).max()
