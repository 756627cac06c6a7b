# Included by CMake when the project llama.cpp begins: builds its libraries and leaves out what Tokenlight does not use.
set(LLAMA_BUILD_COMMON OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_SERVER OFF)

# GCC before 12.4 and 13.3 drops most of what ldtilecfg reads (GCC bug 114098), so that llama.cpp's AMX code dies of a
# general protection fault on processors that have it; without the macro that code is left out.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(GCC_VERSION ${CMAKE_CXX_COMPILER_VERSION})
    if(GCC_VERSION VERSION_LESS 12.4 OR (GCC_VERSION VERSION_GREATER_EQUAL 13 AND GCC_VERSION VERSION_LESS 13.3))
        add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-U__AMX_INT8__>)
    endif()
endif()

# With half-precision arithmetic llama.cpp's attention takes steps of 128 numbers, so that heads of 64 are computed one
# number at a time, and sums in half precision; without the macro it converts sixteen at once and sums in single.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-U__AVX512FP16__>)
endif()
