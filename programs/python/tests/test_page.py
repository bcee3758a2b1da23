# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the Python code of docs/python.md and README.md and compares what it prints."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


class Page(unittest.TestCase):
    def test_the_page_prints_what_it_says(self):
        self.check(ROOT / "docs" / "python.md", 6)

    def test_the_readme_prints_what_it_says(self):
        self.check(ROOT / "README.md", 1)

    def test_the_page_of_the_wheel_prints_what_it_says(self):
        self.check(ROOT / "programs" / "python" / "README.md", 1)

    def check(self, page, fewest):
        blocks = BLOCK.findall(page.read_text())
        self.assertGreaterEqual(len(blocks), fewest)
        names, before = {}, os.getcwd()
        with tempfile.TemporaryDirectory(prefix="dbacl-page-") as folder:
            os.chdir(folder)
            try:
                for code, expected in blocks:
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                        # The examples have few documents, and are told so.
                        warnings.simplefilter("ignore", UserWarning)
                        exec(compile(code, str(page), "exec"), names)
                    self.assertEqual(printed.getvalue(), expected, code)
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
