#!/usr/bin/env python3
"""Takes each guard of the lists here out of a copy of the workspace, and shows that its test fails then, and passes before.

Usage: tests/guards/run.py [--by] [COPY [LIST ...]], from the root of the workspace; without a LIST, all of them. All guards
stand in one build of the copy, each behind a switch (the environment variable TAKEN_OUT), so this costs one compilation. Ends
with 1 unless every test is as it must be.

With --by, not the test that the list names is run, but all conformance cases, and where none of them fails all scenarios of
the simulation: it prints which of them notice that the guard is out.
"""
import os, pathlib, re, shutil, subprocess, sys, tempfile

SWITCH = """
/// Whether a guard is taken out.
#[doc(hidden)]
pub fn taken_out(guard: &str) -> bool {
    std::env::var("TAKEN_OUT").is_ok_and(|name| name == guard)
}
"""

def records(text):
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            yield dict(line.split(": ", 1) for line in lines)

def take_out(copy, number, guard):
    path = copy / guard["file"]
    text = path.read_text()
    begin = text.index(guard["in"])
    at = text.index(guard["take"], begin)
    switched = f'(if crate::taken_out("{number}") {{ {guard["for"]} }} else {{ {guard["take"]} }})'
    path.write_text(text[:at] + switched + text[at + len(guard["take"]):])

def run(copy, of, test, taken_out):
    command = ["cargo", "test", "-q", *of, "--", *test]
    # A directory of its own: cargo would take what was built of the copy for what was built of the workspace.
    built = {"CARGO_TARGET_DIR": str(copy / "target"), "PROPTEST_FAILURE_PERSISTENCE": "off", "RUST_BACKTRACE": "0"}
    environment = {**os.environ, **built, "TAKEN_OUT": taken_out}
    # Whoever would go on for ever without its guard has noticed, too.
    command = ["timeout", "600", *command] if taken_out else command
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    if "error: could not compile" in done.stderr:
        sys.exit(done.stderr)
    return done

def passes(copy, guard, taken_out):
    test = guard["test"]
    of = ["--test", guard["suite"]] if "suite" in guard else ["-p", "bailiwick-actors", "--all-features", "--lib"]
    done = run(copy, of, [test], taken_out)
    if " 0 passed; 0 failed" in done.stdout.replace("test result: ok.", ""):
        sys.exit(f"no test is called {test}")
    return done.returncode == 0

def noticed_by(copy, taken_out):
    """The cases that fail, or else the scenarios."""
    done = run(copy, ["--test", "it"], ["cases::"], taken_out)
    group, cases = "", []
    for line in done.stderr.splitlines() + done.stdout.splitlines():
        if line.startswith("cases "):
            group = line.split()[1].rstrip(":")
        elif group and re.match(r"  \S.*: ", line) and not line.startswith("  put to"):
            cases.append(f"case {group}: " + line.strip().split(": expected")[0])
    own = re.findall(r"^    cases::(own::\S+)$", done.stdout, re.M)
    cases += [f"case of our own {name}" for name in own]
    if cases or done.returncode:
        return sorted(set(cases)) or ["cases that did not come to an end"]
    done = run(copy, ["--test", "simulation"], [], taken_out)
    failed = re.findall(r"^    (\S+)$", done.stdout, re.M)
    return [f"scenario {name}" for name in sorted(set(failed))] or (["scenarios that did not come to an end"] if done.returncode else [])

def show_who_notices(copy, guards):
    if anyhow := noticed_by(copy, ""):
        sys.exit(f"with all guards in place: {anyhow[0]} fails")
    counts = {"case": 0, "scenario": 0, "neither": 0}
    for number, guard in enumerate(guards):
        by = noticed_by(copy, str(number))
        kind = "neither" if not by else "scenario" if by[0].startswith("scenario") else "case"
        counts[kind] += 1
        more = f" (and {len(by) - 1} more)" if len(by) > 1 else ""
        print(f"{kind:9} {guard['guard']}" + (f"\n          by {by[0]}{more}" if by else ""), flush=True)
    print(f"of {len(guards)} guards, {counts['case']} are noticed by a case, {counts['scenario']} by a scenario alone, "
          f"{counts['neither']} by neither")
    sys.exit(1 if counts["neither"] else 0)

def main():
    root = pathlib.Path.cwd()
    shows = "--by" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--by"]
    lists = sys.argv[2:] or ["machines.txt", "protection.txt", "scenarios.txt", "secrets.txt"]
    guards = [guard for name in lists for guard in records((root / "tests/guards" / name).read_text())]
    copy = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "workspace"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("target", ".git"))
    for number, guard in enumerate(guards):
        take_out(copy, number, guard)
    for lib in (copy / "actors/src/lib.rs", copy / "src/lib.rs"):
        lib.write_text(lib.read_text() + SWITCH)
    if shows:
        show_who_notices(copy, guards)
    wrong = 0
    for number, guard in enumerate(guards):
        whole, without = passes(copy, guard, ""), passes(copy, guard, str(number))
        word = {(True, False): "noticed"}.get((whole, without), "NOT NOTICED" if whole else "FAILS ANYHOW")
        wrong += word != "noticed"
        print(f"{word:12}  {guard['guard']}", flush=True)
    print(f"{len(guards) - wrong} of {len(guards)} guards are noticed when they are taken out")
    sys.exit(1 if wrong else 0)

main()
