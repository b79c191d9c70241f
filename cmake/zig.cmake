# Toolchain of portable Linux wheels: clang and an old glibc from `zig`, the package ziglang of PyPI, with ZIG its executable
# and ZIG_TARGET such as x86_64-linux-gnu.2.17 or aarch64-linux-gnu.2.17. The C++ library is linked statically.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${ZIG_TARGET}")
set(CMAKE_CXX_COMPILER "${ZIG}" c++)
set(CMAKE_CXX_FLAGS_INIT "-target ${ZIG_TARGET} -g0")
set(CMAKE_CXX_ARCHIVE_CREATE "\"${ZIG}\" ar qc <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "\"${ZIG}\" ar q <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "")
set(CMAKE_CXX_COMPILER_LAUNCHER "")  # zig keeps what it compiled by itself, and ccache takes it for another compiler
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG ZIG_TARGET)
