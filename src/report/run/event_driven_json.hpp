#pragma once

#include "report/run/result.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {

/// Of clients in rounds as many are written: about 3 MB of text. How many there are beyond is said.
inline constexpr std::size_t kMostPartsWritten = 20'000;

/// What there is to say of an event-driven run; docs/output-json.md explains the fields.
Json to_json_object(const EventDrivenResult& event_driven);

}  // namespace dadsim::report
