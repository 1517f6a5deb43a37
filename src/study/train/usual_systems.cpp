#include "study/train/usual_systems.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "study/train/usual_batches.csv.hpp"
#include "study/train/usual_systems.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::study {

const UsualSystem* usual_system_of(const std::string& device) {
  static const std::vector<UsualSystem> kSystems =
      FactTable(tables::kUsualSystems,
                {"device", "system", "gpus", "tray", "inside", "mesh", "nic", "adapters", "axes", "date", "source"})
          .each([](const FactTable::Row& row) {
            return UsualSystem{row.text("device"),  row.text("system"),      row.integer("gpus"),
                               row.integer("tray"), row.text("inside"),      row.yes("mesh"),
                               row.text("nic"),     row.integer("adapters"), row.integer("axes")};
          });
  const auto found = std::ranges::find(kSystems, device, &UsualSystem::device);
  return found == kSystems.end() ? nullptr : &*found;
}

double usual_tokens(std::int64_t parameters) {
  static const auto kBatches = FactTable(tables::kUsualBatches, {"most parameters", "tokens", "date", "source"})
                                   .each([](const FactTable::Row& row) {
                                     return std::pair(row.number("most parameters"), row.number("tokens"));
                                   });
  for (const auto& [most, tokens] : kBatches) {
    if (static_cast<double>(parameters) <= most) return tokens;
  }
  throw std::logic_error("no usual batch of so many parameters");
}

}  // namespace dadsim::study
