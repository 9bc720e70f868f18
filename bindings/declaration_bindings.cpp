// What the core declares of itself, as plain data: everything that describes parameters in Python comes from
// here.
#include "core_bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/columns.hpp"
#include "base/period.hpp"
#include "base/units.hpp"
#include "device/kinds/parts.hpp"
#include "generated_links.hpp"
#include "interconnect/link/measures.hpp"
#include "protocol/segment.hpp"
#include "results/collector.hpp"
#include "results/summary.hpp"
#include "system/kinds/registry.hpp"
#include "system/plugin/plugin.hpp"
#include "system/record/command_recorder.hpp"
#include "system/record/protocol_recorder.hpp"
#include "system/record/sampler.hpp"
#include "system/serving/serving_params.hpp"
#include "system/spec/section.hpp"
#include "value_conversion.hpp"
#include "workload/kv/model/model_shape.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

nb::object text(std::string_view value) { return nb::str(value.data(), value.size()); }

nb::dict info_of(const SchemaInfo& info) {
  nb::list fields;
  for (const FieldInfo& field : info.fields) {
    nb::dict entry;
    entry["name"] = field.name;
    entry["type"] = field.type;
    entry["doc"] = field.doc;
    entry["source"] = field.source;
    entry["default"] = field.default_text;
    entry["minimum"] = field.minimum;
    entry["maximum"] = field.maximum;
    nb::list choices;
    for (const std::string& choice : field.choices) choices.append(choice);
    entry["choices"] = choices;
    entry["category"] = field.category;
    entry["item"] = field.item;
    entry["short_for"] = field.short_for;
    entry["required"] = field.required;
    entry["fields"] = field.fields ? nb::object(info_of(*field.fields)["fields"]) : nb::object(nb::list());
    fields.append(entry);
  }
  nb::dict result;
  result["doc"] = info.doc;
  result["fields"] = fields;
  return result;
}

nb::dict about(const SpecSection& section) {
  nb::dict result;
  result["doc"] = section.doc;
  result["form"] = text(form_name(section.form));
  result["entry"] = section.entry;
  result["besides"] = section.besides;
  result["category"] = section.category;
  result["replaced"] = section.replaced;
  return result;
}

template <class Measures>
nb::list measures_of(const Measures& measures) {
  nb::list result;
  for (const auto& measure : measures) {
    nb::dict entry;
    entry["name"] = text(measure.name);
    entry["unit"] = text(measure.unit);
    entry["doc"] = text(measure.meaning);
    entry["by_name"] = measure.parts.by_name;
    entry["parts"] = measures_of(measure.parts);
    result.append(entry);
  }
  return result;
}

template <class Kinds>
nb::dict kinds_of(const Kinds& kinds) {
  nb::dict result;
  for (const auto& entry : kinds.entries()) {
    nb::dict info = info_of(entry.info);
    info["statistics"] = measures_of(entry.measures);
    nb::list traits;
    for (const std::string& trait : entry.traits) traits.append(trait);
    info["traits"] = traits;
    result[entry.kind.c_str()] = info;
  }
  return result;
}

// The columns of each table that a run hands over.
nb::dict tables() {
  nb::list requests = measures_of(infos_of(kRequestColumns));
  for (const Segment segment : kPathOrder) {
    const SegmentInfo& info = kSegments[static_cast<std::size_t>(segment)];
    const std::string name = std::string(info.name) + "_ps";
    requests.append(measures_of(std::vector<MeasureInfo>{{name, "ps", info.meaning}})[0]);
  }
  nb::dict result;
  result["requests"] = requests;
  result["series"] = measures_of(infos_of(kSeriesColumns));
  result["commands"] = measures_of(infos_of(kCommandColumns));
  std::vector<MeasureInfo> protocol;
  for (const MeasureInfo& column : infos_of(kProtocolColumns)) {
    protocol.push_back(column);
    if (column.name != "requester") continue;
    for (const MeasureInfo& identity : kProtocolIdentities) protocol.push_back(identity);
  }
  result["protocol"] = measures_of(protocol);
  return result;
}

nb::dict declarations() {
  const Registry& kinds = registry();
  nb::dict result;
  nb::dict categories;
  kinds.each_category([&](const char* category, const char* title, const auto& list) {
    categories[category] = title;
    result[category] = kinds_of(list);
  });
  result["categories"] = categories;
  for (const auto& entry : kinds.devices.entries()) {
    nb::list parts;
    for (const DevicePart& part : parts_of(entry.info)) {
      nb::dict found;
      found["part"] = text(part.part);
      found["place"] = part.place;
      parts.append(found);
    }
    result["devices"][entry.kind.c_str()]["parts"] = parts;
  }
  nb::dict sections;
  for (const SpecSection& section : spec_sections()) {
    sections[section.name.c_str()] = about(section);
    if (!section.entry.empty()) result[section.entry.c_str()] = info_of(section.params);
  }
  result["sections"] = sections;
  result["kv"] = info_of(schema_info<ServingParams>());
  result["kv_model"] = info_of(schema_info<ModelShape>());
  result["link"]["statistics"] = measures_of(link_measures());
  result["measures"] = measures_of(summary_measures());
  result["tables"] = tables();
  nb::list segments;
  for (const Segment segment : kPathOrder) {
    const SegmentInfo& info = kSegments[static_cast<std::size_t>(segment)];
    nb::dict entry;
    entry["name"] = text(info.name);
    entry["doc"] = text(info.meaning);
    entry["place"] = text(kSegmentPlaces[static_cast<std::size_t>(info.place)]);
    entry["waits"] = info.waits;
    segments.append(entry);
  }
  result["segments"] = segments;
  return result;
}

template <class T>
std::string canonical(const Value& value) {
  T quantity{};
  read_value(value, quantity);
  return value_text(quantity);
}

std::string parse(const std::string& type, nb::handle object) {
  const Value value = to_value(object);
  if (type == "time") return canonical<Time>(value);
  if (type == "bytes") return canonical<Bytes>(value);
  if (type == "bandwidth") return canonical<Bandwidth>(value);
  if (type == "frequency") return canonical<Frequency>(value);
  if (type == "period") return canonical<Period>(value);
  if (type == "address") return canonical<Address>(value);
  if (type == "fraction" || type == "real") return canonical<double>(value);
  if (type == "integer") return canonical<std::uint64_t>(value);
  if (type == "boolean") return canonical<bool>(value);
  if (type == "text") return canonical<std::string>(value);
  throw InputError(
      {"not a type of quantity",
       "'" + type + "'",
       "time, bytes, bandwidth, frequency, period, address, fraction, real, integer, boolean or text",
       {}});
}

template <class T>
T read(const Value& value) {
  T read{};
  read_value(value, read);
  return read;
}

double quantity(const std::string& type, nb::handle object) {
  const Value value = to_value(object);
  if (type == "time") return read<Time>(value).ns();
  if (type == "bytes") return static_cast<double>(read<Bytes>(value).count());
  if (type == "bandwidth") return read<Bandwidth>(value).rate.per_second();
  if (type == "frequency") return read<Frequency>(value).rate.per_second();
  throw InputError({"not a type of quantity", "'" + type + "'", "time, bytes, bandwidth or frequency", {}});
}

nb::dict expand_topology(nb::handle topology) {
  KindSpec kinded;
  read_value(to_value(topology), kinded);
  TopologyContext context;
  const std::shared_ptr<const GeneratedTopology> generated = registry().topologies.make(kinded, context);
  nb::dict sections;
  sections["devices"] = to_python(generated->devices());
  sections["links"] = GeneratedLinks(generated);
  sections["address_map"] = to_python(generated->address_map());
  return sections;
}

void bind_generated_links(nb::module_& m) {
  nb::class_<GeneratedLinks>(m, "GeneratedLinks",
                             "The links that a topology stands for, each made when it is asked for.")
      .def("__len__", &GeneratedLinks::size)
      .def("__getitem__",
           [](GeneratedLinks& links, std::size_t index) {
             if (index >= links.size()) throw nb::index_error();
             return links.item(index);
           })
      .def("__iter__", [](nb::handle self) { return nb::steal(PySeqIter_New(self.ptr())); });
}

}  // namespace

Registry& registry() {
  static Registry kinds = builtin_registry();
  return kinds;
}

void bind_declarations(nb::module_& m) {
  bind_generated_links(m);
  m.def("declarations", &declarations, "Every kind of thing and its parameters, as plain data.");
  m.def("parse", &parse, "type"_a, "text"_a,
        "Checks one quantity and gives its canonical text; raises InputError naming what is allowed.");
  m.def("quantity", &quantity, "type"_a, "text"_a,
        "A quantity as a number: of time nanoseconds, of bytes bytes, of rates so many a second, inf without "
        "limit. Raises InputError naming what is allowed.");
  m.def(
      "nearest_name", &nearest_name, "name"_a, "candidates"_a,
      "The candidate nearest to a name, of equally near ones the first, else the shortest that it is a part "
      "of, else an empty text.");
  m.def("expand_topology", &expand_topology, "topology"_a,
        "The devices, links and address map that `topology: {kind: ...}` stands for.");
  m.def(
      "load_plugin", [](const std::string& path) { load_plugin(path, registry()); }, "path"_a,
      "Adds the components of a shared library to every system made from now on in this process.");
}

}  // namespace cxloom
