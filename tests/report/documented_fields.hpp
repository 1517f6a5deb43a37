#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace dadsim::test {

/// Collects the path of every value in `json`: objects by name, lists as `[]`. A statement counts as one field, since
/// docs/statements.md documents what it contains.
inline void collect_fields(const nlohmann::ordered_json& json, const std::string& path, std::set<std::string>& fields) {
  if (json.contains("kind") && json.contains("subjects") && json.contains("words")) {
    fields.insert(path);
  } else if (json.is_object()) {
    for (const auto& [name, value] : json.items())
      collect_fields(value, path.empty() ? name : path + "." + name, fields);
  } else if (json.is_array() && !json.empty() && json[0].is_object()) {
    for (const nlohmann::ordered_json& value : json) collect_fields(value, path + "[]", fields);
  } else {
    fields.insert(json.is_array() ? path + "[]" : path);
  }
}

inline std::set<std::string> fields_of(const std::string& text) {
  std::set<std::string> fields;
  collect_fields(nlohmann::ordered_json::parse(text), "", fields);
  return fields;
}

/// Returns the first column of a document's tables below the heading that starts with `heading`; "": of all tables.
inline std::set<std::string> documented_in(const std::string& document, const std::string& heading = "") {
  std::ifstream file(std::string(DADSIM_SOURCE_DIR) + "/docs/" + document);
  EXPECT_TRUE(file) << document;
  std::set<std::string> names;
  bool below = heading.empty();
  for (std::string line; std::getline(file, line);) {
    if (!heading.empty() && line.starts_with("## ")) below = line.starts_with("## " + heading);
    if (!below || !line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(names.insert(name).second) << name << " is documented twice";
  }
  return names;
}

/// Returns the rows of a document's tables, verbatim.
inline std::string documented_rows(const std::string& document) {
  std::ifstream file(std::string(DADSIM_SOURCE_DIR) + "/docs/" + document);
  EXPECT_TRUE(file) << document;
  std::string rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows += line + '\n';
  }
  return rows;
}

}  // namespace dadsim::test
