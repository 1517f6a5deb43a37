#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dadsim::study {

/// Does a piece of a TaskQueue with the scenario that lies at `path`, and returns what TaskQueue::take() reads.
/// `states`: what the piece names, by name, as bytes. Throws InputError where the scenario is another one there, or the
/// piece is damaged; SimulationError, Cancelled.
std::string do_tasks(const std::string& path, std::string_view piece, const std::map<std::string, std::string>& states);

}  // namespace dadsim::study
