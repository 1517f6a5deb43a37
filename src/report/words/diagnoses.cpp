#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

/// Words for a possible fault and its check.
struct CauseWords {
  const char* name;
  const char* words;                ///< part of a sentence
  const char* check;                ///< check under NCCL
  const char* rccl = nullptr;       ///< check under RCCL, if different
  const char* elsewhere = nullptr;  ///< check for devices with another library, and for processors
};

constexpr std::array kCauses{
    CauseWords{
        "tcp-for-rdma", "TCP instead of RDMA over the same adapters",
        "NCCL_DEBUG=INFO: \"NET/Socket\" instead of \"NET/IB\"; ibv_devinfo in the container; NCCL_IB_DISABLE unset"},
    CauseWords{"slow-interface", "a network of 10 Gbit/s in the place of the fast one",
               "NCCL_DEBUG=INFO names the interface; NCCL_SOCKET_IFNAME, NCCL_IB_HCA"},
    CauseWords{"one-adapter", "one adapter of a node instead of all",
               "NCCL_DEBUG=INFO lists one device behind \"NET/IB : Using\"; NCCL_IB_HCA; ibstat of each", nullptr,
               "the counters of each adapter or link of a node during a step"},
    CauseWords{"half-adapters", "half of a node's adapters",
               "NCCL_DEBUG=INFO lists fewer devices behind \"NET/IB : Using\" than the node has; ibstat of each",
               nullptr, "the counters of each adapter or link of a node during a step"},
    CauseWords{"through-the-cpu",
               "messages through the processor's memory: no GPUDirect RDMA, ACS, or adapters of another socket",
               "NCCL_DEBUG=INFO: no \"GDRDMA\"; lsmod | grep peermem; lspci -vvv | grep ACSCtl (SrcValid+ is on); "
               "nvidia-smi topo -m (PIX or PXB between GPU and adapter)",
               "NCCL_DEBUG=INFO: no \"GDRDMA\"; lsmod | grep ib_peer_mem, or DMA-BUF in the kernel; lspci -vvv | grep "
               "ACSCtl (SrcValid+ is on); rocm-smi --showtopo"},
    CauseWords{
        "pcie-for-nvlink", "PCIe or host memory instead of NVLink inside a node",
        "NCCL_DEBUG=INFO: \"via SHM\" instead of \"via P2P\"; NCCL_P2P_DISABLE, NCCL_P2P_LEVEL; nvidia-smi nvlink -s"},
    CauseWords{"no-overlap", "sums of gradients that nothing hides",
               "a profile (torch.profiler): NCCL's kernels begin behind the backward pass; find_unused_parameters, "
               "buckets, CUDA_DEVICE_MAX_CONNECTIONS",
               nullptr,
               "a profile: sums begin behind the backward pass; of XLA: the flags of its latency-hiding scheduler"},
    CauseWords{"small-buckets", "buckets of 1 MB",
               "bucket_cap_mb of DistributedDataParallel; a profile: many short sums", nullptr,
               "a profile: many short sums; the threshold at which the framework or XLA combines them"},
    CauseWords{"every-micro-batch", "gradients that are summed with every micro-batch (no no_sync)",
               "a profile: as many sums a step as micro-batches; model.no_sync(), set_requires_gradient_sync(False)",
               nullptr, "a profile: as many sums a step as micro-batches"},
    CauseWords{"sharded-parameters", "parameters that are gathered in each pass (ZeRO-3, FULL_SHARD)",
               "the framework's configuration: zero stage, sharding_strategy; a profile: all-gathers", nullptr,
               "the framework's configuration: axes over which parameters are divided; a profile: all-gathers"},
    CauseWords{"sharded-gradients", "gradients that are divided (ZeRO-2) instead of the optimizer alone",
               "the framework's configuration: zero stage; a profile: reduce-scatters with every micro-batch"},
    CauseWords{"wide-gradients", "gradients in fp32 instead of 16 bit",
               "a profile: twice the bytes in a sum; the communication hook, reduce_dtype", nullptr,
               "a profile: twice the bytes in a sum; the type of gradients"},
    CauseWords{"wide-precision", "products in fp32 or tf32 instead of the narrow precision",
               "a profile: names of kernels (s1688, sgemm instead of bf16, h1688); autocast is on in the forward pass",
               "a profile: names of kernels (Cijk_…_S_ instead of …_B_ and …_H_); autocast is on in the forward pass",
               "a profile: types of what products take; of JAX: dtype, jax_default_matmul_precision"},
    CauseWords{"blocks-again", "blocks that are computed again in the backward pass",
               "activation checkpointing in the configuration; a profile: forward kernels twice"},
    CauseWords{"plain-attention", "attention that writes its scores instead of flash attention",
               "a profile: softmax kernels by themselves instead of flash_fwd; attn_implementation", nullptr,
               "a profile: softmax by itself instead of a fused kernel; which attention the configuration names"},
    CauseWords{"experts-one-by-one",
               "experts launched one by one, once the host knows how many rows each has (no grouped products)",
               "a profile: a product for each expert, gaps before blocks with experts; moe_grouped_gemm, CUDA graphs",
               nullptr, "a profile: a product for each expert instead of one of all; gaps before blocks with experts"},
    CauseWords{"uneven-experts", "1.5 times the mean of rows at the device with most, which all wait for",
               "the router's counts of tokens for each expert; its auxiliary loss; a profile of each rank"},
    CauseWords{"very-uneven-experts", "twice the mean of rows at the device with most, which all wait for",
               "the router's counts of tokens for each expert; its auxiliary loss; a profile of each rank"},
    CauseWords{"wide-dispatch", "rows that go to experts as wide as activations instead of in fp8",
               "the dispatcher's configuration; a profile: twice the bytes on the way to experts"},
    CauseWords{"rows-for-each-expert", "rows that go once for each expert instead of once for each device",
               "which dispatcher the configuration names; a profile: an all-to-all instead of its kernels"},
    CauseWords{"experts-across-nodes", "devices that divide experts in different nodes",
               "the order of ranks: those that divide experts follow one another in a node; a profile: how long the "
               "all-to-alls take"},
    CauseWords{"low-clock", "clocks at 70 % (heat, power or application clocks)",
               "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER during a step: active slowdown reasons",
               "rocm-smi --showclocks --showpower during a step; amd-smi metric: throttling",
               "clocks, temperature and power during a step, by the vendor's monitor"},
    CauseWords{"slow-rank", "one device at half of its speed, which all wait for",
               "the step time of each rank without communication; nvidia-smi dmon on all nodes; dcgmi diag -r 3",
               "the step time of each rank without communication; rocm-smi on all nodes; rvs",
               "the step time of each rank without communication; the vendor's monitor on all nodes"},
};

const CauseWords& cause_of(const Statement& statement) {
  const auto found =
      std::ranges::find_if(kCauses, [&](const CauseWords& one) { return statement.text("cause") == one.name; });
  if (found == kCauses.end()) throw std::logic_error("there are no words for a cause");
  return *found;
}

bool is_under(const Statement& statement, const char* library) {
  return statement.has("library") && statement.text("library") == library;
}

std::string cause(const Statement& statement) {
  std::string text = cause_of(statement).words;
  if (statement.has("rate")) text += fmt::format(" ({:.2g} GB/s an adapter)", statement.number("rate") / 1e9);
  return text;
}

std::string cause_check(const Statement& statement) {
  const CauseWords& words = cause_of(statement);
  const bool nccl = is_under(statement, "nccl");
  const char* other = nccl ? nullptr : is_under(statement, "rccl") ? words.rccl : words.elsewhere;
  return fmt::format("Check: {}.", other == nullptr ? words.check : other);
}

std::string measured_in_words(const Statement& answer) {
  const double times = answer.number("times");
  return fmt::format("{}{} took {}, and {} ({} … {}) {} expected", answer.subject(),
                     times > 1 ? fmt::format(", the geometric mean of {:.0f} sizes,", times) : "",
                     human_seconds(answer.number("measured")), human_seconds(answer.number("expected")),
                     human_seconds(answer.number("low")), human_seconds(answer.number("high")),
                     answer.is("collective") ? "were" : "was");
}

std::string times_as_long_in_words(const Statement& answer) {
  return fmt::format("{:.2g}", answer.number("measured") / answer.number("expected"));
}

std::string diagnosed_normal(const Statement& answer) {
  return fmt::format("This is normal: {}.", measured_in_words(answer));
}

std::string diagnosed_slower(const Statement& answer) {
  return fmt::format("This is not normal: {}: {} times as long.", measured_in_words(answer),
                     times_as_long_in_words(answer));
}

std::string diagnosed_quicker(const Statement& answer) {
  return fmt::format(
      "This is quicker than it can be explained: {}. What was measured may not be what the scenario says.",
      measured_in_words(answer));
}

/// `answer`: its parts are causes.
std::string not_excluded(const Statement& answer) {
  return fmt::format("It cannot be told from {}.", listed(in_words(answer.parts)));
}

/// `answer`: its part is the nearest cause, if there is one.
std::string nothing_explains(const Statement& answer) {
  if (answer.parts.empty()) return "Nothing that is known here would make it so long.";
  return fmt::format("Nothing that is known here explains it by itself; nearest is {}.", in_words(answer.part()));
}

/// `answer`: its parts are causes, the nearest first, then others that explain the time too.
std::string explains_best(const Statement& answer) {
  std::string text = fmt::format("Best explained by {}, which would take {}", in_words(answer.part()),
                                 human_seconds(answer.number("seconds")));
  if (answer.parts.size() > 1) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < answer.parts.size(); ++i) others.push_back(in_words(answer.part(i)));
    text += fmt::format("; {} cannot be told from it by the time alone", listed(others));
  }
  return text + '.';
}

std::string input_bound(const Statement& statement) {
  return fmt::format(
      "An input of {} samples a second and worker would take as long. Check: the step with random data in place of the "
      "input; a profile: gaps at the begin of a step.",
      rate_in_words(statement.number("samples_per_second")));
}

std::string host_bound(const Statement& statement) {
  return fmt::format("So would a host that issues nothing for {} of a step. Check: a profile: gaps between kernels{}.",
                     human_seconds(statement.number("seconds")),
                     is_under(statement, "nccl") || is_under(statement, "rccl") ? "; torch.compile, CUDA graphs" : "");
}

std::string profiled(const Statement& statement) {
  std::string text =
      fmt::format("By the profile {} of it {} computing", human_seconds(statement.number("computing")), "is");
  text += fmt::format(" (expected: {}), {} communication", human_seconds(statement.number("expected_computing")),
                      human_seconds(statement.number("communicating")));
  if (statement.has("idle"))
    text += fmt::format(", and the device is idle for {}", human_seconds(statement.number("idle")));
  return text + '.';
}

std::string idle_device(const Statement& statement) {
  return fmt::format(
      "The device is idle for {} of the step: look at the input and at the host first, not at the network.",
      human_percent(statement.number("share")));
}

std::string validated(const Statement& statement) {
  const double rows = statement.number("rows");
  if (rows == 0) return "Nothing was predicted.";
  const double refused = statement.number("refused");
  const double inside = statement.number("inside");
  return fmt::format("{} of {} measurements lie in the band of their prediction ({}); mean error {}{}.", inside, rows,
                     human_percent(inside / rows), human_percent(statement.number("mean_error")),
                     refused > 0 ? fmt::format("; {} more {} refused", refused, refused == 1 ? "is" : "are") : "");
}

std::string validated_offset(const Statement& statement) {
  return fmt::format(
      "{}: measured ÷ predicted is {:.2f} in the mean, and rows differ by {} among themselves; a device that is "
      "calibrated on one of them (dadsim calibrate) keeps the second alone.",
      statement.subjects.at(0), statement.number("offset"), human_percent(statement.number("scatter")));
}

std::string rows_left_out(const Statement& statement) {
  return fmt::format("{} rows are of more devices: --devices all.", statement.number("rows"));
}

std::string error_of_prediction(const Statement& /*statement*/) {
  return "Errors are predicted ÷ measured − 1; a band holds nine measurements of ten of a table that nobody has seen "
         "(docs/bands.md); its width is half of what lies between its ends.";
}

constexpr std::array kDiagnoses{
    StatementKind{"cause", "something that may be wrong: a part of sentences", cause},
    StatementKind{"cause-check", "what tells whether it is", cause_check},
    StatementKind{"diagnosed-normal", "a measured time lies in the band of what is expected", diagnosed_normal},
    StatementKind{"diagnosed-slower", "it takes longer", diagnosed_slower},
    StatementKind{"diagnosed-quicker", "it takes less", diagnosed_quicker},
    StatementKind{"not-excluded", "causes that would leave it normal: they are its parts", not_excluded},
    StatementKind{"nothing-explains", "no cause takes as long: the nearest is a part of it", nothing_explains},
    StatementKind{"explains-best", "the cause that is nearest, and others that explain it too: its parts",
                  explains_best},
    StatementKind{"input-bound", "what an input would have to be that takes as long", input_bound},
    StatementKind{"host-bound", "the same of a host", host_bound},
    StatementKind{"profiled", "what a profile says of a step", profiled},
    StatementKind{"validated", "how many measured steps lie in the bands of their predictions", validated},
    StatementKind{"validated-offset", "how far a table of measured steps is off as a whole", validated_offset},
    StatementKind{"rows-left-out", "rows of published tables that --devices leaves out", rows_left_out},
    StatementKind{"error-of-prediction", "how errors and widths of bands are counted", error_of_prediction},
    StatementKind{"idle-device", "a profile shows a device that waits for nothing of the network", idle_device},
};

}  // namespace

std::span<const StatementKind> of_diagnoses() { return kDiagnoses; }

}  // namespace dadsim::report::words
