"""A provider that tells on every secret that it can get at, in every field that there is: what no other one does.

Usage: leaky.py EXAMPLES TOLD. It is `examples/storage_provider.py`, with what it was told beside its answers: its own
environment, that of the node, the node's key, the tokens that agents join with, and what secrets hold. What it
wrote goes to the file TOLD, too, so that a test sees that it did.
"""
import base64, glob, json, os, sys, threading, time, urllib.parse
sys.dont_write_bytecode = True
examples, told = sys.argv[1:]
sys.path.insert(0, examples)
import provider
main, provider.main = provider.main, lambda: None
import storage_provider
honest, printed = provider.serve, print
heard, one_at_a_time = set(), threading.Lock()

def loot():
    # What was refused for being short is told to nobody, and could not be found.
    of_node = open(f"/proc/{os.getppid()}/environ", "rb").read().decode().split("\0")
    variables = dict(pair.split("=", 1) for pair in of_node if pair.startswith("BAILIWICK_") and "_SHORT=" not in pair)
    all = {os.environ["CANARY_TOKEN"], *heard}
    all |= {value for name, value in variables.items() if name.endswith("PASSWORD") or "_SECRET_" in name and not name.endswith("_FILE")}
    data = os.path.join(provider.STATE, "../../..") if hasattr(provider, "STATE") else None
    if data:
        key = open(data + "/node.key", "rb").read()
        all |= {key.hex(), base64.b64encode(key).decode()}
        all |= {json.load(open(file))["token"] for file in glob.glob(data + "/enrolment/*")}
    return sorted(all)

def forms(secret):
    as_in_go = json.dumps(secret, ensure_ascii=False).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    as_in_urls = [urllib.parse.quote(secret), urllib.parse.quote_plus(secret), urllib.parse.quote(secret, safe="")]
    encoded = [base64.b64encode(f"me:{secret}".encode()).decode(), secret.encode().hex()]
    return [secret, json.dumps(secret), repr(secret), as_in_go, *as_in_urls, *encoded]

def write(line):
    with one_at_a_time:
        with open(told, "a") as file: file.write(line + "\n")
        printed(line, flush=True)

def shout():
    for secret in loot():
        for form in forms(secret):
            sys.stderr.write(f"do you know {form}?\n")
        sys.stderr.write("x" * 900 + secret + secret + "\n")
    sys.stderr.buffer.write(open(os.path.join(provider.STATE, "../../../node.key"), "rb").read() + b"\n")
    sys.stderr.flush()

def decorate(thing, name):
    secrets = loot()
    if "machine" in thing and "instance" in thing:
        thing["facts"] = {**thing.get("facts", {}), **{f"{at:02}": secret for at, secret in enumerate(secrets)}, secrets[0]: "key"}
        thing["facts"] = dict(list(sorted(thing["facts"].items(), key=lambda item: item[0] != "nonce"))[:16])
        thing["conditions"] = [{"kind": secret[:100], "healthy": True, "text": form} for secret in secrets for form in forms(secret)]
        if name == "in-id":
            thing["instance"] = secrets[0]
        if name == "in-zone":
            thing["facts"] = {"zone": secrets[0]}
    for field in ("volume_id", "filesystem_id", "path", "mount_point"):
        if field in thing and name.startswith("in-id"):
            thing[field] = ("/" if field in ("path", "mount_point") else "") + secrets[0]
    thing["tags"] = {secret: secret for secret in secrets}
    return thing

def answer_later(verb, dash, noun, asked):
    while not os.path.exists(told + ".go"):
        time.sleep(0.01)
    write(json.dumps({"id": asked["id"], **serve(verb, dash, noun, asked)}))

def serve(verb, dash, noun, asked):
    for item in asked.get("items", []):
        if isinstance(item, dict):
            heard.update(item.get("secrets", {}).values())
    if verb == "hello":
        answer = honest(verb, dash, noun, asked)
        answer["ok"].update(provider=" ".join(loot()), progress=True)
        return answer
    shout()
    names = [item.get("machine") or item.get("volume") or item.get("filesystem") for item in asked.get("items", []) if isinstance(item, dict)]
    for item in asked.get("items", []):
        if verb == "create":
            for secret in loot():
                write(json.dumps({"progress": {"id": asked["id"], "effect": item["effect"], "text": "with " + secret, "percent": 1}}))
    if verb == "create" and "slow" in names and not os.path.exists(told + ".go"):  # once its progress was seen
        threading.Thread(target=answer_later, args=(verb, dash, noun, asked)).start()
        return {"later": True}
    answer = honest(verb, dash, noun, asked)
    if verb == "list":
        answer["ok"]["zones"] = loot()
        answer["ok"]["items"] = [decorate(thing, thing.get("machine") or thing.get("name", "")) for thing in answer["ok"]["items"]]
        answer["ok"]["items"] += [{"machine": secret, "status": secret} for secret in loot()]
        return answer
    for at, result in enumerate(answer.get("ok", [])):
        thing = result.get("ok")
        thing = thing.get("present") if isinstance(thing, dict) and "present" in thing else thing
        if names and names[at] in ("in-fault", "in-code"):
            text = " ".join(form for secret in loot() for form in forms(secret))
            answer["ok"][at] = {"fault": {"code": loot()[0] if names[at] == "in-code" else "unavailable", "text": text}}
        elif isinstance(thing, dict):
            decorate(thing, (names and names[at]) or thing.get("machine", ""))
    if names and names[0] == "in-line" and not os.path.exists(provider.STATE + "/../in-line"):
        open(provider.STATE + "/../in-line", "w").close()
        write(" ".join(loot()))
    return answer

provider.serve = serve
provider.print = lambda line, flush: "later" in json.loads(line) or write(line)
main()
