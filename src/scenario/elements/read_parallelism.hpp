#pragma once

#include "scenario/elements/read.hpp"

namespace dadsim::scenario {

/// How many devices a worker is of, as <timed-as> says; 1 where that is left out or wrong (what is wrong is found when
/// the element is read).
std::int64_t devices_per_worker(const Element* timed_as);

/// That the devices can be dealt out to workers, and that the runs can be divided so.
void check_parallelism(const Element& timed_as, const spec::TimedAsSpec& timed, std::size_t devices,
                       const std::vector<spec::RunSpec>& runs, const ReadContext& context);

}  // namespace dadsim::scenario
