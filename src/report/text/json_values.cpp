#include "report/text/json_values.hpp"

#include <cmath>

namespace dadsim::report {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string indented(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

}  // namespace dadsim::report
