// Layouts as Python sees them, and tables of records that Python passes.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "core/layout.hpp"

namespace kinodyn {

// Registers a layout in Python under its name, and the enumerations of its fields under theirs.
void add_layout(const LayoutInfo& info);
void add_codes(const CodesInfo& info);
// Registers a number that both languages use.
void add_constant(const char* name, double value);

template <class... Records>
void export_layouts() {
    (add_layout(describe<Records>()), ...);
}
template <class... Views>
void export_block_layouts() {
    (add_layout(describe_block<Views>()), ...);
}

template <class... Enums>
void export_codes() {
    (add_codes(describe_codes<Enums>()), ...);
}

struct TableMemory {
    nanobind::object owner;
    const void* data;
    std::size_t size;
};

// The dtype of a layout; it lives as long as the process.
nanobind::handle layout_dtype(const char* layout);

// The memory of a one-dimensional array of records; raises unless its dtype is the layout's.
TableMemory table_memory(const char* name, nanobind::handle array, nanobind::handle dtype, const char* layout);

// Records that Python has filled, kept alive while the table lives.
template <class Record>
class Table {
  public:
    Table(const char* name, nanobind::handle array)
        : memory_(table_memory(name, array, dtype(), Record::layout().name)) {}
    const Record* begin() const { return static_cast<const Record*>(memory_.data); }
    const Record* end() const { return begin() + memory_.size; }
    const Record& operator[](std::size_t i) const { return begin()[i]; }
    std::size_t size() const { return memory_.size; }

  private:
    static nanobind::handle dtype() {
        static const nanobind::handle found = layout_dtype(Record::layout().name);  // looked up once, not at every call
        return found;
    }

    TableMemory memory_;
};

// The one record of a table of one.
template <class Record>
Record record_from(const char* name, nanobind::handle array) {
    const Table<Record> table(name, array);
    if (table.size() != 1) throw nanobind::value_error("exactly one record is needed");
    return table[0];
}

// A new array of records with the dtype of a layout, copied from `data`.
nanobind::object copy_table(const void* data, std::size_t size, std::size_t record_size, const char* layout);

template <class Record>
nanobind::object table_of(const std::vector<Record>& records) {
    return copy_table(records.data(), records.size(), sizeof(Record), Record::layout().name);
}

// Adds `layouts`, `codes` and `constants` to the module.
void bind_layouts(nanobind::module_& m);

}  // namespace kinodyn
