"""Results of fathom as tables of pandas.

    import fathom
    runs = fathom.read_runs()                 # what is stored
    rows = fathom.read_run("latest")          # one line for each row and kind of operation
    seconds = fathom.read_seconds("latest")   # one line for each second and kind of operation
    pairs = fathom.read_comparison("a.json", "b.json")

A run is named by its id, by `latest` or `latest~N`, or by a file that `--json` wrote. Numbers
stay in base units: bytes, nanoseconds, operations per second. What the data could not support
is missing, and the column `..._reason` says why.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig

__all__ = ["FathomError", "binary", "load", "read_comparison", "read_run", "read_runs", "read_seconds"]

# Statuses of commands that printed a result: trusted, caveats, not trusted, interrupted,
# target not proven to be met; then those of comparisons.
RESULT = (0, 3, 4, 5, 6, 7, 8, 9)
PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999", 99.99: "p9999"}


class FathomError(Exception):
    """fathom failed, or a document is not what it should be."""


def binary():
    """The program that was installed with this module, or the one on the path."""
    for scheme in (sysconfig.get_default_scheme(), f"{os.name}_user"):
        path = os.path.join(sysconfig.get_path("scripts", scheme), "fathom")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("fathom")
    if not found:
        raise FathomError("fathom is not installed: pip install fathom-storage")
    return found


def load(run="latest", store=None):
    """The document of a run, a comparison or a stored file, as `--json` prints it."""
    path = pathlib.Path(run)
    if path.is_file():
        return _document(path.read_text(), path)
    return _printed(["runs", "show", "--json"], [str(run)], store)


def read_runs(store=None, limit=1000):
    """The stored runs, newest first; of `figure` its parts."""
    listed = _printed(["runs", "list", "--all", "--json", "--limit", str(limit)], [], store)
    return _pandas().json_normalize(listed, sep="_")


def read_run(run="latest", store=None):
    """The results of a run: one line for each row of the plan and kind of operation.

    `attrs` has the id, validity and limiter of the whole run.
    """
    document = _expect(load(run, store), "fathom.run/1")
    lines = []
    for row in document["rows"]:
        verdict = row["verdict"]
        for op in row["ops"]:
            line = {name: row[name] for name in ("row", "label", "target", "role")}
            line["trials"] = len(row["trials"])
            line.update(kind=op["kind"], ops=op["ops"], bytes=op["bytes"])
            line["errors"] = sum(error["count"] for error in op["errors"])
            for name in ("ops_per_second", "bytes_per_second"):
                line.update(_estimate(name, op[name]))
            for name in ("service", "response"):
                line.update(_latency(name, op[name]))
            line.update(validity=verdict["validity"], limiter=verdict["limiter"])
            line["fitness"] = (verdict.get("fitness") or {}).get("outcome")
            lines.append(line)
    table = _pandas().DataFrame(lines)
    table.attrs = {"run": document["run"]["id"], "state": document["run"]["state"]}
    table.attrs.update({name: document["verdict"][name] for name in ("validity", "limiter")})
    return table


def read_seconds(run="latest", store=None):
    """A run second by second: one line for each second and kind of operation.

    Percentiles are those of the response in an open loop, else of the service. A file may also
    be one of `fathom runs export --csv`, which has both, as columns of their own.
    """
    pandas = _pandas()
    if str(run).endswith(".csv") and pathlib.Path(run).is_file():
        return pandas.read_csv(run)
    document = _expect(load(run, store), "fathom.run/1")
    lines = []
    for trial in document["trials"]:
        about = {name: trial[name] for name in ("index", "row", "iteration", "label", "target", "role")}
        about["trial"] = about.pop("index")
        for interval in trial["intervals"]:
            second = {name: value for name, value in interval.items() if name != "ops"}
            lines += [{**about, **second, **op} for op in interval["ops"]]
    table = pandas.DataFrame(lines)
    table.attrs = {"run": document["run"]["id"]}
    return table


def read_comparison(a, b=None, store=None):
    """Two sides compared: one line for each row and metric.

    With one argument it is a file of `fathom compare --json`, or a run of `fathom ab`. With two,
    `fathom compare` compares them. `attrs` has the outcome, and how much it can prove.
    """
    if b is None:
        document = load(a, store)
        document = document.get("comparison") or document
    else:
        document = _printed(["compare", "--json"], [str(a), str(b)], store)
    document = _expect(document, "fathom.comparison/1")
    lines = []
    for row in document["rows"]:
        for metric in row["metrics"]:
            line = {"label": row["label"], "metric": metric["metric"], "op": metric["op"]}
            for side in ("a", "b"):
                line.update({side: metric[side]["value"], f"{side}_unit": metric[side]["unit"]})
            line.update(_estimate("ratio", metric["ratio"]))
            line.update(p_adjusted=metric["p_adjusted"], outcome=metric["outcome"])
            lines.append(line)
    table = _pandas().DataFrame(lines)
    table.attrs = {name: document[name] for name in ("outcome", "standing", "margin_percent", "reasons")}
    return table


def _pandas():
    try:
        import pandas
    except ImportError:
        raise FathomError("tables need pandas: pip install 'fathom-storage[pandas]'") from None
    return pandas


def _printed(command, names, store):
    if store is not None:
        command = [*command, "--store", os.fspath(store)]
    # A name that begins with a dash is no option.
    call = [binary(), *command, "--", *names]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in RESULT or not done.stdout.strip():
        raise FathomError(done.stderr.strip() or f"{' '.join(call)} ended with status {done.returncode}")
    return _document(done.stdout, " ".join(call))


def _document(text, source):
    try:
        return json.loads(text)
    except ValueError as error:
        raise FathomError(f"{source} is not JSON: {error}") from None


def _expect(document, schema):
    found = document.get("schema", schema) if isinstance(document, dict) else "no document"
    if found != schema or "rows" not in document:
        raise FathomError(f"expected a document of {schema}, got {found}")
    return document


def _estimate(name, estimate):
    return {
        name: estimate["value"],
        f"{name}_low": estimate["low"],
        f"{name}_high": estimate["high"],
        f"{name}_reason": estimate["reason"],
    }


def _latency(name, latency):
    """The columns of a latency: minimum, mean, percentiles with their intervals, maximum."""
    if latency is None:
        return {}
    columns = {f"{name}_count": latency["count"], f"{name}_min_ns": latency["min_ns"]}
    columns.update(_estimate(f"{name}_mean_ns", latency["mean_ns"]))
    for point in latency["percentiles"]:
        rank = PERCENTILES.get(point["percent"], f"p{point['percent']:g}".replace(".", "_"))
        columns.update(_estimate(f"{name}_{rank}_ns", point["latency_ns"]))
    columns[f"{name}_max_ns"] = latency["max_ns"]
    return columns
