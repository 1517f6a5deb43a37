"""Executes the notebooks of examples/, cell by cell, and compares their outputs with those in the notebooks.

Does not use Jupyter, which needs a hundred packages: a notebook is JSON, and its cells are Python. With --write, writes
the outputs to the notebooks instead."""

import ast
import contextlib
import glob
import io
import json
import os
import sys

try:
    import distributed  # noqa: F401
    import pandas
except ImportError as error:
    print(f"skipped: {error.name} is not there (Debian: python3-{error.name})")
    sys.exit(77)

EXAMPLES = os.path.join(os.environ["DADSIM_SOURCE_DIR"], "examples")


def lines_of(text):
    return text.splitlines(keepends=True)


def outputs_of(source, names, count):
    """Returns the outputs of a cell in Jupyter's form: printed text, then the value of the last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None:
        outputs.append({"data": {"text/plain": lines_of(repr(value))}, "execution_count": count, "metadata": {},
                        "output_type": "execute_result"})
    return outputs


def execute(path, write):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    os.chdir(os.path.dirname(path))
    names = {"__name__": "__main__"}
    wrong = count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        outputs = outputs_of("".join(cell["source"]), names, count)
        if write:
            cell["outputs"], cell["execution_count"] = outputs, count
        elif outputs != cell["outputs"]:
            wrong += 1
            print(f"{path}: cell {count} gives\n{json.dumps(outputs, indent=1)}\nand is shipped with\n"
                  f"{json.dumps(cell['outputs'], indent=1)}")
    if write:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return wrong, count


paths = sorted(glob.glob(os.path.join(EXAMPLES, "*.ipynb")))
found = [execute(path, "--write" in sys.argv) for path in paths]
cells = sum(count for _, count in found)
print(f"{len(paths)} notebooks, {cells} cells")
sys.exit(1 if not cells or any(wrong for wrong, _ in found) else 0)
