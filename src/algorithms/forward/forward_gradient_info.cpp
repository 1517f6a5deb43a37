#include <fmt/format.h>

#include "algorithms/forward/blocks.hpp"
#include "algorithms/forward/forward_gradient.hpp"
#include "methods/idle_parameters.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {
namespace {
constexpr auto kPerturb = spec::choice<ForwardGradient::Perturb>(
    "perturb", {{"activity", ForwardGradient::Perturb::activity}, {"weight", ForwardGradient::Perturb::weight}},
    "activity: pre-activations move, for every sample along a direction of its own (FG-A); weight: weights "
    "move, along one direction per site (FG-W)");
constexpr auto kLoss = spec::choice<bool>(
    "loss", {{"global", false}, {"local", true}},
    "global: the network's; local: every block has a linear classifier at its end, and learns from its "
    "loss alone");
constexpr spec::IntegerParameter kBlocks{
    "blocks", 0, 1e6, "0",
    "local losses: parts of the network with a loss each; 0: every hidden matrix, or residual layer, is "
    "one"};
constexpr spec::IntegerParameter kGroups{
    "groups", 1, 65536, "1",
    "local losses: groups of channels, each with a copy of its block's loss and a derivative of its own"};
constexpr spec::IntegerParameter kDirections{"directions", 1, 10000, "1",
                                             "random directions per step, whose estimates are averaged"};
constexpr auto kShare = spec::choice<bool>(
    "share", {{"gradients", false}, {"ingredients", true}},
    "gradients: sums of them; ingredients: what they are made of, the factors x and c u of every sample, "
    "or with weights perturbed a seed and its scalars, from which all sites draw the directions again");

ForwardGradient::Options forward_options(const spec::ParameterValues& values) {
  return {.perturb = kPerturb.of(values),
          .local = kLoss.of(values),
          .blocks = kBlocks.of(values),
          .groups = kGroups.of(values),
          .directions = kDirections.of(values),
          .compact = kShare.of(values)};
}

}  // namespace

SynchronousMethod forward_gradient_method() {
  return {
      {.name = "forward-gradient",
       .description =
           "Sites differentiate forwards along random directions, without a backward pass, with one loss or one per "
           "block.",
       .source =
           "Ren, Kornblith, Liao, Hinton, Scaling Forward Gradient With Local Losses, ICLR 2023, arXiv 2210.03310; "
           "Baydin et al., Gradients without Backpropagation, arXiv 2202.08587",
       .payload =
           "pq; of ingredients N(p + q) with activities perturbed, and with weights perturbed 8 bytes of seed and a "
           "scalar a step",
       .family = "backward-free",
       .formula =
           "perturb=activity: u_i ~ N(0, 1) per sample, 0 where a ReLU is off; c_i = sum_l (dL_i/dz_l) . u_(i,l) by "
           "one "
           "forward derivative; G_l = sum_i (c_i u_(i,l)) x_(i,l)^T\n"
           "perturb=weight: v_s ~ N(0, 1) per site; c_s = (dL_s/dW) . v_s; G = sum_s c_s v_s\n"
           "loss=local: L_i is the loss of the layer's own block, and no derivative crosses from block to block\n"
           "groups=G: c_(i,g) = sum over units j of group g of (dL_i/dz_j) u_(i,j), by the paths inside that group",
       .compute =
           "One forward derivative per direction, which costs about one more forward pass (two with weights perturbed: "
           "W times the tangent and V times the input), and the random numbers; no backward pass. With local losses "
           "the "
           "heads of the hidden blocks.",
       .checks =
           "forward derivatives: central differences in double, relative difference below 1e-7\n"
           "means of 10,000 steps: the gradient of backpropagation within 5 standard errors, entry by entry\n"
           "scatter, measured / Table 1 of the paper: weights 1.001, activities 1.008\n"
           "seeds: 12 bytes a step and site\n"
           "8,000 digits of MNIST, test error: backpropagation 2.80 %, activities with 8 directions 4.05 %, with one "
           "4.95 %, weights 9.20 % (paper, 60,000 digits: 2.66, 3.24 and 9.25 %)",
       .parameters = {kPerturb, kLoss, kBlocks, kGroups, kDirections, kShare},
       .check = [](const RunFacts& facts) -> RunFaults {
         RunFaults faults = methods::faults_of_idle_parameters(facts.run.parameters, {{kBlocks, kLoss, {"local"}}});
         if (facts.model == nullptr) return faults;
         const ForwardGradient::Options options = forward_options(facts.run.parameters);
         const std::optional<Fault> fault =
             differentiation_fault(*facts.model, facts.sample, options.local, options.blocks, options.groups);
         if (fault) faults.push_back(Fault{fmt::format("'{}': {}", facts.run.algorithm, fault->what), fault->remedy});
         return faults;
       },
       .estimates = true,
       // The estimates of Δ, and, where factors are shared, those of all sites.
       .state =
           [](const spec::ParameterValues& values) {
             const ForwardGradient::Options options = forward_options(values);
             if (options.perturb == ForwardGradient::Perturb::weight) return estimate::AlgorithmState{};
             return estimate::AlgorithmState{options.compact
                                                 ? step::extent::all_rows() * (step::extent::in() + step::extent::out())
                                                 : step::extent::rows() * step::extent::out()};
           },
       .remark = [](const RunFacts& facts) -> std::string {
         const std::optional<models::Network> network = network_of(facts);
         if (!network || network->parameters().vectors.empty()) return "";
         return "forward-gradient leaves gains and shifts of norms as they are: those of its paper have none";
       }},
      [](const spec::RunSpec& run) { return std::make_unique<ForwardGradient>(forward_options(run.parameters)); }};
}

}  // namespace dadsim::algorithms
