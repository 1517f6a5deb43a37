#pragma once

#include <string>
#include <vector>

#include "study/composition/cluster_shapes.hpp"

namespace dadsim::study {

/// Returns shapes for timed networks, for devices and for <timing-only>.
inline std::vector<Shape> timed_shapes() {
  using namespace shape;
  const std::string share = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";
  const std::string decoder =
      R"(workload="decoder" layers="4" hidden="192" heads="6" kv-heads="{2|6}" feed-forward="256" vocabulary="500" sequence="64" batch="4")";
  const std::string small = R"(workload="decoder" layers="4" vocabulary="500" sequence="64" batch="4")";
  const std::string experts = decoder + R"( experts="4" expert-feed-forward="128")";
  const std::string bert = R"(workload="bert" layers="2" hidden="192" heads="6" sequence="64" batch="4" masked="5")";
  const std::string vit = R"(workload="vit" layers="2" hidden="192" heads="6" patch="8" image="64" batch="4")";
  const auto times = [&](const std::string& attributes) {
    return clique("8") + "<timing-only/><timed-as " + attributes + "/>" + share;
  };
  const auto learns = [&](const std::string& attributes, const std::string& beside = "") {
    return lines() + kLearning + "<timed-as " + attributes + "/>" + kBoth + beside;
  };
  const auto sized = [&](const char* name, const std::string& attributes) {
    return Shape{fmt::format("timed-as.{}", name), times(attributes)};
  };
  // Returns a custom device and the workload that is timed on it.
  const auto mine = [&](const std::string& attributes, const std::string& timed, const std::string& inside = "",
                        const std::string& beside = "") {
    return lines(R"(latency="1ms")", R"(latency="1ms")", "", "mine") +
           fmt::format(
               R"(<device name="mine" peak-flops="20Tf" memory-bandwidth="{{300GBps|900GBps}}" matrix-efficiency="0.5" memory-efficiency="0.7" launch-overhead="5us" {}>{}</device><timed-as {}/>)",
               attributes, inside, timed) +
           kLearning + share + beside;
  };
  const std::string resnet = R"(workload="resnet-18-cifar10" batch="{4|16}")";
  const std::string base = R"(workload="bert-base" batch="{4|16}")";
  const std::string halves = R"(tf32-flops="40Tf" fp16-flops="80Tf" bf16-flops="80Tf")";
  const std::string federated = R"(<run algorithm="fedavg" rounds="2" local-epochs="1"/>)";
  std::vector<Shape> shapes{
      {"device.*", mine("", resnet)},
      {"device.tf32-flops", mine(halves, resnet + R"( precision="tf32")")},
      {"device.fp16-flops", mine(halves, resnet + R"( precision="fp16")")},
      {"device.bf16-flops", mine(halves, resnet + R"( precision="bf16")")},
      {"device.fp8-flops", mine(halves + R"( fp8-flops="160Tf")", base + R"( precision="fp8")"), {"30Tf", "2Tf"}},
      {"device.fp4-flops",
       mine(halves + R"( fp8-flops="160Tf" fp4-flops="320Tf")", base + R"( precision="nvfp4")"),
       {"30Tf", "2Tf"}},
      {"device.tile-rows",
       mine("tile-rows=\"64\"", R"(workload="bert" layers="2" sequence="16" masked="4" batch="1")"),
       {"1", "512"}},
      {"device.kernels", mine(halves + R"( kernels="ampere")", base + R"( precision="bf16")")},
      {"device.watts", mine("watts=\"200\"", resnet, "", "<costs electricity=\"0.3\"/>")},
      {"device.memory", mine("memory=\"80GB\"", resnet)},
      {"efficiency.of", mine(halves, base + R"( precision="bf16")", R"(<efficiency of="dense" share="0.3"/>)")},
      {"efficiency.precision",
       mine(halves, base + R"( precision="bf16")", R"(<efficiency of="dense" precision="bf16" share="0.3"/>)")},
      {"efficiency.share", mine(halves, base, R"(<efficiency of="dense" share="0.3"/>)")},
      {"efficiency.source",
       mine(halves, base, R"(<efficiency of="dense" share="0.3" source="a data sheet"/>)"),
       {"calibrated on bert-base"}},
      {"timing-only.payload", lines() + R"(<timing-only payload="2MB"/>)" + federated, {"1MB", "25MB"}},
      {"timing-only.step-time", lines() + R"(<timing-only payload="2MB"/>)" + federated},
      {"timing-only.samples",
       lines() + R"(<timing-only samples="40"/><timed-as workload="resnet-18-cifar10" batch="4"/>)" + federated,
       {"8", "80"}},
      {"timed-as.*", times(decoder)},
      {"timed-as.file", learns("file=\"own.xml\""), {"own.csv"}},
      {"timed-as.workload", learns("workload=\"resnet-18\" batch=\"4\"")},
      {"timed-as.batch", times(base)},
      {"timed-as.input-rate", times(resnet + R"( input-rate="1")")},
      {"timed-as.steps", learns(R"(workload="resnet-18" batch="4" steps="100")")},
      {"timed-as.epochs", learns(R"(workload="resnet-18" batch="4" epochs="1")")},
      {"timed-as.samples", times(R"(workload="resnet-18" batch="4" samples="2000")")},
      {"timed-as.tokens", times(decoder + R"( tokens="500k")")},
      {"timed-as.target", learns(R"(workload="resnet-18" batch="4" steps="100" target="it is good")")},
      {"timed-as.evaluation-every",
       learns(R"(workload="resnet-18" batch="4" steps="100" evaluation-every="10" evaluation-seconds="20")")},
      {"timed-as.evaluation-seconds",
       learns(R"(workload="resnet-18" batch="4" steps="100" evaluation-every="10" evaluation-seconds="20")")},
      {"timed-as.start-up", learns(R"(workload="resnet-18" batch="4" steps="100" start-up="1s")")},
      {"timed-as.attention", times(base + R"( attention="plain")")},
      {"timed-as.program", times(base + R"( precision="bf16" program="eager")")},
      {"timed-as.operator-time",
       times(base + R"( precision="bf16" program="eager" operator-time="1ms")"),
       {"2ms", "9ms"}},
      {"timed-as.gradients", times(base + R"( precision="fp16" gradients="fp32")")},
      {"timed-as.loss-scaling", times(base + R"( precision="fp16" loss-scaling="true")")},
      {"timed-as.sequence-parallel", times(base + R"( tensor="2" sequence-parallel="true")")},
      {"timed-as.tensor-overlap", times(decoder + R"( tensor="2" sequence-parallel="true" tensor-overlap="backward")")},
      {"timed-as.tensor", times(decoder + R"( tensor="2")")},
      {"timed-as.pipeline", times(decoder + R"( pipeline="2" micro-batch="1")")},
      {"timed-as.schedule", times(decoder + R"( pipeline="2" micro-batch="1" schedule="1f1b")")},
      {"timed-as.interleave", times(decoder + R"( pipeline="2" micro-batch="1" interleave="2")")},
      {"timed-as.micro-batch", times(decoder + R"( micro-batch="1")")},
      {"timed-as.context", times(decoder + R"( context="2")")},
      {"timed-as.context-exchange", times(decoder + R"( context="2" context-exchange="ring")")},
      {"timed-as.sharding", times(decoder + R"( sharding="optimizer")")},
      {"timed-as.sharding-group", times(decoder + R"( sharding="parameters" sharding-group="2")"), {"4", "1"}},
      {"timed-as.prefetch", times(decoder + R"( sharding="parameters" prefetch="1")")},
      {"timed-as.offload", times(decoder + R"( offload="optimizer" offload-rate="10GBps" host-rate="10GBps")")},
      {"timed-as.offload-rate", times(decoder + R"( offload="optimizer" offload-rate="10GBps" host-rate="10GBps")")},
      {"timed-as.host-rate", times(decoder + R"( offload="optimizer" offload-rate="10GBps" host-rate="10GBps")")},
      {"timed-as.adapters", times(decoder + R"( adapters="8")")},
      {"timed-as.adapted", times(decoder + R"( adapters="8")")},
      {"timed-as.experts", times(experts)},
      {"timed-as.experts-per-token", times(experts)},
      {"timed-as.experts-every", times(experts)},
      {"timed-as.expert-feed-forward", times(experts)},
      {"timed-as.shared-feed-forward", times(experts)},
      {"timed-as.dense-layers", times(experts)},
      {"timed-as.expert-parallel", times(experts + R"( expert-parallel="2")"), {"4", "1"}},
      {"timed-as.expert-imbalance", times(experts + R"( expert-parallel="2" expert-imbalance="1.5")")},
      {"timed-as.expert-capacity",
       times(experts + R"( expert-parallel="2" expert-imbalance="1.5" expert-capacity="1.25")")},
      {"timed-as.expert-tensor",
       times(experts + R"( tensor="2" sequence-parallel="true" expert-parallel="2" expert-tensor="2")")},
      {"timed-as.full-every", times(decoder + R"( window="16" full-every="2" attention="flash")"), {"0", "1"}},
      {"timed-as.window", times(decoder + R"( window="16" attention="flash")"), {"0", "48"}},
      sized("masked", bert),
      sized("mean-length", bert),
      sized("classes", vit),
      {"timed-as.image", times(R"(workload="vit" layers="2" hidden="192" heads="6" patch="8" image="64" batch="4")")},
      {"timed-as.patch", times(vit), {"16", "4"}},
      {"timed-as.layers", times(decoder), {"2", "6"}},
      {"timed-as.hidden", times(small + R"( hidden="192" heads="6" kv-heads="2" feed-forward="256")"), {"384", "768"}},
      {"timed-as.heads", times(small + R"( hidden="192" heads="6" kv-heads="2" feed-forward="256")"), {"12", "2"}},
      {"timed-as.kv-heads", times(small + R"( hidden="192" heads="6" kv-heads="2" feed-forward="256")"), {"6", "3"}},
      {"timed-as.feed-forward", times(small + R"( hidden="192" heads="6" kv-heads="2" feed-forward="256")"), {"512"}},
      {"timed-as.head-size", times(small + R"( hidden="192" heads="6" kv-heads="2" head-size="32")"), {"64", "48"}},
      {"timed-as.vocabulary", times(decoder), {"1000", "30000"}},
      {"timed-as.sequence", times(decoder), {"32", "128"}},
      {"timed-as.positions", times(decoder + R"( positions="64")"), {"0", "256"}},
  };
  return shapes;
}

}  // namespace dadsim::study
