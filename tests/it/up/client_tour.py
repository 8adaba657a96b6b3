"""What the README shows, done with a client that was generated from the API's description.

Takes the manifest; NODE, TOKEN and CA are in the environment, and the client `bailiwick_client` is on PYTHONPATH.
"""

import os
import ssl
import sys
import time

from bailiwick_client import AuthenticatedClient
from bailiwick_client.api.default import (
    get_audit_replay,
    get_entities_machine,
    get_entities_machine_name,
    get_log,
    get_pending,
    get_status,
    get_why_kind_name,
    post_apply,
    post_operate,
    post_plan,
    post_remove,
)
from bailiwick_client.models import Declare, File, Operate, Problem, Remove

client = AuthenticatedClient(
    base_url=os.environ["NODE"],
    token=os.environ["TOKEN"],
    verify_ssl=ssl.create_default_context(cafile=os.environ["CA"]),
)


def asked(answer):
    """The answer, if it is none that says why not."""
    if answer is None or isinstance(answer, Problem):
        sys.exit(f"refused: {answer}")
    return answer


def until(what, deadline=60):
    """Asks again until it is so."""
    end = time.monotonic() + deadline
    while not what():
        if time.monotonic() > end:
            sys.exit(f"not in time: {asked(get_status.sync(client=client))}")
        time.sleep(0.05)


name = sys.argv[1]
with open(name, encoding="utf-8") as manifest:
    declared = Declare(files=[File(name=name, text=manifest.read())])

plan = asked(post_plan.sync(client=client, body=declared))
print("would change", len(plan.steps))
applied = asked(post_apply.sync(client=client, body=declared))
assert len(applied.steps) == len(plan.steps) == 7 and applied.decisions, applied

until(lambda: not asked(get_pending.sync(client=client)))
status = asked(get_status.sync(client=client))
assert status.total == 7 and not status.trouble, status
machines = {row.name: row for row in asked(get_entities_machine.sync(client=client))}
assert machines["clerk"].ready and machines["clerk"].status == "ready", machines["clerk"]
until(lambda: asked(get_entities_machine_name.sync("clerk", client=client)).conditions)

why = asked(get_why_kind_name.sync("machine", "clerk", client=client, side="health"))
assert why.steps[0].stream == "machine/clerk", why.steps[0]
print(why.text)
newest = asked(get_log.sync(client=client, limit=3))
assert len(newest) == 3 and newest[-1].position >= newest[0].position, newest
assert asked(get_audit_replay.sync(client=client)).divergences == []

held = Operate.from_dict({"entity": "machine/clerk", "verb": {"hold": {"reason": "a look inside"}}})
assert asked(post_operate.sync(client=client, body=held)).entity == "machine/clerk"
assert asked(get_entities_machine_name.sync("clerk", client=client)).held == "a look inside"
asked(post_operate.sync(client=client, body=Operate.from_dict({"entity": "machine/clerk", "verb": "unhold"})))

refused = get_entities_machine_name.sync("clark", client=client)
assert isinstance(refused, Problem) and refused.code == "not-found" and "clerk" in refused.next_step, refused

asked(post_remove.sync(client=client, body=Remove(all_=True)))
until(lambda: asked(get_status.sync(client=client)).total == 0)
print("everything is gone")
