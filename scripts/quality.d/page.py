"""The page of scripts/quality: what it kept, as Markdown. No figure is typed here."""

HEAD = """\
<!-- Written by scripts/quality. Do not edit. -->
# Quality in numbers

What tools say about the code, the tests and the program. `scripts/quality` ran them and wrote this page; each part has the date
and the commit that it is of. How well the answers of fathom hold is on other pages: [accuracy](accuracy.md),
[the exam of the diagnosis](diagnosis-exam.md) and [known wrong answers](known-wrong-answers.md).
"""


def page(kept, options):
    parts = [HEAD]
    for name, (title, meaning, body) in SECTIONS.items():
        found = kept.get(name)
        parts.append(f"## {title}\n\n{meaning}\n")
        if found is None:
            how = options.get(name)
            parts.append(f"Did not run: `scripts/quality{' ' + how if how else ''}` measures it.\n")
        elif "missing" in found:
            parts.append(f"Did not run on {found['date']}: {found['missing']}.\n")
        else:
            # A binary names its own commit.
            commit = "" if "built_from" in found else f", commit {found['commit']}"
            parts.append(f"{body(found)}\n\nOf {found['date']}{commit}.\n")
    return "\n".join(parts)


def table(head, lines):
    rule = ["---"] + ["--:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [head, rule, *lines])


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def count(number, word, words=None):
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def ms(ns):
    return f"{ns / 1e6:.2f} ms"


def duration(seconds):
    if seconds < 60:
        return count(seconds, "second")
    return f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"


def source(found):
    commit = found["built_from"]
    return f"a build for `{found['target']}`" + (f" of commit `{commit[:12]}`" if commit else " that `scripts/release` did not make")


def licences(found):
    return f"{count(found['packages'], 'package')} of others:\n\n" + table(["licence", "packages"], found["licences"].items())


def deny(found):
    lines = [(name, numbers["errors"], numbers["warnings"]) for name, numbers in found["checks"].items()]
    left_out = "" if "advisories" in found["checks"] else " Advisories could not be fetched where it ran."
    return table(["check", "errors", "warnings"], lines) + f"\n\nBy {found['tool']}.{left_out}"


def audit(found):
    warnings = found["warnings"]
    which = f": {', '.join(warnings)}" if warnings else ""
    age = "" if found["fetched"] else ", of an earlier call, as they could not be fetched"
    return (
        f"{count(found['vulnerabilities'], 'vulnerability', 'vulnerabilities')} and {count(len(warnings), 'warning')} in "
        f"{count(found['packages'], 'package')}{which}, by {count(found['advisories'], 'advisory', 'advisories')}{age}; {found['tool']}."
    )


def size(found):
    return f"{found['bytes']:,} bytes, {found['compressed_bytes']:,} by `xz -9e`: {source(found)}."


def start(found):
    return (
        f"`fathom --version` takes {ms(found['median_ns'])} from start to end (median of {found['starts']}, 95 % interval "
        f"{ms(found['low_ns'])} to {ms(found['high_ns'])}), the start of the process included: {source(found)}. "
        f"The host had {found['load']:.1f} tasks running or waiting for its {count(found['cpus'], 'CPU')}"
        + ("; others disturbed this." if found["load"] > found["cpus"] else ".")
    )


def mutants(found):
    lines, sums = [], [0, 0, 0, 0]
    for name, outcomes in found["crates"].items():
        numbers = [outcomes.get(kind, 0) for kind in ("CaughtMutant", "Timeout", "MissedMutant", "Unviable")]
        sums = [a + b for a, b in zip(sums, numbers)]
        lines.append((name, *numbers, share(sum(numbers[:2]), sum(numbers[:3]))))
    lines.append(("**sum**", *sums, share(sum(sums[:2]), sum(sums[:3]))))
    part = "All mutants" if found["of"] == 1 else f"Share {found['part']} of {found['of']}, a sample of {share(1, found['of'])} of all mutants"
    return f"{part}; {found['tool']}.\n\n" + table(["crate", "caught", "timed out", "missed", "do not compile", "caught or timed out"], lines)


def coverage(found):
    lines = [(name, f"{covered:,}", f"{whole:,}", share(covered, whole)) for name, (covered, whole) in found["crates"].items()]
    lines_in_all, functions = (share(one["covered"], one["count"]) for one in (found["totals"]["lines"], found["totals"]["functions"]))
    return f"{lines_in_all} of the lines, {functions} of the functions; {found['tool']}.\n\n" + table(["crate", "lines reached", "lines", "share"], lines)


def fuzz(found):
    targets = found["targets"]
    lines = [(f"`{name}`", duration(one["seconds"]), f"{one['executions']:,}", one["findings"]) for name, one in sorted(targets.items())]
    whole = sum(one["seconds"] for one in targets.values())
    return f"{duration(whole)} in all, from the inputs that earlier calls had found.\n\n" + table(["target", "time", "executions", "open findings"], lines)


def ci(found):
    steps = sorted(found["steps"].items(), key=lambda step: -step[1])
    failed = f" Failed: {', '.join(found['failed'])}." if found["failed"] else ""
    return f"{duration(found['seconds'])}; some steps run beside others.{failed}\n\n" + table(["step", "time"], [(name, duration(s)) for name, s in steps])


SECTIONS = {
    "mutants": (
        "Mutants of the judges",
        "The crates that turn samples into verdicts (analysis, stats, diagnose) are changed in one place at a time: an operator, a constant, a\n"
        "function that returns a default. A change that no test rejects is missed.",
        mutants,
    ),
    "coverage": ("Coverage", "Which lines the tests reach. It says what is not tested, and not that the rest is tested well.", coverage),
    "fuzz": ("Fuzzing", "Parsers of what others write, fed by `scripts/fuzz`.", fuzz),
    "deny": ("Dependencies by cargo-deny", "Licences, duplicate packages, sources and advisories, by `deny.toml`.", deny),
    "audit": ("Known vulnerabilities", "Packages of `Cargo.lock` against the advisories of RustSec.", audit),
    "licences": ("Licences", "What is linked into the static binary for x86-64, without what only builds or tests it.", licences),
    "size": ("Size of the program", "One static file, with the pages of help and reports in it.", size),
    "start": ("Start-up", "What a call costs before it does anything.", start),
    "ci": ("Time of CI", "How long `./check` takes, from the format to the last measured figure.", ci),
}
