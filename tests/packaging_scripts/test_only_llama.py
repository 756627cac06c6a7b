from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECIPE = Path(__file__).resolve().parents[2] / "packaging" / "only_llama.cmake"
WITHOUT_AMX = "-U__AMX_INT8__"
WITHOUT_HALF_PRECISION = "-U__AVX512FP16__"
STAND_IN = """
function(add_compile_options)
    message(STATUS "option ${ARGN}")
endfunction()
include("%s")
foreach(part COMMON TOOLS EXAMPLES TESTS SERVER)
    message(STATUS "part ${part} ${LLAMA_BUILD_${part}}")
endforeach()
"""


@pytest.fixture(scope="module")
def cmake() -> str:
    """Return CMake, first of all the one that the set-up puts beside Python."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    found = shutil.which("cmake", path=places)
    if found is None:
        pytest.fail("CMake is missing: run `python3 packaging/dev.py setup`.", pytrace=False)
    return found


def recipe_says(cmake: str, folder: Path, compiler: str, version: str, processor: str) -> list[str]:
    """Run the recipe as CMake does where llama.cpp begins, for a compiler that need not be here; return its lines."""
    script = folder / "recipe.cmake"
    script.write_text(STAND_IN % RECIPE.as_posix(), encoding="utf-8")
    known = {
        "CMAKE_CXX_COMPILER_ID": compiler,
        "CMAKE_CXX_COMPILER_VERSION": version,
        "CMAKE_SYSTEM_PROCESSOR": processor,
    }
    settings = [f"-D{name}={value}" for name, value in known.items()]
    done = subprocess.run(
        [cmake, *settings, "-P", str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.removeprefix("-- ") for line in done.stdout.splitlines()]


def left_out(lines: list[str]) -> list[str]:
    """Return the compiler's options by which a macro is taken away."""
    before, after = "option $<$<COMPILE_LANGUAGE:C,CXX>:", ">"
    return [line.removeprefix(before).removesuffix(after) for line in lines if line.startswith(before)]


@pytest.mark.parametrize(
    ("compiler", "version", "processor", "leaves_out"),
    [
        ("GNU", "11.4.0", "x86_64", True),
        ("GNU", "12.2.0", "x86_64", True),
        ("GNU", "12.2.0", "AMD64", True),
        ("GNU", "12.4.0", "x86_64", False),
        ("GNU", "13.2.0", "x86_64", True),
        ("GNU", "13.3.0", "x86_64", False),
        ("GNU", "14.1.0", "x86_64", False),
        ("Clang", "17.0.6", "x86_64", False),
        ("AppleClang", "12.0.5", "x86_64", False),
        ("MSVC", "19.40.1", "AMD64", False),
        ("GNU", "12.2.0", "aarch64", False),
    ],
)
def test_amx_is_left_out_where_the_compiler_gets_it_wrong(
    cmake: str, tmp_path: Path, compiler: str, version: str, processor: str, leaves_out: bool
) -> None:
    assert (WITHOUT_AMX in left_out(recipe_says(cmake, tmp_path, compiler, version, processor))) == leaves_out


@pytest.mark.parametrize(
    ("compiler", "processor", "leaves_out"),
    [
        ("GNU", "x86_64", True),
        ("Clang", "AMD64", True),
        ("MSVC", "AMD64", False),
        ("GNU", "aarch64", False),
    ],
)
def test_attention_is_not_left_to_steps_that_are_larger_than_a_head(
    cmake: str, tmp_path: Path, compiler: str, processor: str, leaves_out: bool
) -> None:
    options = left_out(recipe_says(cmake, tmp_path, compiler, "14.1.0", processor))
    assert options == ([WITHOUT_HALF_PRECISION] if leaves_out else [])


def test_only_the_libraries_of_llama_cpp_are_built(cmake: str, tmp_path: Path) -> None:
    lines = recipe_says(cmake, tmp_path, "GNU", "14.1.0", "x86_64")
    parts = ("COMMON", "TOOLS", "EXAMPLES", "TESTS", "SERVER")
    assert [line for line in lines if line.startswith("part ")] == [f"part {part} OFF" for part in parts]
