#!/usr/bin/env python3
"""Designs and measures the configurations of tests/validation/testbed-wide.csv: wide.py TOOL RAW-FILE [first [last]]."""
import hashlib
import math
import random
import subprocess
import sys

import programs

SIZES = [4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]


def star(hosts, mbit, delay_ms, queue_kb, control="cubic"):
    rate, delay = mbit * 1e6 / 8, delay_ms * 1e-3
    lines = [(rate, delay / 2, queue_kb * 1e3)] * (2 * hosts)
    ways = {(i, j): (2 * i, 2 * j + 1) for i in range(hosts) for j in range(hosts) if i != j}
    name = f"star{hosts}_{mbit:g}M_{delay_ms:g}ms_{queue_kb:g}kB" + ("_bbr" if control == "bbr" else "")
    return dict(name=name, hosts=hosts, lines=lines, ways=ways, control=control, rate=rate, delay=delay, trunk=False,
                queue=queue_kb * 1e3)


def dumbbell(mbit, delay_ms, queue_kb, control="cubic"):
    """Returns 4 + 4 hosts on lines of 200 Mbit/s and 0.05 ms, joined by a trunk."""
    hosts, access = 8, 25e6
    lines = [(access, 5e-5, queue_kb * 1e3)] * (2 * hosts) + [(mbit * 1e6 / 8, delay_ms * 1e-3, queue_kb * 1e3)] * 2
    ways = {}
    for i in range(hosts):
        for j in range(hosts):
            if i != j:
                trunk = () if i // 4 == j // 4 else (16 + i // 4,)
                ways[i, j] = (2 * i,) + trunk + (2 * j + 1,)
    name = f"dumbbell44_{mbit:g}M_{delay_ms:g}ms_{queue_kb:g}kB" + ("_bbr" if control == "bbr" else "")
    return dict(name=name, hosts=hosts, lines=lines, ways=ways, control=control, rate=mbit * 1e6 / 8,
                delay=delay_ms * 1e-3 + 1e-4, trunk=True, queue=queue_kb * 1e3)


def configurations():
    stars = [
        (4, 1, 10, 30), (4, 1, 50, 100), (5, 2, 25, 100), (4, 5, 5, 30), (4, 5, 100, 300), (6, 10, 10, 100),
        (4, 10, 25, 300), (4, 10, 50, 30), (8, 10, 1, 300), (4, 20, 5, 1000), (5, 20, 20, 100), (4, 20, 50, 300),
        (4, 20, 100, 1000), (8, 20, 10, 300), (4, 50, 1, 100), (6, 50, 10, 300), (4, 50, 25, 100), (4, 50, 25, 1000),
        (4, 50, 50, 3000), (4, 100, 0, 100), (4, 100, 10, 300), (5, 100, 10, 1000), (4, 100, 50, 1000),
        (4, 100, 100, 3000), (4, 200, 2, 300), (4, 200, 20, 1000), (4, 500, 1, 1000), (4, 500, 10, 300),
        (4, 1000, 0, 300), (4, 1000, 5, 3000),
    ]
    bbr = [(4, 5, 20, 100), (4, 20, 10, 300), (4, 50, 25, 300), (6, 50, 5, 1000), (4, 100, 50, 300), (4, 200, 5, 3000)]
    trunks = [(20, 10, 100), (50, 20, 1000), (100, 5, 300), (100, 50, 1000)]
    return ([star(*one) for one in stars] + [star(*one, "bbr") for one in bbr] + [dumbbell(*one) for one in trunks])


def group(config):
    return "bbr" if config["control"] == "bbr" else "trunk" if config["trunk"] else "star"


def held_out():
    """Returns every second configuration of each group, in the order of the SHA-256 of their names; the first is for fitting."""
    names = set()
    for one in ("star", "bbr", "trunk"):
        members = [c["name"] for c in configurations() if group(c) == one]
        names |= set(sorted(members, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[1::2])
    return names


def estimate(config, operation, size):
    """Returns rough seconds, for choosing sizes and for time limits."""
    hosts, delay = config["hosts"], config["delay"]
    seconds = size * 1.05 / config["rate"]
    if config["trunk"]:
        return {"p2px": seconds + delay, "pairs": 4 * seconds + delay, "ring": 14 * (seconds / 8 + delay),
                "agring": 7 * (seconds + delay), "ps": 2 * (4 * seconds + delay), "agdirect": 16 * seconds + delay}[operation]
    return {"p2p": seconds + delay, "ring": 2 * (hosts - 1) * (seconds / hosts + delay),
            "agring": (hosts - 1) * (seconds + delay), "ps": 2 * ((hosts - 1) * seconds + delay),
            "agdirect": (hosts - 1) * seconds + delay}[operation]


def rows(config):
    """Draws rows (operation, mode, bytes, warm-ups, repetitions), with a separate generator per configuration."""
    chance = random.Random(config["name"])
    crowd = config["rate"] * config["hosts"] > 110e6  # more frames than one core can shape at the same time
    if config["trunk"]:
        plan = [("p2px", "warm", 2), ("p2px", "cold", 1), ("pairs", "warm", 2), ("pairs", "cold", 1), ("ring", "warm", 2),
                ("agring", "warm", 1), ("ps", "warm", 2), ("agdirect", "warm", 1)]
    else:
        plan = [("p2p", "warm", 3), ("p2p", "cold", 2), ("p2p", "idle", 1), ("ring", "warm", 2), ("agring", "warm", 1),
                ("ps", "warm", 2), ("agdirect", "warm", 1)]
    result = []
    for operation, mode, count in plan:
        if crowd and operation not in ("p2p", "ps"):
            continue
        if mode == "idle" and config["delay"] < 4e-3:
            continue
        possible = [size for size in SIZES if estimate(config, operation, size) < (1.0 if operation in ("p2p", "p2px") else 0.8) and size >= 16384]
        if not possible:
            possible = [4096]
        possible = possible[-4:]  # the times of small messages are nothing but latency
        chosen = {possible[-1]} if count > 1 or chance.random() < 0.5 else {chance.choice(possible)}
        while len(chosen) < min(count, len(possible)):
            chosen.add(chance.choice(possible))
        for size in sorted(chosen):
            about = estimate(config, operation, size) * 1.15
            warm_ups = 0 if mode == "cold" else max(5, min(8, math.ceil(0.8 / about)))
            result.append((operation, mode, size, warm_ups, 5 if about < 0.1 and mode != "idle" else 3))
    return result


def build_text(config):
    text = [f"hosts {config['hosts']}"]
    text += [f"line {rate} {delay} {queue}" for rate, delay, queue in config["lines"]]
    text += ["way %d %d " % pair + " ".join(map(str, way)) for pair, way in config["ways"].items()]
    return "\n".join(text) + "\n"


def gap_of(config, mode):
    """Returns the seconds between repetitions: until the last acknowledgement is back, but not much longer. A connection that
    has sent nothing for 0.2 s and a round trip starts slowly again."""
    return config["delay"] + (1.0 if mode == "idle" else 0.015)


def main():
    configs = sorted(configurations(), key=lambda c: hashlib.sha256(c["name"].encode()).hexdigest())
    seconds = count = 0
    for config in configs:
        for operation, mode, size, warm_ups, repetitions in rows(config):
            about = estimate(config, operation, size) * 1.15 + gap_of(config, "warm") + 0.012
            seconds += (warm_ups + repetitions) * about + (3 if mode == "idle" else 0)
            count += 1
    print(f"{len(configs)} configurations, {count} rows, about {seconds / 60:.0f} minutes", file=sys.stderr)
    if len(sys.argv) < 3:
        return
    first, last = (list(map(int, sys.argv[3:])) + [0, len(configs)][len(sys.argv) - 3:])[:2]
    with open(sys.argv[2], "a") as raw:
        for number, config in list(enumerate(configs))[first:last]:
            text = build_text(config)
            for operation, mode, size, warm_ups, repetitions in rows(config):
                label = f"{config['name']},{operation},{mode},{size}"
                program = programs.OPERATIONS[operation](config["hosts"], size)
                text += programs.job_text(label, config["control"], mode, warm_ups, repetitions, gap_of(config, mode), 6,
                                          program)
            done = subprocess.run([sys.argv[1]], input=text, stdout=subprocess.PIPE, text=True, timeout=600)
            raw.write(done.stdout)
            raw.flush()
            print(number, config["name"], done.returncode, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
