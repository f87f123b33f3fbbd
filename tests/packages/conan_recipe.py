"""python3 conan_recipe.py TREE: runs Conan's recipe with stand-ins for Conan's functions.

What the recipe exports must be enough to configure the library, and what it sets must be options of CMakeLists.txt.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

tree = Path(sys.argv[1]).resolve()
calls = []


class Recorded:
    """Stands for CMake, CMakeDeps and CMakeToolchain: remembers what is called."""

    def __init__(self, recipe):
        self.cache_variables = {}

    def __getattr__(self, function):
        return lambda: calls.append((type(self).__name__, function, dict(self.cache_variables)))


def copy(recipe, pattern, source, target):
    found = [path for path in (Path(source).rglob("*") if pattern == "*" else [Path(source) / pattern]) if path.is_file()]
    assert found, f"there is no {pattern} in {source}"
    for path in found:
        place = Path(target) / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


stand_in("conan", ConanFile=object)
stand_in("conan.errors", ConanInvalidConfiguration=type("ConanInvalidConfiguration", (Exception,), {}))
stand_in("conan.tools")
stand_in("conan.tools.build", check_min_cppstd=lambda recipe, standard: calls.append(("standard", standard)))
stand_in("conan.tools.cmake", cmake_layout=lambda recipe: None,
         **{name: type(name, (Recorded,), {}) for name in ("CMake", "CMakeDeps", "CMakeToolchain")})
stand_in("conan.tools.files", copy=copy, load=lambda recipe, path: Path(path).read_text())

sys.dont_write_bytecode = True
path = tree / ".packages/conan/conanfile.py"
spec = importlib.util.spec_from_file_location("conanfile", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

with tempfile.TemporaryDirectory() as work:
    recipe = module.Retrace()
    recipe.recipe_folder = str(path.parent)
    recipe.source_folder = recipe.export_sources_folder = work + "/source"
    recipe.package_folder = work + "/package"
    recipe.settings = types.SimpleNamespace(os="Linux")
    recipe.options = types.SimpleNamespace(models=False)
    recipe.cpp_info = types.SimpleNamespace(set_property=lambda *property: calls.append(property))

    lists = (tree / "CMakeLists.txt").read_text()
    recipe.set_version()
    assert f"project(retrace VERSION {recipe.version} " in lists, recipe.version
    recipe.export_sources()
    recipe.requirements()
    recipe.validate()
    recipe.layout()
    recipe.generate()
    recipe.build()
    recipe.package()
    recipe.package_info()

    assert ("standard", 20) in calls
    assert [call[:2] for call in calls if call[0] == "CMake"] == [
        ("CMake", "configure"), ("CMake", "build"), ("CMake", "install")]
    variables = next(call[2] for call in calls if call[0] == "CMakeToolchain")
    for variable in variables:
        assert re.search(rf"option\({variable} ", lists), f"CMakeLists.txt has no option {variable}"
    assert (Path(work) / "package/licenses/LICENSE").exists()
    recipe.settings.os = "Windows"
    try:
        recipe.validate()
        sys.exit("the recipe accepts Windows")
    except sys.modules["conan.errors"].ConanInvalidConfiguration:
        pass

    settings = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in variables.items()]
    subprocess.run(["cmake", "-S", recipe.source_folder, "-B", work + "/build", *settings], check=True,
                   stdout=subprocess.DEVNULL)
    size = sum(os.path.getsize(file) for file in Path(recipe.source_folder).rglob("*") if file.is_file())
    print(f"version {recipe.version}, {size / 1e6:.1f} MB of sources")
