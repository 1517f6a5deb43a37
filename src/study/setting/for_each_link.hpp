#pragma once

#include <functional>

#include "spec/platform_specification.hpp"

namespace dadsim::study {

/// Calls `link` for every link of a declared platform, including absent ones with bandwidth 0, and `pair` for every
/// direction between regions or clusters. Skips links of a platform file, which cannot be changed here.
void for_each_link(spec::PlatformSpec& platform, const std::function<void(spec::LinkSpec&)>& link,
                   const std::function<void(spec::WanSpec::Pair&)>& pair);

}  // namespace dadsim::study
