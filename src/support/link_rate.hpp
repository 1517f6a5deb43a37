#pragma once

#include <string>

namespace dadsim {

/// Returns for example "10 Mbit/s", "200 Gbit/s"; from a terabit on in bytes: "450 GB/s".
std::string human_link_rate(double bytes_per_second);

}  // namespace dadsim
