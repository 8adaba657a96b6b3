#!/usr/bin/env python3
"""Checks an exported journal without any code of ours: verify.py [FILE] [--against HEADS], or from the standard input.

Every block's chain value is computed anew from the lines that follow it, and has to be the one that the line states; every
block has to go on from the one before, and the end has to count right. HEADS are signed heads that were kept elsewhere, one
after the other: every signature has to be that of its key, and the journal has to have stood like that after its block. Ends with 0 if all of
that is so, with 6 if not. Python's library has neither BLAKE3 nor Ed25519, so the rest of this file is both, as small as they get
(and as slow).
"""
import hashlib
import json
import struct
import sys
import uuid

KINDS, OUTCOMES = {"decision": 0, "note": 1}, {"done": 0, "nothing": 1, "refused": 2}


class Wrong(Exception):
    pass


def text(value):
    data = value.encode()
    return bytes([len(data)]) + data


def body(value):
    data = bytes.fromhex(value["hex"])
    return struct.pack("<HI", value["schema"], len(data)) + data


def record(entry):
    """The stored form of one entry; the layout stands at the head of journal/src/record.rs."""
    cause, view, policy = entry["cause"], entry["view"], entry["policy"]
    cites = entry["cites"]
    flags = (cause is not None) | (view is not None) << 1 | (policy is not None) << 2 | bool(cites) << 3
    head = struct.pack("<QQIQ", entry["position"], entry["first_version"], len(entry["events"]), entry["time_ms"])
    head += uuid.UUID(entry["command_id"]).bytes + bytes.fromhex(entry["command_hash"])
    head += bytes([KINDS[entry["kind"]], OUTCOMES[entry["outcome"]], flags, 0])
    head += text(entry["stream"]) + text(entry["code"]) + text(entry["principal"])
    head += b"".join(struct.pack("<Q", number) for number in (cause, view) if number is not None)
    if policy is not None:
        head += text(policy["name"]) + struct.pack("<Q", policy["revision"]) + bytes.fromhex(policy["digest"])
    if cites:
        head += bytes([len(cites)])
        for stream, version in (cite.split("@") for cite in cites):
            head += text("" if stream == entry["stream"] else stream) + struct.pack("<Q", int(version))
    bodies = b"".join(map(body, [entry["command"], entry["facts"], entry["verdict"], *entry["events"]]))
    return struct.pack("<II", 8 + len(head) + len(bodies), 8 + len(head)) + head + bodies


def chain_value(journal, codec, block, records):
    """BLAKE3 over the block's header, but for its checksum and this value, and its records; see journal/src/frame.rs."""
    head = b"bwbk" + bytes([1, codec, 0, 0]) + struct.pack("<I", len(records)) + journal
    head += struct.pack("<QQQII", block["block"], block["first"], block["epoch"], block["count"], 0)
    return blake3(head + bytes.fromhex(block["previous"]) + records).hex()


def verify(lines):
    lines = map(json.loads, lines)
    first = next(lines)
    if first["bailiwick-journal"] != 2:
        raise Wrong("this is no export of format 2")
    journal = uuid.UUID(first["journal"]).bytes
    blocks, position, last = 0, 0, blake3(journal).hex()
    stood = {}
    for line in lines:
        if "end" in line:
            if line["end"] != {"blocks": blocks, "entries": position, "hash": last} or next(lines, None) is not None:
                raise Wrong("the end does not fit what came before it")
            return f"{position} entries in {blocks} blocks of journal {first['journal']}; hash {last}", first["journal"], stood
        if (line["block"], line["first"], line["previous"]) != (blocks + 1, position + 1, last):
            raise Wrong(f"block {line['block']} does not go on from block {blocks}")
        entries = [next(lines) for _ in range(line["count"])]
        if [entry["position"] for entry in entries] != list(range(position + 1, position + 1 + len(entries))):
            raise Wrong(f"the entries of block {line['block']} are out of order")
        if chain_value(journal, first["codec"], line, b"".join(map(record, entries))) != line["hash"]:
            raise Wrong(f"the entries of block {line['block']} do not give its hash")
        blocks, position, last = blocks + 1, position + len(entries), line["hash"]
        stood[blocks] = position, last
    raise Wrong("the export ends too early")


def compare(heads, journal, stood):
    """Holds the journal against each signed head; the layout of what is signed stands in src/guide/journal-format.md."""
    count, at, text = 0, 0, heads.strip()
    while at < len(text):
        head, at = json.JSONDecoder().raw_decode(text, at)
        count, at = count + 1, len(text) - len(text[at:].lstrip())
        message = b"bailiwick-head/1\n" + uuid.UUID(head["journal"]).bytes
        message += struct.pack("<QQQ", head["position"], head["block"], head["timeMs"]) + bytes.fromhex(head["hash"])
        if not is_signed(bytes.fromhex(head["key"]), message, bytes.fromhex(head["signature"])):
            raise Wrong(f"head {count} was not signed with the key that it names")
        if head["journal"] != journal or stood.get(head["block"]) != (head["position"], head["hash"]):
            raise Wrong(f"what was signed after entry {head['position']} is not what is there")
    return f"{count} signed heads match"


# BLAKE3, plain hashing only: chunks of 1,024 bytes, each a chain of compressions, joined in a binary tree.
IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def mix(s, a, b, c, d, x, y):
    for word, left, right in ((x, 16, 12), (y, 8, 7)):
        s[a] = s[a] + s[b] + word & MASK
        s[d] = turned(s[d] ^ s[a], left)
        s[c] = s[c] + s[d] & MASK
        s[b] = turned(s[b] ^ s[c], right)


def turned(word, bits):
    return (word >> bits | word << 32 - bits) & MASK


def compress(chaining, block, counter, length, flags):
    m = struct.unpack("<16I", block.ljust(64, b"\0"))
    s = [*chaining, *IV[:4], counter & MASK, counter >> 32, length, flags]
    for _ in range(7):
        for a in range(4):
            mix(s, a, a + 4, a + 8, a + 12, m[2 * a], m[2 * a + 1])
        for a in range(4):
            mix(s, a, 4 + (a + 1) % 4, 8 + (a + 2) % 4, 12 + (a + 3) % 4, m[8 + 2 * a], m[9 + 2 * a])
        m = [m[at] for at in ORDER]
    return [s[at] ^ s[at + 8] for at in range(8)]


def chunk(data, counter, root):
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    value = IV
    for at, block in enumerate(blocks):
        last = at == len(blocks) - 1
        flags = (at == 0) * CHUNK_START | last * (CHUNK_END | root)
        value = compress(value, block, counter, len(block), flags)
    return value


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    left = 1 << (len(data) - 1).bit_length() - 1
    pair = tree(data[:left], counter, 0) + tree(data[left:], counter + left // 1024, 0)
    return compress(IV, struct.pack("<16I", *pair), 0, 64, PARENT | root)


def blake3(data):
    return struct.pack("<8I", *tree(data, 0, ROOT))


# Ed25519 (RFC 8032), verification only: points as (x, y) on the curve, added by the book.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def point(data):
    y = int.from_bytes(data, "little") & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        raise Wrong("a key or signature is no point of the curve")
    return (P - x if x & 1 != data[31] >> 7 else x), y


def plus(one, two):
    (a, b), (c, d) = one, two
    both = D * a * b * c * d % P
    return (a * d + b * c) * pow(1 + both, -1, P) % P, (b * d + a * c) * pow(1 - both, -1, P) % P


def times(number, of):
    total = (0, 1)
    while number:
        total = plus(total, of) if number & 1 else total
        of, number = plus(of, of), number >> 1
    return total


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(key, message, signature):
    first, number = signature[:32], int.from_bytes(signature[32:], "little")
    digest = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little") % L
    return number < L and times(number, BASE) == plus(point(first), times(digest, point(key)))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    against = None
    if "--against" in arguments:
        at = arguments.index("--against")
        against = arguments[at + 1]
        del arguments[at : at + 2]
    source = open(arguments[0], encoding="utf-8") if arguments else sys.stdin
    try:
        told, journal, stood = verify(source)
        print(told)
        if against:
            print(compare(open(against, encoding="utf-8").read(), journal, stood))
    except (Wrong, KeyError, TypeError, ValueError, struct.error, StopIteration) as wrong:
        print(f"error: {wrong!r}" if not isinstance(wrong, Wrong) else f"error: {wrong}", file=sys.stderr)
        sys.exit(6)
