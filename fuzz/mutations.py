"""Mutates dadsim's input files with regard to their structure. All functions take a random.Random and bytes, and return bytes."""

import gzip
import re
import sqlite3
import tempfile

# Values that users or attackers write in place of a number, a name or a path.
VALUES = [
    "", " ", "0", "-0", "-1", "1", "2", "1.5", "1e-320", "1e308", "1e999", "-1e999", "nan", "inf", "-inf", "NaN", "+1", "0x10",
    "1,5", "1e", "e1", ".", "-", "*", "?", "{}", "%s%n%n", "½", "١٢", "２", "𝟙", "true", "yes", "none", "auto", "null",
    "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "18446744073709551616", "1000000000", "100000", "0s", "-5ms", "1e300s", "1e-300s", "1ZBps", "1e-9bps", "0.01bps", "0Bps",
    "1e300GBps", "1EiB", "999999GiB", "10Mbps 20Mbps", "site-[1-999999999]", "site-[2-1]", "site-[1-", "[0-0]", "0-999999999",
    "1;1;1;1", "9;9,9;9,9", "a" * 300, "a" * 60000, "[" * 2000, "(a+)+" * 50, "../seeds", "/dev/zero", "/dev/stdin", "/dev/full",
    "/proc/self/mem", "/nowhere", "platform.xml", "tiny.xml", "table.csv", "images.idx", "=cmd|' /C calc'!A0", "@x", "a\tb",
    "&#27;]0;title&#7;", "&#x9b;31m", "\u009b31m", "\u202edlrow", "\u2066x", "\u200f", "&#10;", "&#0;", "&lt;", "&amp;", "&x;", "\x1b[31m",
    "\x07", "\x00", "\ufeff", "\ufffe", "\u2028",
]  # fmt: skip
PIECES = [b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[2J", b"\x9b", b"<", b">", b"&", b'"', b"]]>", b"<!--",
          b"<![CDATA[", b"<?xml version='1.0'?>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"\n" * 500, b"\r", b",", b";", b":", b"@data\n"]  # fmt: skip

ATTRIBUTE = re.compile(r'\s([A-Za-z_:][\w:.-]*)="([^"]*)"')
NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]*)[^<>]*?(/?)>")


def elements(text):
    """Returns (begin, end) of every element in a document that is well-formed, or nearly so."""
    found, open_tags = [], []
    for tag in TAG.finditer(text):
        if tag[1]:
            while open_tags:
                name, begin = open_tags.pop()
                if name == tag[2]:
                    found.append((begin, tag.end()))
                    break
        elif tag[3]:
            found.append((tag.start(), tag.end()))
        else:
            open_tags.append((tag[2], tag.start()))
    return found


def number(rng, text):
    """Replaces one of the numbers in the text; the text around it stays."""
    numbers = list(NUMBER.finditer(text))
    if not numbers:
        return rng.choice(VALUES)
    one = rng.choice(numbers)
    try:
        value = float(one[0])
    except ValueError:
        value = 1.0
    other = rng.choice(["0", f"-{one[0]}", f"{value * 1000:g}", f"{value / 1000:g}", f"{value + 1:g}", f"{value - 1:g}",
                        f"{value * 1e9:g}", "1e18", "1e-18", one[0] * 12, one[0] + ".5", rng.choice(VALUES)])  # fmt: skip
    return text[: one.start()] + other + text[one.end() :]


def xml(rng, content, others):
    """Makes one change in an XML document; `others` are documents from which attributes and elements may be copied."""
    text = content.decode("utf-8", "surrogateescape")
    attributes, parts = list(ATTRIBUTE.finditer(text)), elements(text)
    other = rng.choice(others).decode("utf-8", "surrogateescape")
    what = rng.randrange(12)
    if what < 5 and attributes:
        one = rng.choice(attributes)
        value = rng.choice(VALUES) if what < 2 else number(rng, one[2]) if what < 4 else None
        if value is None:
            theirs = ATTRIBUTE.findall(other)
            value = rng.choice(theirs)[1] if theirs else ""
        text = text[: one.start(2)] + value.replace('"', "&quot;") + text[one.end(2) :]
    elif what == 5 and attributes:
        one = rng.choice(attributes)
        text = text[: one.start()] + text[one.end() :]
    elif what == 6 and attributes:
        one, theirs = rng.choice(attributes), ATTRIBUTE.findall(other)
        name, value = rng.choice(theirs) if theirs else ("a", "b")
        text = text[: one.end()] + f' {name}="{value}"' + text[one.end() :]
    elif what == 7 and parts:
        begin, end = rng.choice(parts)
        text = text[:begin] + text[end:]
    elif what == 8 and parts:
        begin, end = rng.choice(parts)
        text = text[:end] + text[begin:end] * rng.choice([1, 1, 2, 40]) + text[end:]
    elif what == 9 and parts:
        theirs = elements(other)
        begin, end = rng.choice(theirs) if theirs else (0, 0)
        at = rng.choice(parts)[rng.randrange(2)]
        text = text[:at] + other[begin:end] + text[at:]
    elif what == 10 and len(parts) > 1:
        (a, b), (c, d) = sorted(rng.sample(parts, 2))
        if b <= c:
            text = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        else:
            text = text[:a] + text[c:d] + text[b:]
    elif what == 11 and parts:
        begin, end = rng.choice(parts)
        depth = rng.choice([2, 100, 3000])
        text = text[:begin] + "<a>" * depth + text[begin:end] + "</a>" * depth + text[end:]
    return text.encode("utf-8", "surrogateescape")


def table(rng, content, _):
    """Makes one change in lines of cells (CSV, .ts, traces)."""
    text = content.decode("utf-8", "surrogateescape")
    separator = rng.choice([",", ":", " ", ";"]) if rng.random() < 0.2 else "," if "," in text else " "
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    cells = lines[at].split(separator)
    cell = rng.randrange(len(cells))
    what = rng.randrange(8)
    if what < 2:
        cells[cell] = rng.choice(VALUES)
    elif what < 4:
        cells[cell] = number(rng, cells[cell])
    elif what == 4:
        cells.insert(cell, rng.choice(cells))
    elif what == 5:
        del cells[cell]
    elif what == 6:
        cells[cell] = rng.choice(['"' + cells[cell], '"' + cells[cell] + '"', cells[cell] + '""', "'" + cells[cell]])
    lines[at] = separator.join(cells)
    if what == 7:
        other = rng.randrange(len(lines))
        if rng.random() < 0.5:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at:at] = [lines[other]] * rng.choice([1, 1, 100])
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def raw(rng, content, others):
    """Makes one change in bytes, without regard to their meaning."""
    data = bytearray(content)
    at = rng.randrange(len(data) + 1)
    length = rng.randrange(min(len(data) - at, 40) + 1)
    what = rng.randrange(8)
    if what == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif what == 1 and at < len(data):
        data[at] = rng.randrange(256)
    elif what == 2:
        data[at:at] = rng.choice(PIECES)
    elif what == 3:
        del data[at : at + length]
    elif what == 4:
        data[at:at] = data[at : at + length] * rng.choice([1, 2, 50])
    elif what == 5:
        del data[at:]
    elif what == 6:
        other = rng.choice(others)
        begin = rng.randrange(len(other) + 1)
        data[at:at] = other[begin : begin + rng.randrange(60)]
    else:
        # Overwrites a number in a binary header.
        width, order = rng.choice([1, 2, 4, 8]), rng.choice(["big", "little"])
        where = rng.randrange(min(len(data), 32) + 1)
        value = rng.choice([0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1]) % 256**width
        data[where : where + width] = value.to_bytes(width, order)
    return bytes(data)


def database(rng, content, _):
    """Makes one change in an SQLite file: in its bytes, or in a value, after which the file is still valid."""
    if rng.random() < 0.5:
        return raw(rng, content, [content])
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(content)
        file.flush()
        connection = sqlite3.connect(file.name)
        try:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            name = rng.choice(tables)
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
            column = rng.choice(columns)
            rows = [row[0] for row in connection.execute(f'SELECT rowid FROM "{name}"')]
            row = rng.choice(rows)
            value = rng.choice([None, 0, -1, 2**63 - 1, -(2**63), 1e308, float("inf"), "", "x", b"\x00\xff", rng.choice(VALUES)])
            statement = rng.randrange(4)
            if statement == 0:
                connection.execute(f'DELETE FROM "{name}" WHERE rowid=?', (row,))
            elif statement == 1:
                connection.execute(f'DROP TABLE "{name}"')
            else:
                connection.execute(f'UPDATE "{name}" SET "{column}"=? WHERE rowid=?', (value, row))
            connection.commit()
        except (sqlite3.Error, IndexError, UnicodeError):
            pass
        finally:
            connection.close()
        file.seek(0)
        with open(file.name, "rb") as changed:
            return changed.read()


def command_line(rng, arguments, others):
    """Makes one change in a list of arguments."""
    arguments = list(arguments)
    at = rng.randrange(len(arguments) + 1)
    what = rng.randrange(7)
    safe = [value for value in VALUES if "\x00" not in value]
    if what < 2 and at < len(arguments):
        arguments[at] = rng.choice(safe)
    elif what == 2 and at < len(arguments):
        arguments[at] = number(rng, arguments[at]).replace("\x00", "")
    elif what == 3 and at < len(arguments):
        del arguments[at]
    elif what == 4:
        arguments[at:at] = [rng.choice(rng.choice(others))]
    elif what == 5 and arguments:
        arguments[at:at] = [rng.choice(arguments)]
    elif at < len(arguments) and "=" in arguments[at]:
        arguments[at] = arguments[at].split("=")[0] + "=" + rng.choice(safe)
    return arguments


def any_bytes(rng, content, others):
    if rng.random() < 0.05:
        return gzip.compress(content, mtime=0)
    return raw(rng, content, others)


def mutate(rng, kind, content, others):
    """Makes one to four changes in a file of this kind, some of them in its bytes."""
    by_kind = {"xml": xml, "table": table, "bytes": any_bytes, "database": database}[kind]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 4])):
        if kind != "database" and rng.random() < 0.15:
            content = raw(rng, content, others)
        else:
            content = by_kind(rng, content, others)
    return content
