#!/usr/bin/env python3
"""Measures rounds of a small real federation on a platform's links between network namespaces, and prints them next to dadsim's
predictions (docs/testbed.md). The time of packing, unpacking and summing is calibrated on one size and predicted for others."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import testbed

MB = 1_000_000
COLUMNS = ["topology", "clients", "megabytes", "rounds", "median_s", "least_s", "greatest_s", "predicted_s", "lines_alone_s",
           "pack_s", "unpack_s", "sum_s", "client_s", "calibrated_on_MB"]


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/testbed --federation", description=__doc__)
    parser.add_argument("platform", help="a federation as platform file; its first host is the server, the others clients")
    parser.add_argument("--sizes", default="5,50,200", help="megabytes of a model (5,50,200)")
    parser.add_argument("--calibrate", type=float, default=20, help="the size that rates are taken from (20)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--time-limit", type=float, default=600, metavar="SECONDS", help="for one size (600)")
    parser.add_argument("--dadsim", default="dadsim", help=argparse.SUPPRESS)
    parser.add_argument("--tool", default="dadsim-testbed", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.transport = arguments.hosts = arguments.ranks = None
    arguments.cold = False
    return arguments


def carry_out(arguments, text, hosts, megabytes):
    """Returns the seconds of each round after the first, and the processor seconds per message by name."""
    floats = int(megabytes * MB / 4)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "federation.py")
    run = f"timeout {arguments.time_limit:g} {sys.executable} {program}"
    rounds = arguments.rounds + 1
    words = [f"program 0 {run} server {len(hosts) - 1} {floats} {rounds}"]
    words += [f"program {rank} {run} client 10.77.0.1 {floats} {rounds}" for rank in range(1, len(hosts))]
    done = subprocess.run([arguments.tool], input=text + "\n".join(words) + "\nrun\n", stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        testbed.fail("the tool did not end well")
    server, clients = None, []
    for line in done.stdout.splitlines():
        rank, what, *rest = line.split()
        if what == "rounds":
            split = rest.index("pack")
            server = [float(one) for one in rest[:split]], dict(zip(rest[split::2], map(float, rest[split + 1::2])))
        else:
            clients.append(float(rest[0]))
    # The first round is left out: it opens the windows of connections and warms up the interpreter.
    return server[0][1:], {**server[1], "client": statistics.mean(clients)}


def scenario(platform, hosts, megabytes, rates):
    framework = "" if rates is None else \
        f'  <framework serialise="{rates["client"]:.6g}MBps" deserialise="{rates["client"]:.6g}MBps" ' \
        f'server-serialise="{rates["pack"]:.6g}MBps" server-deserialise="{rates["unpack"]:.6g}MBps" ' \
        f'aggregate="{rates["sum"]:.6g}MBps"/>\n'
    return f"""<scenario name="A real federation" seed="1">
  <platform file="{os.path.abspath(platform)}"/>
{framework}  <workers memory="ignore">
    <worker hosts="{' '.join(hosts[1:])}" device="rtx-3090"/>
    <aggregator host="{hosts[0]}" device="xeon-8380"/>
  </workers>
  <timing-only payload="{megabytes:g}MB"/>
  <run algorithm="fedavg" rounds="3" local-steps="1"/>
</scenario>
"""


def predict(arguments, hosts, megabytes, rates):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(scenario(arguments.platform, hosts, megabytes, rates))
        file.flush()
        return json.loads(testbed.ask(arguments, file.name, "--quiet", "--json", "-"))["runs"][0]["step_seconds"]


def main():
    arguments = read_arguments()
    _, hosts = testbed.predict(arguments, "agring", 0, [1024])
    text, _ = testbed.build_text(arguments, hosts)
    at = arguments.calibrate
    _, busy = carry_out(arguments, text, hosts, at)
    rates = {name: at / seconds for name, seconds in busy.items()}
    rates["client"] *= 2  # a client both packs and unpacks
    print(f"{arguments.platform}: {len(hosts) - 1} clients; a core packs {rates['pack']:.0f}, unpacks {rates['unpack']:.0f} and "
          f"sums {rates['sum']:.0f} MB/s, as calibrated on {at:g} MB")
    print(f"{'MB':>6} {'measured s':>11} {'least':>8} {'greatest':>9} {'predicted s':>12} {'error':>8} {'lines alone':>12} {'error':>8}")
    rows = []
    for megabytes in map(float, arguments.sizes.split(",")):
        times, busy = carry_out(arguments, text, hosts, megabytes)
        median = statistics.median(times)
        predicted = predict(arguments, hosts, megabytes, rates)
        alone = predict(arguments, hosts, megabytes, None)
        print(f"{megabytes:6g} {median:11.3f} {min(times):8.3f} {max(times):9.3f} {predicted:12.3f} "
              f"{100 * (predicted / median - 1):+7.1f}% {alone:12.3f} {100 * (alone / median - 1):+7.1f}%", flush=True)
        topology = os.path.splitext(os.path.basename(arguments.platform))[0]
        rows.append([topology, len(hosts) - 1, f"{megabytes:g}", len(times)] +
                    [f"{one:.6f}" for one in (median, min(times), max(times), predicted, alone, busy["pack"], busy["unpack"],
                                              busy["sum"], busy["client"])] + [f"{at:g}"])
    testbed.write_csv(arguments.csv, COLUMNS, rows)


if __name__ == "__main__":
    testbed.run_until_interrupted(main)
