"""python-libjuju talks to a node: `libjuju.py CALLS MODEL CACERT`. What to do next comes on the standard input.

A user logs in with the library's own login. An agent needs one of its own: the library puts `user-` before every name.
"""

import asyncio
import json
import os
import sys

from juju.client import client
from juju.client.connection import Connection
from juju.errors import JujuAPIError, JujuError

WATCHERS = {"NotifyWatcher": {"versions": [1]}, "StringsWatcher": {"versions": [1]}, "Provisioner": {"versions": [11]}}


class Agent(Connection):
    """The agent of machine 0."""

    async def login(self):
        params = {"auth-tag": "machine-0", "credentials": self.password, "nonce": "nonce-of-machine-zero"}
        return await self.rpc({"type": "Admin", "request": "Login", "version": 3, "params": params})


def say(text):
    print(text, flush=True)


async def heard():
    line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return line.strip()


async def connect(kind, endpoint, model, cacert, name, password):
    return await kind.connect(
        endpoint=endpoint, uuid=model, username=name, password=password, cacert=cacert, retries=0,
        specified_facades=WATCHERS,
    )


async def errors_of(call):
    """What the items of a call are refused with: the library makes one exception of them."""
    try:
        await call
        return []
    except JujuAPIError:
        # The call itself.
        raise
    except JujuError as error:
        return error.errors


async def rpc(connection, facade, method, params=None, version=11, id=None):
    message = {"type": facade, "request": method, "version": version, "params": params}
    if id is not None:
        message["id"] = id
    return (await connection.rpc(message))["response"]


async def every_call(connection, calls):
    for call in calls:
        errors = await errors_of(rpc(connection, "Provisioner", call["method"], call["params"]))
        say(f"called {call['method']} {json.dumps(errors)}")


async def every_typed_call(connection, calls):
    """The same by the classes that the library generates; the newest release has none of this facade."""
    if not hasattr(client, "ProvisionerFacade"):
        return say("typed none")
    facade = client.ProvisionerFacade.from_connection(connection)
    for call in calls:
        # These two send what no server takes.
        if call["method"] in ("APIHostPorts", "FindTools"):
            continue
        params = {name.replace("-", "_"): value for name, value in (call["params"] or {}).items()}
        # The library has a Python name for a word of the language.
        params = {"type_" if name == "type" else name: value for name, value in params.items()}
        await errors_of(getattr(facade, call["method"])(**params))
    say("typed all")


async def main():
    calls, model, authority = sys.argv[1:]
    with open(calls) as file:
        calls = json.loads(file.read().replace("MODEL", model))
    with open(authority) as file:
        cacert = file.read()
    endpoint = await heard()
    user = await connect(Connection, endpoint, model, cacert, "ada", "token-of-ada")
    try:
        await rpc(user, "Provisioner", "Life", {"entities": []})
        raise AssertionError("a user may use the facade")
    except JujuAPIError as error:
        say(f"user {error.message}")
    await user.close()
    agent = await connect(Agent, endpoint, model, cacert, "machine-0", "password-of-machine-zero-12345")
    await every_call(agent, calls)
    await every_typed_call(agent, calls)
    watcher = await rpc(agent, "Provisioner", "WatchModelMachines")
    say(f"watches {json.dumps(sorted(watcher['changes']))}")
    waiting = asyncio.ensure_future(
        rpc(agent, "StringsWatcher", "Next", {}, version=1, id=watcher["watcher-id"])
    )
    assert await heard() == "changed"
    say(f"told {json.dumps((await waiting)['changes'])}")
    waiting = asyncio.ensure_future(
        rpc(agent, "StringsWatcher", "Next", {}, version=1, id=watcher["watcher-id"])
    )
    await asyncio.sleep(0)
    say("waits")
    endpoint = await heard()
    try:
        await waiting
        raise AssertionError("a watcher outlived its node")
    except Exception as error:  # Whatever the library makes of an ended connection.
        say(f"ended {type(error).__name__}")
    again = await connect(Agent, endpoint, model, cacert, "machine-0", "password-of-machine-zero-12345")
    watcher = await rpc(again, "Provisioner", "WatchModelMachines")
    say(f"watches {json.dumps(sorted(watcher['changes']))}")
    stopped = await rpc(again, "StringsWatcher", "Stop", {}, version=1, id=watcher["watcher-id"])
    assert stopped == {}, stopped
    await again.close()
    say("done")
    # The library goes on trying the connection that was lost.
    os._exit(0)


asyncio.run(main())
