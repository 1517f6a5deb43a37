"""Exports steps of examples/embed/clinics.xml and reads them back. Reads GOAL by the grammar of LogGOPSim's txt2bin
(spcl/LogGOPSim, src/LogGOPSim/txt2bin.re) and executes it without a network. Reads Chakra by protoc with docs/chakra.proto.
Compares bytes and computations with dadsim's result of the same run."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

DADSIM = sys.argv[1]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLINICS = os.path.join(SOURCE, "examples", "embed", "clinics.xml")
# Runs a single step, so that means over steps are those of this step.
QUICK = ["--set", "training.epochs=0.3", "--set", "data.digits.train=288", "--set", "data.digits.test=100",
         "--set", "data.split.alpha=1000000", "--set", "training.batch=32"]
PROTOC = shutil.which("protoc")


def dadsim(*arguments):
    return subprocess.run([DADSIM, *arguments], check=True, capture_output=True, text=True).stdout


def expect(what, holds):
    if not holds:
        sys.exit(f"wrong: {what}")


def is_near(a, b, share):
    return abs(a - b) <= share * max(abs(a), abs(b))


# ---- GOAL ----

IDENT = r"[a-zA-Z][a-zA-Z0-9_]*"
LINES = [
    (re.compile(rf"({IDENT}): calc (\d+)(?: cpu (\d+))?$"), "calc"),
    (re.compile(rf"({IDENT}): send (\d+)b to (\d+)(?: tag (\d+))?(?: cpu (\d+))?$"), "send"),
    (re.compile(rf"({IDENT}): recv (\d+)b from (\d+)(?: tag (\d+))?(?: cpu (\d+))?$"), "recv"),
    (re.compile(rf"({IDENT}) (i?requires) ({IDENT})$"), "requires"),
]


def read_goal(text):
    """Returns per rank: label → [kind, numbers, labels that it depends on]."""
    lines = iter(text.splitlines())
    first = re.fullmatch(r"num_ranks (\d+)", next(lines))
    expect("GOAL begins with num_ranks", first)
    ranks = {}
    rank = None
    for line in lines:
        if not line:
            continue
        begin = re.fullmatch(r"rank (\d+) \{", line)
        if begin:
            expect("ranks are not in one another", rank is None)
            rank = int(begin[1])
            expect("a rank comes once", rank not in ranks)
            ranks[rank] = {}
            continue
        if line == "}":
            rank = None
            continue
        expect(f"'{line}' is in a rank", rank is not None)
        for pattern, kind in LINES:
            found = pattern.match(line)
            if not found:
                continue
            if kind == "requires":  # a label must be known before a line uses it
                expect(f"labels of '{line}' are there", found[1] in ranks[rank] and found[3] in ranks[rank])
                ranks[rank][found[1]][2].append(found[3])
            else:
                expect(f"label {found[1]} comes once", found[1] not in ranks[rank])
                ranks[rank][found[1]] = [kind, [int(word or 0) for word in found.groups()[1:]], []]
            break
        else:
            sys.exit(f"no line of GOAL: {line}")
    expect("every rank is there", sorted(ranks) == list(range(int(first[1]))))
    return ranks


def play_goal(ranks):
    """Returns the nanoseconds until the end if messages take no time. Every operation must end."""
    posted = {"send": {}, "recv": {}}
    for rank, operations in ranks.items():
        for label, (kind, numbers, _) in operations.items():
            if kind == "calc":
                continue
            ends = (rank, numbers[1]) if kind == "send" else (numbers[1], rank)
            key = (*ends, numbers[2])
            expect(f"{kind} {key} comes once", key not in posted[kind])
            posted[kind][key] = (rank, label, numbers[0])
    expect("every message has two ends", posted["send"].keys() == posted["recv"].keys())
    for key, (_, _, size) in posted["send"].items():
        expect(f"both ends of {key} say its size", posted["recv"][key][2] == size)
    done = {}
    waiting = collections.Counter()
    followers = collections.defaultdict(list)
    ready = collections.deque()
    for rank, operations in ranks.items():
        for label, (kind, numbers, before) in operations.items():
            needs = [(rank, one) for one in before]
            if kind == "recv":
                needs.append(posted["send"][(numbers[1], rank, numbers[2])][:2])
            waiting[(rank, label)] = len(needs)
            for need in needs:
                followers[need].append((rank, label))
            if not needs:
                ready.append((rank, label))
    begin = collections.Counter()
    while ready:
        one = ready.popleft()
        kind, numbers, _ = ranks[one[0]][one[1]]
        done[one] = begin[one] + (numbers[0] if kind == "calc" else 0)
        for follower in followers[one]:
            begin[follower] = max(begin[follower], done[one])
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    expect("nothing waits for ever", len(done) == sum(len(operations) for operations in ranks.values()))
    return max(done.values())


def sent_by(operations):
    return sum(numbers[0] for kind, numbers, _ in operations.values() if kind == "send")


def computed_by(operations):
    return sum(numbers[0] for kind, numbers, _ in operations.values() if kind == "calc")


# ---- Chakra ----

def messages_of(path):
    """Returns the messages of a file, in which each follows its length."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield data[at:at + length]
        at += length
    expect("the last message is whole", at == len(data))


def decoded(message, kind):
    return subprocess.run([PROTOC, f"--decode=ChakraProtoMsg.{kind}", f"-I{SOURCE}/docs", "chakra.proto"], input=message,
                          check=True, capture_output=True).stdout.decode()


def node_of(message):
    text = decoded(message, "Node")
    expect("nothing is unknown to the schema", not re.search(r"^\s*\d+:", text, re.MULTILINE))
    node = {"deps": [int(one) for one in re.findall(r"^data_deps: (\d+)", text, re.MULTILINE)]}
    for field in ("id", "name", "type", "duration_micros"):
        found = re.search(rf"^{field}: (.*)", text, re.MULTILINE)
        node[field] = found[1] if found else "0"
    for name, value in re.findall(r'attr \{\s+name: "(\w+)"\s+\w+_val: (.*)', text):
        node[name] = value.strip('"')
    return node


def read_chakra(name, ranks):
    traces = []
    for rank in range(ranks):
        messages = list(messages_of(f"{name}.{rank}.et"))
        expect("a trace begins with its version", 'version: "0.0.4"' in decoded(messages[0], "GlobalMetadata"))
        nodes = [node_of(message) for message in messages[1:]]
        expect("nodes are numbered", [int(node["id"]) for node in nodes] == list(range(len(nodes))))
        expect("nodes follow on others before", all(dep < int(node["id"]) for node in nodes for dep in node["deps"]))
        traces.append(nodes)
    return traces


def amount(nodes, kind, attribute):
    return sum(float(node[attribute]) for node in nodes if node["type"] == kind)


def read_back(folder, label, settings, collectives):
    """`collectives`: of each worker in a Chakra trace."""
    goal, chakra = os.path.join(folder, "step.goal"), os.path.join(folder, "step")
    said = dadsim("export", CLINICS, "--run", label, "--goal", goal, "--chakra", chakra, *QUICK, *settings)
    result = json.loads(dadsim(CLINICS, "--quiet", "--json", "-", *QUICK, *settings))
    per_step = next(run for run in result["runs"] if run["label"] == label)
    with open(goal, encoding="ascii") as file:
        ranks = read_goal(file.read())
    expect("what is said is what is there", f"{len(ranks)} nodes, {sum(map(len, ranks.values()))} operations" in said)
    workers = range(3)
    sent = sum(sent_by(ranks[rank]) for rank in workers) / len(workers)
    computed = max(computed_by(ranks[rank]) for rank in workers) * 1e-9
    expect(f"{label}: a worker sends {per_step['bytes_up_per_worker']} B, not {sent}", is_near(sent, per_step["bytes_up_per_worker"], 1e-3))
    expect(f"{label}: a worker computes {per_step['compute_seconds']} s, not {computed}",
           is_near(computed, per_step["compute_seconds"], 0.01))
    quickest = play_goal(ranks) * 1e-9
    expect(f"{label}: {quickest} s without a network are no more than {per_step['step_seconds']}",
           0.99 * computed <= quickest <= 1.01 * per_step["step_seconds"])
    print(f"{label}: {said.strip()} GOAL: {sent:.0f} B sent, {computed:.3g} s computed by a worker.")
    if PROTOC is None:
        return
    traces = read_chakra(chakra, len(ranks))
    ends = {"COMM_SEND_NODE": collections.Counter(), "COMM_RECV_NODE": collections.Counter()}
    for rank, nodes in enumerate(traces):
        for node in nodes:
            if node["type"] in ends:
                key = (node["comm_src"], node["comm_dst"], node["comm_tag"], node["comm_size"])
                expect("a message is its rank's", key[node["type"] == "COMM_RECV_NODE"] == str(rank))
                ends[node["type"]][key] += 1
        expect(f"rank {rank} computes as long in both",
               is_near(amount(nodes, "COMP_NODE", "dadsim_seconds"), computed_by(ranks[rank]) * 1e-9, 1e-3))
    expect("every message of the traces has two ends", ends["COMM_SEND_NODE"] == ends["COMM_RECV_NODE"])
    for rank in workers:
        of_type = collections.Counter(node["type"] for node in traces[rank])
        expect(f"{label}: {of_type['COMM_COLL_NODE']} collectives", of_type["COMM_COLL_NODE"] == collectives)
        if collectives == 0:
            expect("a rank sends as much in both",
                   amount(traces[rank], "COMM_SEND_NODE", "comm_size") == sent_by(ranks[rank]))


with tempfile.TemporaryDirectory() as folder:
    read_back(folder, "gradient-sharing", [], 0)
    read_back(folder, "dad", [], 0)
    read_back(folder, "gradient-sharing", ["--set", "run[gradient-sharing].exchange=peer"], 1)
if PROTOC is None:
    print("skipped: protoc is not there, so that Chakra traces were not read back (Debian: protobuf-compiler)")
    sys.exit(77)
