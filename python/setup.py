# SPDX-License-Identifier: MIT
"""Builds the extension with the static libraries that pkg-config knows, or with those of a build directory: COEVAL_BUILD=../build/release."""
import os
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from wheel.bdist_wheel import bdist_wheel

here = pathlib.Path(__file__).resolve().parent
top = pathlib.Path(os.environ.get("COEVAL_SOURCE", here.parent))


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words], check=True, capture_output=True, text=True).stdout.split()


def version():
    listed = top / "CMakeLists.txt"
    if listed.exists():
        return re.search(r"project\(coeval VERSION ([0-9.]+)", listed.read_text())[1]
    return pkg_config("--modversion", "coeval")[0]


if "COEVAL_BUILD" in os.environ:
    build = (here / os.environ["COEVAL_BUILD"]).resolve()
    include = [f"-I{top / 'include'}"]
    # the libraries' own objects, so that the package needs no other file of this project
    link = [str(build / "libcoeval-sim-inside.a"), str(build / "libcoeval-inside.a")]
    modules = "jansson yaml-0.1 libzip nettle hogweed zlib"
    for optional in "libusb-1.0", "libdw", "libelf", "libmicrohttpd", "libnats", "sqlite3":
        if subprocess.run(["pkg-config", "--exists", optional]).returncode == 0:
            modules += " " + optional
    link += pkg_config("--libs", *modules.split()) + ["-lm", "-pthread"]
else:
    include = pkg_config("--cflags", "coeval", "coeval-sim")
    link = pkg_config("--libs", "coeval-sim", "coeval")


class abi3(bdist_wheel):
    def get_tag(self):
        return "cp311", "abi3", super().get_tag()[2]


setup(
    version=version(),
    cmdclass={"bdist_wheel": abi3},
    ext_modules=[
        Extension("coeval._coeval", ["src/_coeval.c"], py_limited_api=True,
                  define_macros=[("COEVAL_VERSION", f'"{version()}"')],
                  extra_compile_args=include + ["-std=gnu11", "-fvisibility=hidden"],
                  extra_link_args=link + ["-Wl,--as-needed", "-Wl,--exclude-libs,ALL"])
    ],
)
