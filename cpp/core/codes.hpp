// Enumerations that Python and C++ exchange as integers. Each names its values once, next to its declaration, and
// Python receives them by name (`kinodyn.layouts.codes`), so that neither side repeats a number:
//
//     enum class IkMethod : std::int32_t { Transpose, Newton };
//     constexpr auto codes_of(IkMethod) {
//         using M = IkMethod;
//         return codes("ik_method", code("transpose", M::Transpose), code("newton", M::Newton));
//     }
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kinodyn {

template <class Enum>
struct Code {
    const char* name;
    Enum value;
};

template <class Enum>
constexpr Code<Enum> code(const char* name, Enum value) {
    return {name, value};
}

template <class Enum, int n>
struct Codes {
    const char* name;
    Code<Enum> values[n];
};

template <class Enum, class... Others>
constexpr auto codes(const char* name, Code<Enum> first, Others... others) {
    return Codes<Enum, 1 + sizeof...(Others)>{name, {first, others...}};
}

// Description of an enumeration for Python.
struct CodesInfo {
    std::string name;
    std::vector<std::pair<std::string, int>> values;
};

template <class Enum>
CodesInfo describe_codes() {
    constexpr auto all = codes_of(Enum{});
    CodesInfo info = {all.name, {}};
    for (const Code<Enum>& each : all.values) info.values.emplace_back(each.name, static_cast<int>(each.value));
    return info;
}

}  // namespace kinodyn
