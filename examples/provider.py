#!/usr/bin/env python3
"""A provider for bailiwick: a machine is a real `sleep` in a directory of its own, a volume is a sparse file.

One JSON object per line comes in, one goes out. What is made lies below `state_dir`, in a directory named by its effect id:
so the same request twice makes one thing, also if this program was killed in between. See `bailiwick help providers`.
"""
import contextlib, json, os, shutil, signal, subprocess, sys, time

class Fault(Exception): "One of bailiwick's codes, and a text for people."
home = lambda effect: os.path.join(STATE, effect)

def lives(pid, effect):  # a machine's process is the one that works in its directory
    try:
        return os.readlink(f"/proc/{pid}/cwd") == home(effect)
    except OSError:  # it has ended, or belongs to somebody else
        return False

def find(effect):
    return next((int(pid) for pid in os.listdir("/proc") if pid.isdigit() and lives(pid, effect)), None)

def read(effect, kind):  # None if there is no such thing
    if not os.path.exists(home(effect) + "/thing.json"):
        return None
    thing = json.load(open(home(effect) + "/thing.json"))
    if kind == "machine" == thing["kind"]:
        thing["status"] = "running" if lives(thing["pid"], effect) else "stopped"
    return thing if kind == thing["kind"] else None

def write(kind, effect, **fields):  # whole or not at all; fields that bailiwick does not know do no harm
    with open(home(effect) + "/new.json", "w") as file: json.dump({"kind": kind, "effect": effect, "owner": OWNER, **fields}, file)
    os.replace(home(effect) + "/new.json", home(effect) + "/thing.json")

def every(kind):
    return [thing for effect in sorted(os.listdir(STATE)) if (thing := read(effect, kind))]

def with_it(effect, volume, size_mib, read_only, **_):  # a volume that comes with a machine, and goes with its directory
    path = home(effect) + "/" + volume
    with open(path, "ab") as disk: disk.truncate(size_mib << 20)
    return {"volume": volume, "volume_id": f"with-{effect}-{volume}", "size_mib": size_mib, "device_link": path, "read_only": read_only}

def create_machine(effect, machine, nonce="", volumes=(), **_):  # it outlives us: a session of its own, none of our pipes
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    start = lambda: subprocess.Popen(["sleep", "infinity"], cwd=home(effect), start_new_session=True, **quiet)
    pid = find(effect) or start().pid  # found, if we were killed before the next line
    network = [{"name": "lo", "kind": "loopback", "addresses": [{"address": "127.0.0.1", "subnet": "127.0.0.0/8", "config": "loopback"}]}]
    write("machine", effect, machine=machine, instance="sleep-" + effect, pid=pid, facts={"nonce": nonce},
          network=network, volumes=[with_it(effect, **volume) for volume in volumes])

def create_volume(effect, size_mib, **_):
    if not 1 <= size_mib <= 1 << 40:
        raise Fault("out-of-range", "a volume has 1 MiB to 1 EiB")
    with open(home(effect) + "/disk", "wb") as disk: disk.truncate(size_mib << 20)
    write("volume", effect, volume_id="file-" + effect, size_mib=size_mib)

def attach_volume(effect, machine_effect, volume_effect, read_only, **_):
    if not read(machine_effect, "machine") or not read(volume_effect, "volume"):
        raise Fault("not-found", "the machine or the volume is not there")
    if any(held["volume_effect"] == volume_effect for held in every("attachment")):
        raise Fault("failed-precondition", "the volume is attached elsewhere")
    write("attachment", effect, path=home(volume_effect) + "/disk", read_only=read_only,
          machine_effect=machine_effect, volume_effect=volume_effect)

def free(effect):
    if any(held["volume_effect"] == effect for held in every("attachment")):
        raise Fault("failed-precondition", "the volume is attached")

def release(effect):  # its data stays in a directory that we do not look at any more
    free(effect)
    if os.path.exists(home(effect)):
        os.makedirs(home("released"), exist_ok=True)
        os.rename(home(effect), home("released/" + effect))

def delete(effect):  # what is not there is deleted with success
    free(effect)
    while pid := find(effect):
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    for gone in [held["effect"] for held in every("attachment") if held["machine_effect"] == effect] + [effect]:
        shutil.rmtree(home(gone), ignore_errors=True)

MAKE = {"machine": create_machine, "volume": create_volume, "attachment": attach_volume}
OFFER = {"machines": True, "volumes": True}

def work(verb, kind, item):
    effect = item if isinstance(item, str) else item["effect"]
    if verb in ("create", "attach") and not read(effect, kind):
        os.makedirs(home(effect), exist_ok=True)
        MAKE[kind](**item)
    if verb == "release":
        return {"ok": release(effect)}
    if verb in ("delete", "destroy", "detach"):
        return {"ok": delete(effect)}
    seen = read(effect, kind)
    return {"ok": seen if verb != "lookup" else {"present": seen} if seen else "absent"}

def guarded(function, *arguments):
    try:
        return function(*arguments)
    except (Fault, OSError) as error:
        code, text = error.args if isinstance(error, Fault) else ("internal", str(error))
        return {"fault": {"code": code, "text": text}}

def serve(verb, _, noun, asked):
    if verb == "hello" and 1 in asked["versions"]:
        globals().update(STATE=os.path.realpath(asked["state_dir"]), OWNER=asked.get("owner"))
        return {"ok": {"version": 1, "provider": "sample 1.0", **OFFER}}
    if verb == "list":  # in pages of a hundred
        rest = [thing for thing in every(noun[:-1]) if thing["effect"] > asked.get("after", "")]
        following = rest[99]["effect"] if rest[100:] else None
        return {"ok": {"complete": True, "age_ms": 0, "items": rest[:100], "next": following}}
    if verb not in ("create", "delete", "destroy", "release", "attach", "detach", "lookup"):
        raise Fault("unimplemented", "this provider does not know that")
    kind = "attachment" if verb in ("attach", "detach") else noun[:-1]
    return {"ok": [guarded(work, verb, kind, item) for item in asked["items"]]}

def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to wait for a machine that ends
    for line in sys.stdin.buffer:  # until bailiwick closes it
        asked = json.loads(line)
        if "op" in asked:
            print(json.dumps({"id": asked["id"], **guarded(serve, *asked["op"].partition("-"), asked)}), flush=True)

if __name__ == "__main__":
    main()
