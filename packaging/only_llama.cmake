# Included by CMake when the project llama.cpp begins: builds its libraries and leaves out what Tokenlight does not use.
set(LLAMA_BUILD_COMMON OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_SERVER OFF)
