#include "report/paragraph.hpp"

#include "support/human.hpp"

namespace dadsim::report {

std::string paragraph(std::string_view sentence, std::size_t indent) { return wrapped(sentence, kTableWidth, indent); }

}  // namespace dadsim::report
