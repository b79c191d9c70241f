// Decimal numbers in text, whatever the locale.
#pragma once

#include <charconv>
#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#include <string>
#endif

namespace kinodyn {

// Reads the number at the beginning of [p, end). Returns the position after it, nullptr if there is none.
inline const char* read_number(const char* p, const char* end, double& value) {
#if defined(__cpp_lib_to_chars)
    const auto [next, error] = std::from_chars(p, end, value);
    return error == std::errc() ? next : nullptr;
#else  // libc++ and libstdc++ before 11 read integers only
    const std::string all(p, end);
    const std::string token = all.substr(0, all.find_first_not_of("0123456789+-.eE"));
    if (token.empty() || token[0] == '+') return nullptr;
    std::istringstream stream(token);
    stream.imbue(std::locale::classic());
    if (!(stream >> value)) return nullptr;
    return p + (stream.eof() ? static_cast<std::ptrdiff_t>(token.size()) : static_cast<std::ptrdiff_t>(stream.tellg()));
#endif
}

}  // namespace kinodyn
