"""Builds the tree that this recipe lies in, without a download: conan create .packages/conan"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class Retrace(ConanFile):
    name = "retrace"
    description = "Reverse-mode automatic differentiation from scratch"
    license = "MIT"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "models": [True, False]}
    default_options = {"shared": False, "fPIC": True, "models": False}
    implements = ["auto_shared_fpic"]

    @property
    def _tree(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        lists = load(self, os.path.join(self._tree, "CMakeLists.txt"))
        self.version = re.search(r"project\(retrace VERSION ([0-9.]+)", lists).group(1)

    def export_sources(self):
        for file in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md"):
            copy(self, file, self._tree, self.export_sources_folder)
        for folder in (".cmake", "core", "ops", "nn", "models"):
            copy(self, "*", os.path.join(self._tree, folder), os.path.join(self.export_sources_folder, folder))

    def requirements(self):
        if self.options.models:
            self.requires("cli11/[>=2.1 <3]")
            self.requires("zlib/[>=1.2.11 <2]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("Retrace is for systems with POSIX's functions")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["RETRACE_MODELS"] = bool(self.options.models)
        toolchain.cache_variables["RETRACE_TESTS"] = False
        toolchain.cache_variables["RETRACE_BENCHMARKS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # Its own retrace-config.cmake says what its targets need.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "retrace")]
