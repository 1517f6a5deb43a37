"""Tests the package for pip: a source package that CMake can build, a wheel of it, and a new virtual environment with the wheel.

Takes compiled files from the tested build (DADSIM_BUILD), as compiling them again takes ten minutes."""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

missing = [name for name in ("pandas", "pip", "setuptools", "venv", "wheel") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: {', '.join(missing)} is not there (Debian: python3-pip, python3-venv, python3-setuptools, python3-wheel)")
    sys.exit(77)

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
BUILD = os.path.dirname(os.path.dirname(os.environ["DADSIM_BINARY"]))
TOP = ("cmake", "docs", "examples", "platforms", "python", "scenarios", "src", "testbed")


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    return {**kept, "DADSIM_BUILD": BUILD, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


def run(*command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **{"env": environment(), **more})
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}")
    return result.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="dadsim-package-")
        cls.folder = cls.scratch.name
        # Copies the checkout, since setuptools may leave files in it.
        checkout = os.path.join(cls.folder, "checkout")
        os.mkdir(checkout)
        for name in TOP:
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(checkout, name), ignore=shutil.ignore_patterns("__pycache__"))
        for name in os.listdir(SOURCE):
            if os.path.isfile(os.path.join(SOURCE, name)):
                shutil.copy(os.path.join(SOURCE, name), checkout)
        # Tables of measured steps that are built into `dadsim validate`.
        os.makedirs(os.path.join(checkout, "tests", "validation"))
        for name in ("jobs.csv", "jobs-2026.csv"):
            shutil.copy(os.path.join(SOURCE, "tests", "validation", name), os.path.join(checkout, "tests", "validation"))
        build = "from setuptools import build_meta; print(build_meta.build_sdist({!r}))".format(cls.folder)
        run(sys.executable, "-c", build, cwd=checkout)
        (cls.sdist,) = glob.glob(os.path.join(cls.folder, "dadsim-*.tar.gz"))
        with tarfile.open(cls.sdist) as archive:
            archive.extractall(cls.folder)
        cls.source = cls.sdist[: -len(".tar.gz")]
        run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", cls.folder, cls.source)
        (cls.wheel,) = glob.glob(os.path.join(cls.folder, "dadsim-*.whl"))
        # The environment sees Debian's pandas and pip, but not dadsim.
        cls.venv = os.path.join(cls.folder, "venv")
        run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", cls.venv)
        run(cls.python(), "-m", "pip", "install", "--no-index", "--no-deps", cls.wheel)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def python(cls):
        return os.path.join(cls.venv, "bin", "python3")

    def test_source_package_has_every_file_that_cmake_needs(self):
        for top in TOP:
            for folder, _, names in os.walk(os.path.join(SOURCE, top)):
                if "__pycache__" in folder or ".egg-info" in folder:
                    continue
                for name in names:
                    path = os.path.relpath(os.path.join(folder, name), SOURCE)
                    self.assertTrue(os.path.exists(os.path.join(self.source, path)), path)
        for name in ("CMakeLists.txt", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
            self.assertTrue(os.path.exists(os.path.join(self.source, name)), name)
        run("cmake", "-S", self.source, "-B", os.path.join(self.folder, "configured"), "-DDADSIM_TESTS=OFF",
            f"-DPython_EXECUTABLE={sys.executable}")

    def test_wheel_has_module_library_and_program_and_is_of_this_python(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        for name in ("dadsim/__init__.py", "dadsim/remote.py", "dadsim/__main__.py", "dadsim/dadsim", "dadsim/libdadsim.so.1"):
            self.assertIn(name, names)
        self.assertTrue(any(name.startswith("dadsim/_dadsim.") for name in names), names)
        self.assertFalse([name for name in names if not name.startswith("dadsim")])
        self.assertIn(f"cp3{sys.version_info.minor}", os.path.basename(self.wheel))

    def test_module_and_program_of_the_environment_are_those_of_the_wheel(self):
        code = "import dadsim; print(dadsim.__file__); print(dadsim.build())"
        path, build = run(self.python(), "-c", code, cwd=self.folder).split()
        self.assertTrue(path.startswith(self.venv), path)
        of_program = run(os.path.join(self.venv, "bin", "dadsim"), "--version", cwd=self.folder)
        self.assertIn(f"build {build}", of_program)
        self.assertEqual(run(self.python(), "-m", "dadsim", "--version", cwd=self.folder), of_program)

    def test_notebooks_give_there_what_they_are_shipped_with(self):
        run(self.python(), os.path.join(SOURCE, "tests", "python", "notebook_test.py"), env=environment(DADSIM_SOURCE_DIR=self.source))


if __name__ == "__main__":
    unittest.main()
