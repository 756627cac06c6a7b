"""What is shown of a failed build: the lines that matter and what to do."""

from __future__ import annotations

import pytest

from devtools.build_errors import LONGEST_LINE, advice, lines_that_matter

COMPILER = """
  [12/83] /usr/bin/g++ -Werror=implicit-int -c ggml.cpp
  FAILED: vendor/llama.cpp/ggml.cpp.o
  /src/ggml.cpp:12:10: fatal error: vulkan/vulkan.hpp: No such file or directory
     12 | #include <vulkan/vulkan.hpp>
  /src/ggml.cpp:99:1: error: expected ';' before '}' token
  ninja: build stopped: subcommand failed.
  error: subprocess-exited-with-error
  × Building wheel for llama-cpp-python (pyproject.toml) did not run successfully.
  ERROR: Failed building wheel for llama-cpp-python
ERROR: Failed to build one or more wheels
"""

CMAKE = """
  -- Found CUDAToolkit
  CMake Error at vendor/llama.cpp/ggml/src/ggml-cuda/CMakeLists.txt:134 (target_link_libraries):
    Target "ggml-cuda" links to:

      CUDA::cublas

    but the target was not found.
  ERROR: Failed building wheel for llama-cpp-python
"""

PIP = """
WARNING: Retrying after connection broken by 'NewConnectionError: Failed to establish a new connection'
ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from versions: none)
ERROR: No matching distribution found for numpy==2.4.6
"""

UNTRUSTED = """
WARNING: Retrying after connection broken by 'SSLError([SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed)'
Could not fetch URL (Max retries exceeded with url: /numpy/ (Caused by SSLError([SSL: CERTIFICATE_VERIFY_FAILED])))
ERROR: Cannot install numpy>=2 because these package versions have conflicting dependencies.
ERROR: ResolutionImpossible: for help visit the documentation
"""


def test_the_compilers_own_errors_come_first_and_pips_summary_is_left_out() -> None:
    assert lines_that_matter(COMPILER) == [
        "/src/ggml.cpp:12:10: fatal error: vulkan/vulkan.hpp: No such file or directory",
        "/src/ggml.cpp:99:1: error: expected ';' before '}' token",
    ]


def test_a_cmake_error_keeps_the_lines_that_explain_it() -> None:
    shown = lines_that_matter(CMAKE)
    assert shown[0].startswith("CMake Error at")
    assert "CUDA::cublas" in shown


def test_an_index_that_cannot_be_fetched_is_shown_rather_than_what_pip_concludes() -> None:
    assert [line[:19] for line in lines_that_matter(UNTRUSTED)] == ["Could not fetch URL"]


def test_a_visual_studio_error_is_found() -> None:
    assert lines_that_matter("x\nggml.c(3): error C1083: Cannot open include file\ny") == [
        "ggml.c(3): error C1083: Cannot open include file"
    ]


def test_without_a_compiler_pips_errors_are_shown() -> None:
    assert lines_that_matter(PIP) == [
        "ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from versions: none)",
        "ERROR: No matching distribution found for numpy==2.4.6",
    ]


def test_without_any_known_error_the_last_lines_are_shown() -> None:
    assert lines_that_matter("one\n\ntwo\n\x1b[31mthree\x1b[0m\n", limit=2) == ["two", "three"]
    assert lines_that_matter("") == []


def test_at_most_six_lines_are_shown_and_none_is_endless() -> None:
    shown = lines_that_matter("\n".join(f"a.cpp:{n}: error: {'x' * 500}" for n in range(20)))
    assert len(shown) == 6
    assert {len(line) for line in shown} == {LONGEST_LINE}


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (CMAKE, "cuBLAS"),
        (PIP, "internet connection"),
        (COMPILER, "Vulkan headers"),
        ("cc1plus: fatal error: error writing to /tmp/x.s: No space left on device", "disk space"),
        ("c++: internal compiler error: Killed (program cc1plus)", "out of memory"),
        ("CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage", "build-essential"),
        (UNTRUSTED, "PIP_CERT"),
        ("ERROR: No matching distribution found for numpy", "no file for this system"),
    ],
)
def test_known_failures_come_with_what_to_do(output: str, said: str) -> None:
    assert said in advice(output)


def test_an_unknown_failure_gets_no_invented_advice() -> None:
    assert advice("something new") == ""
