"""What is carried out on a testbed: who sends how many bytes to whom, round by round.

A program is a list per rank of rounds; a round is (sends, receives), each a list of (peer, bytes). A rank goes on to its next
round when everything that it receives in this one is there, as in the collectives of dadsim.
"""


def p2p(ranks, size, to=1):
    program = [[] for _ in range(ranks)]
    program[0].append(([(to, size)], []))
    program[to].append(([], [(0, size)]))
    return program


def p2px(ranks, size):
    return p2p(ranks, size, ranks - 1)


def pairs(ranks, size):
    half = ranks // 2
    program = [[] for _ in range(ranks)]
    for rank in range(half):
        program[rank].append(([(rank + half, size)], []))
        program[rank + half].append(([], [(rank, size)]))
    return program


def around(ranks, size, rounds):
    return [[([((rank + 1) % ranks, size)], [((rank - 1) % ranks, size)])] * rounds for rank in range(ranks)]


def ring(ranks, size):
    """Ring all-reduce of `size` bytes in total."""
    return around(ranks, size // ranks, 2 * (ranks - 1))


def agring(ranks, size):
    """Ring all-gather, `size` bytes per rank."""
    return around(ranks, size, ranks - 1)


def agdirect(ranks, size):
    """All-gather, everybody to everybody at once."""
    return [
        [([(peer, size) for peer in others(ranks, rank)], [(peer, size) for peer in others(ranks, rank)])]
        for rank in range(ranks)
    ]


def ps(ranks, size):
    """All to rank 0 at once, then rank 0 to all at once."""
    parts = [(peer, size) for peer in range(1, ranks)]
    return [[([], parts), (parts, [])]] + [[([(0, size)], [(0, size)])] for _ in range(1, ranks)]


def others(ranks, rank):
    # Starts with the next rank, like dadsim's schedules.
    return [(rank + step) % ranks for step in range(1, ranks)]


OPERATIONS = {"p2p": p2p, "p2px": p2px, "pairs": pairs, "ring": ring, "agring": agring, "agdirect": agdirect, "ps": ps}


def job_text(label, congestion_control, mode, warm_ups, repetitions, gap, limit, program, computing=None):
    """A job in the words of the tool (testbed/main.cpp). `computing`: seconds of every rank before its first round."""
    lines = [f"job {label} {congestion_control} {mode} {warm_ups} {repetitions} {gap:.6f} {limit:.3f}"]
    for rank, rounds in enumerate(program):
        for number, (sends, receives) in enumerate(rounds):
            parts = [f"~{computing[rank]:.6f}"] if computing and computing[rank] > 0 and number == 0 else []
            parts += [f">{peer}:{size}" for peer, size in sends] + [f"<{peer}:{size}" for peer, size in receives]
            lines.append(f"round {rank} " + " ".join(parts))
    return "\n".join(lines) + "\ngo\n"
