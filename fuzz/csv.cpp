#include "models/data/csv.hpp"

#include "samples.hpp"
#include "support/diagnostics.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::text_of(data, size);
  const std::string target(input.substr(0, input.find('\n')));
  input.remove_prefix(std::min(input.size(), target.size() + 1));
  const auto [train, test] = fuzz::two_files(input);
  models::CsvTables tables{.train = {{"train.csv", std::string(train)}}, .test = {}, .target = target};
  // "class@site" names the column of classes and that of sites.
  if (const std::size_t at = target.find('@'); at != std::string::npos) {
    tables.target = target.substr(0, at);
    tables.site = target.substr(at + 1);
    if (tables.site == tables.target) return 0;
  }
  if (test.data() != train.data()) tables.test.push_back({"test.csv", std::string(test)});
  try {
    const models::CsvColumns columns = inspect_csv(tables);
    const bool own_test = !tables.test.empty();
    const std::int64_t held_back = own_test ? columns.rows[1] : columns.rows[0] / 2;
    const models::Dataset set = dataset_of(tables, columns.rows[0] - (own_test ? 0 : held_back), held_back, 1);
    fuzz::require(set.shape.size() == columns.features, "both ways of reading agree");
    fuzz::require_sound(set.train, set.shape, set.classes);
    fuzz::require_sound(set.test, set.shape, set.classes);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
