"""Programs for a testbed: which rank sends how many bytes to which rank in each round.

A program is a list of rounds per rank. A round is (sends, receives), which are lists of (peer, bytes). As in dadsim's
collectives, a rank begins its next round when it has received everything of this round.
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
    """Returns a ring all-reduce of `size` bytes in total."""
    return around(ranks, size // ranks, 2 * (ranks - 1))


def agring(ranks, size):
    """Returns a ring all-gather of `size` bytes per rank."""
    return around(ranks, size, ranks - 1)


def agdirect(ranks, size):
    """Returns an all-gather in which every rank sends to all others at once."""
    return [
        [([(peer, size) for peer in others(ranks, rank)], [(peer, size) for peer in others(ranks, rank)])]
        for rank in range(ranks)
    ]


def ps(ranks, size):
    """Returns a round in which all send to rank 0 at once, and one in which rank 0 sends to all at once."""
    parts = [(peer, size) for peer in range(1, ranks)]
    return [[([], parts), (parts, [])]] + [[([(0, size)], [(0, size)])] for _ in range(1, ranks)]


def others(ranks, rank):
    # Begins with the next rank, as dadsim's schedules do.
    return [(rank + step) % ranks for step in range(1, ranks)]


OPERATIONS = {"p2p": p2p, "p2px": p2px, "pairs": pairs, "ring": ring, "agring": agring, "agdirect": agdirect, "ps": ps}


def job_text(label, congestion_control, mode, warm_ups, repetitions, gap, limit, program, computing=None):
    """Returns a job in the tool's language (testbed/main.cpp). `computing`: seconds of each rank before its first round."""
    lines = [f"job {label} {congestion_control} {mode} {warm_ups} {repetitions} {gap:.6f} {limit:.3f}"]
    for rank, rounds in enumerate(program):
        for number, (sends, receives) in enumerate(rounds):
            parts = [f"~{computing[rank]:.6f}"] if computing and computing[rank] > 0 and number == 0 else []
            parts += [f">{peer}:{size}" for peer, size in sends] + [f"<{peer}:{size}" for peer, size in receives]
            lines.append(f"round {rank} " + " ".join(parts))
    return "\n".join(lines) + "\ngo\n"
