#!/usr/bin/env python3
"""Takes each guard of the lists here out of a copy of the workspace, and shows that its test fails then, and passes before.

Usage: tests/guards/run.py [--by] [--from N] [--only TEXT] [COPY [LIST ...]], from the root of the workspace; without a LIST,
all of them. All guards stand in one build of the copy, each behind a switch (the environment variable TAKEN_OUT), so this costs
one compilation; a copy that is there already is brought up to date. Ends with 1 unless every test is as it must be.

Guards are counted from 0 over all lists. --from goes on with this one, where it was broken off; --only asks those whose name
has this text in it (it may be given more than once). The numbers stay the same.

With --by, not the test that the list names is run, but all conformance cases, and where none of them fails all scenarios of
the simulation: it prints which of them notice that the guard is out.
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

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

def take_out(text, number, guard):
    begin = text.index(guard["in"])
    at = text.index(guard["take"], begin)
    switched = f'(if crate::taken_out("{number}") {{ {guard["for"]} }} else {{ {guard["take"]} }})'
    return text[:at] + switched + text[at + len(guard["take"]):]

def sources(root):
    """All files of a workspace, but not what was built of it."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("target", ".git")]
        yield from (pathlib.Path(folder, name).relative_to(root) for name in files if name != ".git")

def make_copy(root, copy, guards):
    """A copy with all guards behind switches. Only what differs is written: the rest need not be compiled again."""
    switched = {}
    for number, guard in enumerate(guards):
        path = guard["file"]
        switched[path] = take_out(switched.get(path) or (root / path).read_text(), number, guard)
    for lib in ("actors/src/lib.rs", "src/lib.rs"):
        switched[lib] = switched.get(lib, (root / lib).read_text()) + SWITCH
    present = set(sources(root))
    for path in set(sources(copy)) - present:
        (copy / path).unlink()
    for path in present:
        wanted = switched[str(path)].encode() if str(path) in switched else (root / path).read_bytes()
        target = copy / path
        if not target.exists() or target.read_bytes() != wanted:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(wanted)
            target.chmod((root / path).stat().st_mode)

def run(copy, of, test, taken_out):
    command = ["cargo", "test", "-q", *of, "--", "--include-ignored", *test]
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
    of = ["-p", "bailiwick", "--test", guard["suite"]] if "suite" in guard else ["-p", "bailiwick-actors", "--all-features", "--lib"]
    done = run(copy, of, [test], taken_out)
    if " 0 passed; 0 failed" in done.stdout.replace("test result: ok.", ""):
        sys.exit(f"no test is called {test}")
    return done.returncode == 0

def noticed_by(copy, taken_out):
    """The cases that fail, or else the scenarios."""
    done = run(copy, ["-p", "bailiwick", "--test", "it"], ["cases::"], taken_out)
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
    done = run(copy, ["-p", "bailiwick", "--test", "simulation"], [], taken_out)
    failed = re.findall(r"^    (\S+)$", done.stdout, re.M)
    return [f"scenario {name}" for name in sorted(set(failed))] or (["scenarios that did not come to an end"] if done.returncode else [])

def show_who_notices(copy, guards):
    if anyhow := noticed_by(copy, ""):
        sys.exit(f"with all guards in place: {anyhow[0]} fails")
    counts = {"case": 0, "scenario": 0, "neither": 0}
    for number, guard in guards:
        by = noticed_by(copy, str(number))
        kind = "neither" if not by else "scenario" if by[0].startswith("scenario") else "case"
        counts[kind] += 1
        more = f" (and {len(by) - 1} more)" if len(by) > 1 else ""
        print(f"{kind:9} {guard['guard']}" + (f"\n          by {by[0]}{more}" if by else ""), flush=True)
    print(f"of {len(guards)} guards, {counts['case']} are noticed by a case, {counts['scenario']} by a scenario alone, "
          f"{counts['neither']} by neither")
    sys.exit(1 if counts["neither"] else 0)

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by", action="store_true")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--only", action="append")
    parser.add_argument("copy", nargs="?", default=None)
    parser.add_argument("lists", nargs="*")
    asked = parser.parse_args()
    root = pathlib.Path.cwd()
    lists = asked.lists or ["machines.txt", "protection.txt", "scenarios.txt", "secrets.txt"]
    every = [guard for name in lists for guard in records((root / "tests/guards" / name).read_text())]
    is_asked = lambda guard: not asked.only or any(text in guard["guard"] for text in asked.only)
    guards = [(number, guard) for number, guard in enumerate(every) if asked.first <= number and is_asked(guard)]
    if not guards:
        sys.exit("there is no such guard")
    copy = pathlib.Path(asked.copy or tempfile.mkdtemp()).absolute() / "workspace"
    make_copy(root, copy, every)
    if asked.by:
        show_who_notices(copy, guards)
    wrong = 0
    for number, guard in guards:
        whole, without = passes(copy, guard, ""), passes(copy, guard, str(number))
        word = {(True, False): "noticed"}.get((whole, without), "NOT NOTICED" if whole else "FAILS ANYHOW")
        wrong += word != "noticed"
        print(f"{word:12}  {guard['guard']}", flush=True)
    print(f"{len(guards) - wrong} of {len(guards)} guards are noticed when they are taken out")
    sys.exit(1 if wrong else 0)

main()
