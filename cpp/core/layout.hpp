// Structures that Python fills and C++ reads. Each names its fields once, here in C++, and Python receives them as
// NumPy dtypes (`kinodyn.layouts`), so that neither side counts columns.
//
// A record is a plain structure. Its layout lists its members:
//
//     struct FrameRecord {
//         double R[9], p[3];
//         std::int32_t body;
//
//         static constexpr auto layout() {
//             using F = FrameRecord;
//             return named("frame", field<3, 3>("R", &F::R), field("p", &F::p), field("body", &F::body));
//         }
//     };
//
// A block is a row of doubles whose size is known only at run time: records of doubles and arrays, one after another.
// Its view is a structure of pointers into the row, and its layout lists them with their dimensions, which are numbers
// or members of a record of sizes:
//
//     struct ConeSizes { int rows, columns; ... };                       // with a layout of its own
//     struct ContactView {
//         const ContactHead* head;
//         const double* cone;
//
//         using Sizes = ConeSizes;
//         static constexpr auto layout() {
//             using V = ContactView;
//             return named("contact", record(&V::head), array("cone", &V::cone, &Sizes::rows, &Sizes::columns));
//         }
//     };
//     const ContactView contact = view_block<ContactView>(row, sizes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/codes.hpp"

namespace kinodyn {

// Fields of a record or parts of a block, and the name of its dtype in Python.
template <class... Parts>
struct NamedLayout {
    const char* name;
    std::tuple<Parts...> parts;
};

template <class... Parts>
constexpr NamedLayout<Parts...> named(const char* name, std::tuple<Parts...> parts) {
    return {name, parts};
}
template <class... Parts>
constexpr NamedLayout<Parts...> named(const char* name, Parts... parts) {
    return {name, std::tuple<Parts...>(parts...)};
}

template <class Record, class Member, long... shape>
struct Field {
    const char* name;
    Member Record::* member;
};

// A member and its name in Python; `shape` if Python sees an array in another shape than C++ does.
template <long... shape, class Record, class Member>
constexpr Field<Record, Member, shape...> field(const char* name, Member Record::* member) {
    static_assert(
        sizeof...(shape) == 0 || (shape * ... * 1) * sizeof(std::remove_all_extents_t<Member>) == sizeof(Member),
        "the shape has another number of elements than the member");
    return {name, member};
}

// Description of a field for Python. A dimension is a number, or the name of one that is known at run time.
struct Dimension {
    long size;
    std::string name;
};

struct FieldInfo {
    std::string name;
    const char* format;  // of NumPy: "f8", "i4", ...
    std::vector<Dimension> shape;
    std::size_t offset;  // in bytes; the fields of a block follow one another instead
};

struct LayoutInfo {
    std::string name;
    std::size_t size;  // in bytes; 0 for a block, whose dimensions decide
    std::vector<FieldInfo> fields;
    std::vector<CodesInfo> codes;  // enumerations of the fields
};

template <class Scalar>
constexpr const char* numpy_format() {
    if constexpr (std::is_enum_v<Scalar>)
        return numpy_format<std::underlying_type_t<Scalar>>();
    else if constexpr (std::is_same_v<Scalar, double>)
        return "f8";
    else if constexpr (std::is_same_v<Scalar, bool>)
        return "?";
    else if constexpr (std::is_same_v<Scalar, std::uint8_t>)
        return "u1";
    else {
        static_assert(std::is_same_v<Scalar, std::int32_t>, "double, int, bool and std::uint8_t only");
        return "i4";
    }
}

template <class Record, class Member>
std::size_t offset_of(Member Record::* member) {
    static const Record sample{};
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(sample.*member)) -
                                    reinterpret_cast<const char*>(&sample));
}

template <class Array>
void append_shape(std::vector<Dimension>& shape) {
    if constexpr (std::is_array_v<Array>) {
        shape.push_back({static_cast<long>(std::extent_v<Array>), ""});
        append_shape<std::remove_extent_t<Array>>(shape);
    }
}

template <class Record, class Member, long... shape>
FieldInfo describe(const Field<Record, Member, shape...>& field) {
    FieldInfo info = {field.name, numpy_format<std::remove_all_extents_t<Member>>(), {}, offset_of(field.member)};
    if constexpr (sizeof...(shape) > 0)
        (info.shape.push_back({shape, ""}), ...);
    else
        append_shape<Member>(info.shape);
    return info;
}

template <class Record, class Member, long... shape>
constexpr std::size_t bytes_named(const Field<Record, Member, shape...>&) {
    return sizeof(Member);
}

template <class Record, class Member, long... shape>
void append_field(LayoutInfo& info, const Field<Record, Member, shape...>& field) {
    info.fields.push_back(describe(field));
    if constexpr (std::is_enum_v<Member>) info.codes.push_back(describe_codes<Member>());
}

// The fields of a record. One that is missing from the list does not compile: every byte must have a name, but for
// padding at the end.
template <class Record>
LayoutInfo describe() {
    static_assert(std::is_trivially_copyable_v<Record> && std::is_standard_layout_v<Record>, "plain structures only");
    constexpr std::size_t named =
        std::apply([](const auto&... f) { return (bytes_named(f) + ... + 0); }, Record::layout().parts);
    static_assert(named <= sizeof(Record) && sizeof(Record) - named < alignof(Record), "a field has no name");
    LayoutInfo info = {Record::layout().name, sizeof(Record), {}, {}};
    std::apply([&](const auto&... f) { (append_field(info, f), ...); }, Record::layout().parts);
    return info;
}

// Parts of a block: a record of doubles, or an array with its dimensions.
template <class View, class Record>
struct RecordPart {
    const Record* View::* member;
};

template <class View, class T, class... Dimensions>
struct ArrayPart {
    const char* name;
    const T* View::* member;
    std::tuple<Dimensions...> dimensions;
};

template <class View, class Record>
constexpr RecordPart<View, Record> record(const Record* View::* member) {
    return {member};
}
template <class View, class T, class... Dimensions>
constexpr ArrayPart<View, T, Dimensions...> array(const char* name, const T* View::* member, Dimensions... dimensions) {
    return {name, member, std::tuple<Dimensions...>(dimensions...)};
}

template <class Sizes>
constexpr long extent(const Sizes&, int fixed) {
    return fixed;
}
template <class Sizes>
constexpr long extent(const Sizes& sizes, std::int32_t Sizes::* member) {
    return sizes.*member;
}

// Sizes of parts in units of T.
template <class T, class View, class Record, class Sizes>
constexpr long part_size(const RecordPart<View, Record>&, const Sizes&) {
    static_assert(sizeof(Record) % sizeof(T) == 0, "records of T only");
    return sizeof(Record) / sizeof(T);
}
template <class T, class View, class... Dimensions, class Sizes>
constexpr long part_size(const ArrayPart<View, T, Dimensions...>& part, const Sizes& sizes) {
    return std::apply([&](const auto&... d) { return (extent(sizes, d) * ... * 1L); }, part.dimensions);
}

template <class View, class T = double>
long block_size(const typename View::Sizes& sizes) {
    return std::apply([&](const auto&... part) { return (part_size<T>(part, sizes) + ... + 0L); },
                      View::layout().parts);
}

template <class View, class T>
View view_block(const T* row, const typename View::Sizes& sizes) {
    View view{};
    const auto place = [&](const auto& part) {
        using Pointer = std::remove_reference_t<decltype(view.*part.member)>;
        view.*part.member = reinterpret_cast<Pointer>(row);
        row += part_size<T>(part, sizes);
    };
    std::apply([&](const auto&... part) { (place(part), ...); }, View::layout().parts);
    return view;
}

// The name that a record of sizes gives to one of its members.
template <class Sizes>
std::string name_of(std::int32_t Sizes::* member) {
    std::string name;
    const auto compare = [&](const auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field.member)>, std::int32_t Sizes::*>)
            if (field.member == member) name = field.name;
    };
    std::apply([&](const auto&... f) { (compare(f), ...); }, Sizes::layout().parts);
    return name;
}
inline Dimension dimension(int fixed) { return {fixed, ""}; }
template <class Sizes>
Dimension dimension(std::int32_t Sizes::* member) {
    return {0, name_of(member)};
}

template <class View, class Record>
void append_part(LayoutInfo& info, const RecordPart<View, Record>&) {
    for (FieldInfo& field : describe<Record>().fields) info.fields.push_back(std::move(field));
}
template <class View, class T, class... Dimensions>
void append_part(LayoutInfo& info, const ArrayPart<View, T, Dimensions...>& part) {
    FieldInfo field = {part.name, numpy_format<T>(), {}, 0};
    std::apply([&](const auto&... d) { (field.shape.push_back(dimension(d)), ...); }, part.dimensions);
    info.fields.push_back(std::move(field));
}

template <class View>
LayoutInfo describe_block() {
    LayoutInfo info = {View::layout().name, 0, {}, {}};
    std::apply([&](const auto&... part) { (append_part(info, part), ...); }, View::layout().parts);
    return info;
}

}  // namespace kinodyn
