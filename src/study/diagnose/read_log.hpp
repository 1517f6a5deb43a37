#pragma once

#include <optional>
#include <string>

#include "formats/kineto.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// What `text`, the content of `file`, says that a step or a collective took. Known are, and told apart by what stands
/// in them:
///   - tables of nccl-tests (nccl_log.hpp): the sizes from 1 MiB on, at most four of them;
///   - torchtitan: "step: 10 … tps: 5,762 … mfu: 30.5%" (tps is of a device);
///   - Megatron-LM: "elapsed time per iteration (ms): 1234.5";
///   - key_averages().table() of torch.profiler, with the column "Self CUDA" and the row ProfilerStep*;
///   - a trace of torch.profiler as JSON (Kineto).
/// Of lines of training the median counts, the first of them left out where there are three or more: it has the start.
/// Throws InputError where the file is none of these, or what it has cannot be used.
Measurement read_log(const std::string& file, const std::string& text);

/// The same of a profile of torch.profiler alone; none where the text is something else.
std::optional<formats::ProfiledStep> read_profile(const std::string& file, const std::string& text);

}  // namespace dadsim::study
