"""Has CMake build what is compiled of the package; all else that there is to say of it is in pyproject.toml.

DADSIM_BUILD=FOLDER takes what CMake has built there already, in the place of building for ten minutes."""

import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))


def version():
    with open(os.path.join(HERE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(dadsim VERSION (\S+)", file.read()).group(1)


def generator(build):
    """Ninja, which the packages of scripts/packages.txt bring; make may be missing. A configured folder keeps its generator."""
    chosen = "CMAKE_GENERATOR" in os.environ or os.path.exists(os.path.join(build, "CMakeCache.txt"))
    return ["-G", "Ninja"] if not chosen and shutil.which("ninja") else []


class CMakeBuild(build_ext):
    """The module, the library that it is linked with, and the program, in the folder of the package."""

    def build_extension(self, extension):
        build = os.environ.get("DADSIM_BUILD", "")
        if not build:
            build = os.path.join(HERE, "build", "python")
            subprocess.run(["cmake", "-S", HERE, "-B", build, *generator(build), "-DCMAKE_BUILD_TYPE=Release", "-DDADSIM_UNITY=ON",
                            "-DDADSIM_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", build, "--parallel", str(os.cpu_count() or 1), "--target", "dadsim", "dadsim_python"],
                           check=True)
        stage = os.path.abspath(os.path.join(self.build_temp, "stage"))
        shutil.rmtree(stage, ignore_errors=True)
        subprocess.run(["cmake", "--install", build, "--component", "wheel", "--prefix", stage, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        module = os.path.basename(self.get_ext_filename(extension.name))
        if not os.path.exists(os.path.join(stage, module)):
            sys.exit(f"there is no module for this Python in {build}: pybind11-dev and python3-dev are needed, and the Python that CMake found")
        for link in filter(os.path.islink, (os.path.join(stage, name) for name in os.listdir(stage))):
            file = os.path.realpath(link)  # a wheel has no links: the library goes by the name that the module asks for
            os.remove(link)
            os.rename(file, link)
        into = os.path.dirname(os.path.abspath(self.get_ext_fullpath(extension.name)))
        shutil.copytree(stage, into, dirs_exist_ok=True)


setup(version=version(), ext_modules=[Extension("dadsim._dadsim", [])], cmdclass={"build_ext": CMakeBuild})
