// Numbers in text files.
#include <nanobind/nanobind.h>

#include <cmath>
#include <cstring>

#include "bindings/arrays.hpp"
#include "bindings/functions.hpp"
#include "bindings/read_number.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

const char* skip_blanks(const char* p, const char* end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    return p;
}

// Appends the numbers of a line; false unless they are `columns` finite ones.
bool read_line(const char* p, const char* end, std::size_t columns, std::vector<double>& values) {
    for (std::size_t k = 0; k < columns; ++k) {
        p = skip_blanks(p, end);
        if (p < end && *p == '+') ++p;
        double value = 0;
        p = read_number(p, end, value);
        if (!p || !std::isfinite(value)) return false;
        if (p < end && !std::strchr(" \t\r", *p)) return false;
        values.push_back(value);
    }
    return skip_blanks(p, end) == end;
}

// Of the lines from byte `start` on that are not blank, the numbers of each `step`th from `first` on, among the first
// `count`; None if one of these does not have `columns` finite numbers or there are fewer than `count` lines.
nb::object parse_rows(const nb::bytes& text, std::size_t start, std::size_t first, std::size_t step, std::size_t count,
                      std::size_t columns) {
    require(start <= text.size() && step >= 1 && columns >= 1, "the range of lines is empty");
    std::vector<double> values;
    std::size_t lines = 0;
    bool right = true;
    {
        const char *p = static_cast<const char*>(text.data()) + start,
                   *end = static_cast<const char*>(text.data()) + text.size();
        nb::gil_scoped_release released;
        while (p < end && lines < count && right) {
            const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
            const char* stop = found ? static_cast<const char*>(found) : end;
            if (skip_blanks(p, stop) < stop) {
                if (lines >= first && (lines - first) % step == 0) right = read_line(p, stop, columns, values);
                ++lines;
            }
            p = stop + 1;
        }
    }
    if (!right || lines < count) return nb::none();
    return as_array(values, {values.size() / columns, columns});
}

}  // namespace

void bind_text(nb::module_& m) { m.def("parse_rows", &parse_rows); }

}  // namespace kinodyn
