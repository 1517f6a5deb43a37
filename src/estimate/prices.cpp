#include "estimate/prices.hpp"

#include <algorithm>

namespace dadsim::estimate {

const std::vector<DevicePrice>& device_prices() {
  static const std::string kNebius =
      "Nebius, as listed in SkyPilot's catalogue v8 (github.com/skypilot-org/skypilot-catalog, 0082b04; the year is "
      "inferred)";
  static const std::string kLambda =
      "Lambda, as listed in SkyPilot's catalogue v5 (github.com/skypilot-org/skypilot-catalog, 2a8fa5b; the year is "
      "inferred)";
  static const std::string kDawnBench = "cost column of Stanford DAWNBench (dawn.cs.stanford.edu/benchmark)";
  static const std::vector<DevicePrice> kPrices{
      {"k80", 0.90, "2017", "AWS p2.xlarge, one of a K80's two chips; " + kDawnBench},
      {"v100-sxm2", 3.06, "2018", "AWS p3.2xlarge; " + kDawnBench},
      {"v100-sxm2-32", 12.24 / 8, "2019", "Azure ND40s_v2, one of its eight; " + kDawnBench},
      {"t4", 0.90, "2018", "Google Cloud machine with one T4; " + kDawnBench},
      {"a100-sxm4-40", 1.29, "2023", kLambda},
      {"rtx-a6000", 0.80, "2023", kLambda},
      {"h100-sxm5", 2.95, "2025", kNebius},
      {"h200-sxm", 3.50, "2025", kNebius},
      {"b200-sxm", 5.50, "2025", kNebius},
      {"l40s", 1.55, "2025", kNebius},
  };
  return kPrices;
}

const std::vector<EgressPrice>& egress_prices() {
  static const std::string kSkyplane = "profiles/cost.csv of Skyplane (github.com/skyplane-project/skyplane, 11e38021)";
  static const std::vector<EgressPrice> kPrices{
      {"AWS, United States or Europe", "another region of AWS", 0.02, "2022-05", kSkyplane},
      {"AWS, United States or Europe", "the internet or another cloud", 0.09, "2022-05", kSkyplane},
      {"AWS, Tokyo", "another region of AWS", 0.09, "2022-05", kSkyplane},
      {"AWS, Tokyo", "the internet or another cloud", 0.114, "2022-05", kSkyplane},
      {"AWS, Sydney", "another region of AWS", 0.098, "2022-05", kSkyplane},
      {"AWS, São Paulo", "another region of AWS", 0.138, "2022-05", kSkyplane},
      {"Google Cloud, United States", "another region there", 0.01, "2022-05", kSkyplane},
      {"Google Cloud", "another continent", 0.08, "2022-05", kSkyplane},
      {"Google Cloud", "the internet or another cloud", 0.12, "2022-05", kSkyplane},
      {"Azure", "another region of the continent", 0.02, "2022-05", kSkyplane},
      {"Azure", "another continent", 0.05, "2022-05", kSkyplane},
      {"Azure", "the internet or another cloud", 0.087, "2022-05", kSkyplane},
  };
  return kPrices;
}

const DevicePrice* find_price(std::string_view device) {
  const DevicePrice* latest = nullptr;
  for (const DevicePrice& price : device_prices()) {
    if (price.device == device && (latest == nullptr || price.date > latest->date)) latest = &price;
  }
  return latest;
}

}  // namespace dadsim::estimate
