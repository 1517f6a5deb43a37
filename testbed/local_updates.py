#!/usr/bin/env python3
"""Measures steps of DDP and rounds of DiLoCo on a platform's links between network namespaces, and prints them next to dadsim's
predictions (docs/testbed.md). Messages are real; computing is only a wait."""
import argparse
import json
import os
import statistics

import programs
import testbed

SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/validation/testbed-local-updates.xml")
COLUMNS = ["topology", "run", "period", "step_s", "vocabulary", "bytes", "repetitions", "median_s", "least_s", "greatest_s",
           "predicted_s"]
# (run, local steps, rows of the embedding table, which determine the bytes)
CELLS = [("ddp", 1, 8192), ("diloco peers", 8, 8192), ("diloco peers", 32, 16384), ("diloco aggregator", 8, 8192)]


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/testbed --local-updates", description=__doc__)
    parser.add_argument("platform", help="a platform file; with an aggregator, that is its first host")
    parser.add_argument("--step", type=float, default=0.05, metavar="SECONDS", help="of a local step (0.05)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--warm-ups", type=int, default=2)
    parser.add_argument("--csv", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--time-limit", type=float, default=300, metavar="SECONDS", help="for all of it (300)")
    parser.add_argument("--dadsim", default="dadsim", help=argparse.SUPPRESS)
    parser.add_argument("--tool", default="dadsim-testbed", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.transport = arguments.hosts = arguments.ranks = None
    arguments.cold = False
    return arguments


def predict(arguments, hosts, run, period, vocabulary):
    """Returns the seconds of a step or round on warm connections, and the bytes of the model."""
    words = [SCENARIO, "--quiet", "--json", "-"]
    settings = {"platform.file": os.path.abspath(arguments.platform), "device.step-time": f"{arguments.step:g}s",
                "timed-as.vocabulary": vocabulary, "run[2].period": period, "run[3].period": period}
    served = run.endswith("aggregator")
    settings["workers.worker.hosts"] = " ".join(hosts[1:] if served else hosts)
    if served:
        settings["workers.aggregator.host"] = hosts[0]
    for path, value in settings.items():
        words += ["--set", f"{path}={value}"]
    runs = {one["label"]: one for one in json.loads(testbed.ask(arguments, *words))["runs"]}
    of = runs[run]
    warm = (of["total_seconds"] - of["first_step_seconds"]) / (of["steps"] - 1)
    return warm, round(runs["diloco aggregator"]["bytes_up_per_worker"])


def program_of(ranks, run, seconds, size):
    """Returns the rounds of every rank, and the seconds that it computes before its first round."""
    served = run.endswith("aggregator")
    rounds = programs.ps(ranks, size) if served else programs.ring(ranks, size)
    return rounds, [0 if served and rank == 0 else seconds for rank in range(ranks)]


def main():
    arguments = read_arguments()
    _, hosts = testbed.predict(arguments, "agring", 0, [1024])
    text, latency = testbed.build_text(arguments, hosts)
    rows, jobs = [], []
    for number, (run, period, vocabulary) in enumerate(CELLS):
        predicted, size = predict(arguments, hosts, run, period, vocabulary)
        rounds, computing = program_of(len(hosts), run, period * arguments.step, size)
        jobs.append((str(number), programs.job_text(str(number), "cubic", "warm", arguments.warm_ups, arguments.repetitions,
                                                    0.02 + 2 * latency, 10 * predicted, rounds, computing)))
        rows.append([run, period, f"{arguments.step:g}", vocabulary, size, predicted])
    times = testbed.measure(arguments, text, jobs)
    topology = os.path.splitext(os.path.basename(arguments.platform))[0]
    print(f"{arguments.platform}: {len(hosts)} hosts, cubic")
    print(f"{'run':>20} {'H':>4} {'bytes':>10} {'measured s':>11} {'least':>8} {'greatest':>9} {'predicted s':>12} {'error':>8}")
    written = []
    for number, (run, period, step, vocabulary, size, predicted) in enumerate(rows):
        found = times[str(number)]
        if not found:
            continue
        median = statistics.median(found)
        print(f"{run:>20} {period:4d} {size:10d} {median:11.4f} {min(found):8.4f} {max(found):9.4f} {predicted:12.4f} "
              f"{100 * (predicted / median - 1):+7.1f}%")
        written.append([topology, run, period, step, vocabulary, size, len(found)] +
                       [f"{one:.6f}" for one in (median, min(found), max(found), predicted)])
    testbed.write_csv(arguments.csv, COLUMNS, written)


if __name__ == "__main__":
    testbed.run_until_interrupted(main)
