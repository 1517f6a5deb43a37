#pragma once

#include "report/document/document.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {

Json in_json(const DocumentValue& value);
/// Returns the table as a list of objects, or as one object (DocumentTable::object).
Json in_json(const DocumentTable& table);
Json in_json(const DocumentPart& part);
Json in_json(const Document& document);

}  // namespace dadsim::report
