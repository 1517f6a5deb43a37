#pragma once

#include <string>

namespace dadsim {

std::string list_algorithms();  ///< with parameters, ranges, payload and source
std::string list_devices();     ///< with rates and source
std::string list_workloads();   ///< with parameters, multiply-adds and source

}  // namespace dadsim
