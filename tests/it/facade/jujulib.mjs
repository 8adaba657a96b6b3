// jujulib, Juju's client in JavaScript, talks to a node: `jujulib.mjs FOLDER CALLS MODEL CACERT`. What to do next comes on the
// standard input. FOLDER has the library and the WebSocket that it is given.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, callsFile, model, authority] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const from = (path) => import(pathToFileURL(require.resolve(path)).href);
const { WebSocket } = require("ws");
const { connect } = await from("@canonical/jujulib");
const dist = `${folder}/node_modules/@canonical/jujulib/dist/api/facades`;
const Provisioner = (await from(`${dist}/provisioner/ProvisionerV11.js`)).default;
const Pinger = (await from(`${dist}/pinger/PingerV1.js`)).default;
const calls = JSON.parse(readFileSync(callsFile, "utf8").replaceAll("MODEL", model));
const ca = readFileSync(authority);

class Socket extends WebSocket {
    constructor(url) {
        super(url, { ca, checkServerIdentity: () => undefined });
    }
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const heard = async () => (await lines.next()).value.trim();
const say = (text) => process.stdout.write(`${text}\n`);
const fail = (text) => {
    throw new Error(text);
};

// What a call comes to, whatever the generated class would make of it.
const send = (transport, message) => new Promise((resolve, reject) => transport.write(message, resolve, reject));

async function open(endpoint, onClose = () => {}) {
    const url = `wss://${endpoint}/model/${model}/api`;
    return connect(url, { wsclass: Socket, closeCallback: onClose });
}

async function agent(endpoint, onClose) {
    const client = await open(endpoint, onClose);
    const login = { "auth-tag": "machine-0", credentials: "password-of-machine-zero-12345", nonce: "nonce-of-machine-zero" };
    await client._admin.login({ ...login, macaroons: [], "user-data": "", "client-version": "3.6.1" });
    return client._transport;
}

let endpoint = await heard();
const user = await open(endpoint);
const connection = await user.login({ username: "ada", password: "token-of-ada" });
const refused = await send(user._transport, { type: "Provisioner", version: 11, request: "Life", params: {} }).then(
    () => fail("a user may use the facade"),
    (error) => error.message,
);
say(`user ${refused}`);
if (!connection) fail("no connection");
user._transport.close();

let closed;
const isClosed = new Promise((resolve) => (closed = resolve));
const transport = await agent(endpoint, closed);
const provisioner = new Provisioner(transport, {});
for (const { method, params } of calls) {
    const name = method[0].toLowerCase() + method.slice(1);
    const reply = await provisioner[name](params);
    const errors = (reply.results ?? []).filter((item) => item.error).map((item) => item.error.message);
    say(`called ${method} ${JSON.stringify(errors)}`);
}
await new Pinger(transport, {}).ping({});
say("typed all");
const watcher = await provisioner.watchModelMachines({});
say(`watches ${JSON.stringify(watcher.changes.sort())}`);
const next = (on, id) => send(on, { type: "StringsWatcher", version: 1, request: "Next", id, params: {} });
let waiting = next(transport, watcher["watcher-id"]);
if ((await heard()) !== "changed") fail("nothing changed");
say(`told ${JSON.stringify((await waiting).changes)}`);
waiting = next(transport, watcher["watcher-id"]).then(
    () => fail("a watcher outlived its node"),
    (error) => error.message,
);
say("waits");
endpoint = await heard();
await Promise.race([waiting, isClosed]);
say("ended");
const again = await agent(endpoint);
const anew = await new Provisioner(again, {}).watchModelMachines({});
say(`watches ${JSON.stringify(anew.changes.sort())}`);
await send(again, { type: "StringsWatcher", version: 1, request: "Stop", id: anew["watcher-id"], params: {} });
again.close();
say("done");
process.exit(0);
