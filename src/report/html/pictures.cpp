#include "report/html/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/text/json_values.hpp"
#include "spec/names.hpp"

namespace dadsim::report {
namespace {

/// 0 … 255, where `darkest` is 0 and `brightest` 255.
Json levels(const std::vector<float>& pixels, float darkest, float brightest) {
  constexpr float kLevels = 255;
  const float scale = brightest > darkest ? kLevels / (brightest - darkest) : 0.0F;
  Json all = Json::array();
  for (const float pixel : pixels)
    all.push_back(static_cast<int>(std::lround(std::clamp((pixel - darkest) * scale, 0.0F, kLevels))));
  return all;
}

/// Of the adversary that was shown most.
const step::AdversaryLeak* shown_most(const RunResult& run) {
  const step::AdversaryLeak* most = nullptr;
  if (!run.leak) return most;
  for (const step::AdversaryLeak& one : run.leak->adversaries) {
    if (one.best_image && (most == nullptr || one.best_image->share > most->best_image->share)) most = &one;
  }
  return most;
}

}  // namespace

std::string pictures_for_page(const Result& result) {
  Json pictures = Json::array();
  for (std::size_t run = 0; run < result.runs.size(); ++run) {
    const step::AdversaryLeak* most = shown_most(result.runs[run]);
    if (most == nullptr) continue;
    const step::ShownImage& image = *most->best_image;
    const bool drawn = image.shape.channels == 1 || image.shape.channels == 3;
    if (!drawn || image.original.empty() || image.shown.size() != image.original.size()) continue;
    const auto [darkest, brightest] = std::ranges::minmax(image.original);
    pictures.push_back({{"run", run},
                        {"adversary", spec::to_string(most->adversary)},
                        {"step", image.step},
                        {"site", image.site},
                        {"sample", image.sample},
                        {"share", number(image.share)},
                        {"height", image.shape.height},
                        {"width", image.shape.width},
                        {"channels", image.shape.channels},
                        {"original", levels(image.original, darkest, brightest)},
                        {"shown", levels(image.shown, darkest, brightest)}});
  }
  return pictures.empty() ? std::string() : pictures.dump();
}

}  // namespace dadsim::report
