#pragma once

#include <string>
#include <vector>

#include "scenario/language/node.hpp"
#include "scenario/language/read_context.hpp"

namespace dadsim::scenario {

/// Absolute path of the data file that an attribute names, looked up where data lie; empty with a finding. `form` is
/// what would be right.
std::string data_file(const Node& node, const char* attribute, const std::string& form, const ReadContext& context);

/// Files with commas between them; empty with a finding where one of them is not found.
std::vector<std::string> data_files(const Node& node, const char* attribute, const std::string& form,
                                    const ReadContext& context);

/// Names with commas between them, at most `most`; empty with a finding where there are more or one is empty.
std::vector<std::string> comma_list(const Node& node, const char* attribute, const std::string& text,
                                    const std::string& form, const char* what, std::size_t most);

}  // namespace dadsim::scenario
