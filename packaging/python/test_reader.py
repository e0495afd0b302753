#!/usr/bin/env python3
"""The tables of the module `fathom` have the figures of the documents: test_reader.py STORE FOLDER

STORE has a run of `fathom quick` and two of `fathom io`; FOLDER gets the documents. Without
pandas only the error is tested. Run by scripts/wheel-tests.
"""

import importlib.util
import json
import math
import pathlib
import subprocess
import sys

import fathom


def printed(folder, name, *words):
    """What the program prints, as a file and as a document."""
    done = subprocess.run([fathom.binary(), *words], stdout=subprocess.PIPE, text=True)
    path = folder / name
    path.write_text(done.stdout)
    return path, done.stdout


def same(value, expected):
    if expected is None:
        return value is None or math.isnan(value)
    return value == expected


def rejects(words, call, *arguments):
    try:
        call(*arguments)
    except fathom.FathomError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{words}: no error")


def test_run(table, document):
    lines = [(row, op) for row in document["rows"] for op in row["ops"]]
    assert len(table) == len(lines) > 0
    for (_, line), (row, op) in zip(table.iterrows(), lines):
        assert (line.label, line.kind, line.ops, line.bytes) == (row["label"], op["kind"], op["ops"], op["bytes"])
        assert line.validity == row["verdict"]["validity"]
        for end in ("value", "low", "high"):
            name = "ops_per_second" + ("" if end == "value" else f"_{end}")
            assert same(line[name], op["ops_per_second"][end]), name
        p99 = next(p for p in op["service"]["percentiles"] if p["percent"] == 99.0)
        assert same(line.service_p99_ns, p99["latency_ns"]["value"])
        assert same(line.service_max_ns, op["service"]["max_ns"])
    assert table.attrs["run"] == document["run"]["id"]
    assert table.attrs["validity"] == document["verdict"]["validity"]


def test_seconds(table, document):
    ops = [op for trial in document["trials"] for second in trial["intervals"] for op in second["ops"]]
    assert len(table) == len(ops) > 0
    assert table.ops.tolist() == [op["ops"] for op in ops]
    assert table.bytes.sum() == sum(op["bytes"] for op in ops)
    assert all(same(value, op["p99_ns"]) for value, op in zip(table.p99_ns, ops))


def test_comparison(table, document):
    metrics = [metric for row in document["rows"] for metric in row["metrics"]]
    assert table.metric.tolist() == [metric["metric"] for metric in metrics]
    for side in ("a", "b"):
        assert all(same(value, metric[side]["value"]) for value, metric in zip(table[side], metrics))
    assert table.attrs["outcome"] == document["outcome"] and table.attrs["standing"] == "indicative"


def main():
    store, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    where = ("--store", store)
    if importlib.util.find_spec("pandas") is None:
        assert fathom.load("latest", store)["schema"] == "fathom.run/1"
        rejects("pip install 'fathom-storage[pandas]'", fathom.read_run, "latest", store)
        return
    ids = [run["id"] for run in json.loads(printed(folder, "list.json", "runs", "list", "--json", *where)[1])]
    assert len(ids) == 3 and fathom.read_runs(store).id.tolist() == ids
    for name in ids:
        path, text = printed(folder, f"{name}.json", "runs", "show", name, "--json", *where)
        for source in (fathom.read_run(name, store), fathom.read_run(path)):
            test_run(source, json.loads(text))
        for source in (fathom.read_seconds(name, store), fathom.read_seconds(path)):
            test_seconds(source, json.loads(text))
    path, text = printed(folder, "seconds.csv", "runs", "export", ids[0], "--csv", *where)
    exported = fathom.read_seconds(path)
    measured = exported[exported.phase == "measure"]
    assert measured.ops.sum() == fathom.read_seconds(ids[0], store).query("phase == 'measure'").ops.sum()
    path, text = printed(folder, "compared.json", "compare", ids[1], ids[0], "--json", *where)
    for source in (fathom.read_comparison(ids[1], ids[0], store), fathom.read_comparison(path)):
        test_comparison(source, json.loads(text))
    rejects("no run", fathom.read_run, "nothing", store)
    rejects("no run", fathom.read_run, "--all", store)
    rejects("expected a document of fathom.run/1", fathom.read_run, path)
    (folder / "broken.json").write_text("{")
    rejects("is not JSON", fathom.read_run, folder / "broken.json")


if __name__ == "__main__":
    main()
