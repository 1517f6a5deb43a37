"""Tests that the examples run, and that the documentation shows their present text."""

import os
import subprocess
import sys
import unittest

try:
    import pandas
except ImportError:
    print("skipped: pandas is not there (Debian: python3-pandas)")
    sys.exit(77)

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
FOLDER = os.path.join(SOURCE, "examples", "python")


class Examples(unittest.TestCase):
    def test_run_and_are_shown_as_they_are(self):
        with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as file:
            page = file.read()
        names = sorted(os.listdir(FOLDER))
        self.assertGreaterEqual(len(names), 2)
        for name in names:
            with self.subTest(name):
                path = os.path.join(FOLDER, name)
                done = subprocess.run([sys.executable, path], check=True, capture_output=True, text=True)
                with open(path, encoding="utf-8") as file:
                    self.assertIn(f"```python\n{file.read()}```", page)
                self.assertIn(f"```\n{done.stdout}```", page)


if __name__ == "__main__":
    unittest.main()
