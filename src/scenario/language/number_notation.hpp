#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dadsim::scenario {

/// Returns the forms that a number in another notation may be meant as, likeliest first, without `text` itself: without
/// blanks, plus sign and typographic characters; without separators of thousands; with a decimal point for a comma.
std::vector<std::string> other_notations(const std::string& text);

/// Returns the remedy for a number in another notation: "write 0.002" for "0,002", "write 1000 or 1.000" for "1,000".
/// Empty unless `accepts` takes one of its forms.
std::string remedy_for_number(const std::string& text, const std::function<bool(const std::string&)>& accepts);

}  // namespace dadsim::scenario
