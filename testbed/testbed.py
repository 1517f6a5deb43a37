#!/usr/bin/env python3
"""Measures transfers on a platform's links between network namespaces, and prints them next to dadsim's predictions (docs/testbed.md)."""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import programs

UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
COLUMNS = ["topology", "operation", "connection", "ranks", "bytes", "repetitions", "median_s", "least_s", "greatest_s",
           "predicted_s"]
# Frames per second that one core can forward; with more, the shaper itself would limit the times.
MOST_FRAMES = 60000


def fail(what):
    sys.exit(f"testbed: {what}")


def size(text):
    found = re.fullmatch(r"(\d+)([KMG]?B?)", text.strip().upper())
    if not found or (found[2] and found[2][-1] != "B"):
        raise argparse.ArgumentTypeError(f"'{text}' is no size; it would be like 64KB or 1MB")
    return int(found[1]) * UNITS[found[2]]


def sizes(text):
    return [size(one) for one in text.split(",")]


def operations(text):
    chosen = text.split(",")
    for one in chosen:
        if one not in programs.OPERATIONS:
            raise argparse.ArgumentTypeError(f"'{one}' is no operation; there are {', '.join(programs.OPERATIONS)}")
    return chosen


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/testbed", description=__doc__,
        epilog="p2p: rank 0 to 1; p2px: rank 0 to the last; pairs: i to i + N/2 at once; ring: all-reduce of the size in all; "
        "agring, agdirect: all-gather of the size per rank; ps: all to rank 0, then rank 0 to all.")
    parser.add_argument("platform", help="a platform file, as dadsim takes it; all its links with transport tcp")
    parser.add_argument("--op", type=operations, default=operations("p2p,ring,ps"), help="operations (p2p,ring,ps)")
    parser.add_argument("--sizes", type=sizes, default=sizes("64KB,1MB"), help="bytes, powers of 1024 (64KB,1MB)")
    parser.add_argument("--ranks", type=int, help="the first N hosts")
    parser.add_argument("--hosts", help="these hosts in this order, as dadsim collective takes them")
    parser.add_argument("--transport", help="how the links of a SimGrid file are used: tcp")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--cold", action="store_true", help="new connections for every repetition (handshake not timed)")
    mode.add_argument("--idle", type=float, metavar="SECONDS", help="warm connections that were idle that long")
    parser.add_argument("--control", default="cubic", help="congestion control: cubic (default), bbr, reno")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--warm-ups", type=int, help="before them (default: 2, and about a second)")
    parser.add_argument("--csv", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--time-limit", type=float, default=300, metavar="SECONDS", help="for all of it (300)")
    parser.add_argument("--dadsim", default="dadsim", help=argparse.SUPPRESS)
    parser.add_argument("--tool", default="dadsim-testbed", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.repetitions < 1:
        fail("at least one repetition")
    return arguments


def ask(arguments, *words):
    done = subprocess.run([arguments.dadsim, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail((done.stderr.strip() or f"{arguments.dadsim} failed").removeprefix("dadsim: "))
    return done.stdout


def predict(arguments, operation, ranks, of_sizes):
    """Returns the predicted seconds by size, and the hosts in the order of ranks."""
    words = ["collective", "--platform", arguments.platform, "--sizes", ",".join(map(str, of_sizes)), "--json", "-"]
    send = lambda pairs: ["--op", "neighbour-exchange", "--pairs", ",".join(f"{a}>{b}" for a, b in pairs)]
    words += {
        "p2p": lambda: send([(0, 1)]),
        "p2px": lambda: send([(0, ranks - 1)]),
        "pairs": lambda: send([(i, i + ranks // 2) for i in range(ranks // 2)]),
        "ring": lambda: ["--op", "all-reduce", "--algorithm", "ring"],
        "ps": lambda: ["--op", "all-reduce", "--algorithm", "parameter-server"],
        "agring": lambda: ["--op", "all-gather", "--algorithm", "ring", "--per-rank"],
        "agdirect": lambda: ["--op", "all-gather", "--algorithm", "direct", "--per-rank"],
    }[operation]()
    for name in ("ranks", "hosts", "transport"):
        if getattr(arguments, name):
            words += [f"--{name}", str(getattr(arguments, name))]
    if arguments.cold:
        words.append("--cold")
    result = json.loads(ask(arguments, *words))
    return [one["time_us"] * 1e-6 for one in result["sizes"]], result["hosts"]


def build_text(arguments, hosts):
    """Returns the platform's lines and routes in the tool's language, and the largest latency of a route in seconds."""
    words = ["platform", arguments.platform, "--routes", "-"]
    if arguments.transport:
        words += ["--transport", arguments.transport]
    rank = {host: number for number, host in enumerate(hosts)}
    lines, number_of, ways, latency = [], {}, {}, {}
    for row in csv.DictReader(ask(arguments, *words).splitlines()):
        if row["from"] not in rank or row["to"] not in rank:
            continue
        if row["transport"] != "tcp":
            fail(f"link '{row['link']}' has the transport '{row['transport']}'; the testbed has TCP alone (--transport tcp)")
        if row["link"] not in number_of:
            number_of[row["link"]] = len(lines)
            lines.append(f"line {row['bytes_per_second']} {row['latency_seconds']} {row['queue_bytes']}")
        pair = rank[row["from"]], rank[row["to"]]
        ways.setdefault(pair, []).append(number_of[row["link"]])
        latency[pair] = latency.get(pair, 0) + float(row["latency_seconds"])
    frames = sum(float(line.split()[1]) for line in lines) / 1514 / 2
    if frames > MOST_FRAMES:
        print(f"testbed: with all links busy {frames:.0f} frames a second are on their way, and a core shapes about "
              f"{MOST_FRAMES}: what keeps them all busy takes longer here than it should", file=sys.stderr)
    text = [f"hosts {len(hosts)}", *lines]
    text += [f"way {a} {b} " + " ".join(map(str, way)) for (a, b), way in ways.items()]
    return "\n".join(text) + "\n", max(latency.values())


def measure(arguments, text, jobs):
    """Returns the seconds of each repetition, by label."""
    times = {label: [] for label, _ in jobs}
    with tempfile.TemporaryFile("w+") as words:
        words.write(text + "".join(job for _, job in jobs))
        words.seek(0)
        tool = subprocess.Popen([arguments.tool], stdin=words, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + arguments.time_limit
        watch = threading.Timer(arguments.time_limit, tool.kill)
        watch.start()
        try:
            for line in tool.stdout:
                label, repetition, seconds = line.split()[:3]
                if seconds == "late":
                    print(f"testbed: {label} was given up after its time limit", file=sys.stderr)
                elif int(repetition) >= 0:
                    times[label].append(float(seconds))
            tool.wait()
        finally:
            watch.cancel()
            tool.kill()
            tool.wait()
    if tool.returncode != 0:
        late = time.monotonic() >= deadline
        print("testbed: " + (f"the limit of {arguments.time_limit:g} s is over; what there is follows" if late
                             else "the tool did not end well"), file=sys.stderr)
        if not late:
            sys.exit(1)
    return times


def main():
    arguments = read_arguments()
    mode = "cold" if arguments.cold else "warm" if arguments.idle is None else "idle"
    _, hosts = predict(arguments, "agring", 0, [1024])
    ranks = len(hosts)
    if ranks < 2:
        fail("two hosts at least")
    text, latency = build_text(arguments, hosts)
    gap = 0.02 + 2 * latency + (arguments.idle or 0)
    rows, jobs = [], []
    for operation in arguments.op:
        predicted, _ = predict(arguments, operation, ranks, arguments.sizes)
        for one, seconds in zip(arguments.sizes, predicted):
            warm_ups = arguments.warm_ups
            if warm_ups is None:
                warm_ups = max(2, min(10, round(1 / seconds)))
            label = f"{operation},{one}"
            program = programs.OPERATIONS[operation](ranks, one)
            jobs.append((label, programs.job_text(label, arguments.control, mode, 0 if arguments.cold else warm_ups,
                                                  arguments.repetitions, gap, max(5.0, 10 * seconds), program)))
            rows.append((operation, one, seconds))
    times = measure(arguments, text, jobs)

    print(f"{arguments.platform}: {ranks} hosts, {arguments.control}, {mode} connections")
    print(f"{'operation':>10} {'bytes':>10} {'measured ms':>12} {'least':>10} {'greatest':>10} {'predicted ms':>13} {'error':>8}")
    written = []
    topology = os.path.splitext(os.path.basename(arguments.platform))[0]
    for operation, one, predicted in rows:
        found = times[f"{operation},{one}"]
        if not found:
            print(f"{operation:>10} {one:>10} {'-':>12}")
            continue
        median = statistics.median(found)
        print(f"{operation:>10} {one:>10} {1e3 * median:12.2f} {1e3 * min(found):10.2f} {1e3 * max(found):10.2f} "
              f"{1e3 * predicted:13.2f} {100 * (predicted / median - 1):+7.1f}%")
        written.append([topology, operation, mode[0], ranks, one, len(found), f"{median:.6f}", f"{min(found):.6f}",
                        f"{max(found):.6f}", f"{predicted:.6f}"])
    write_csv(arguments.csv, COLUMNS, written)


def write_csv(path, columns, rows):
    """Writes rows below their columns, if a path is given."""
    if path:
        with open(path, "w", newline="") as out:
            csv.writer(out).writerows([columns, *rows])


def run_until_interrupted(main):
    """Runs main(); an interrupt ends the process with exit code 130."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run_until_interrupted(main)
