#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "cli/import_files.hpp"
#include "cli/output_files.hpp"
#include "study/layout/launch.hpp"

namespace dadsim::cli {

void import_launch(const po::variables_map& values, const std::string& file, const std::string& framework,
                   const std::string& text) {
  constexpr std::int64_t kMostDevices = 1'000'000;
  refuse_other_options(values, {"devices"}, "launch arguments");
  const std::optional<std::int64_t> devices =
      value_of<std::int64_t>(values, "devices", scenario::integer(1, kMostDevices));
  const OutputFiles outputs({{"--out", text_of(values, "out")}}, {{"the file", file}});
  const study::Launch launch = study::read_launch(file, framework, text, devices);
  outputs.check_writable();
  std::string set;
  for (const std::string& one : study::assignments_of(launch))
    set += fmt::format("{}--set {}", set.empty() ? "" : " ", one);
  write_import(
      values, set + '\n',
      fmt::format("{}: {} devices, {} × {} (replicas × devices per replica), {} samples per replica and step.\n",
                  framework, launch.devices(), launch.layout.replicas, launch.layout.how.devices(),
                  launch.layout.batch));
}

}  // namespace dadsim::cli
