#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scenario/element.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/load.hpp"
#include "scenario/schema.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

// Compared member by member. The structured bindings fail to compile when a member is added, so that none is forgotten.

bool same(const DigitsSource& a, const DigitsSource& b) { return a.train == b.train && a.test == b.test; }

bool same(const IdxSource& a, const IdxSource& b) {
  const auto& [images, labels, test_images, test_labels, train, test] = a;
  return std::tie(images, labels, test_images, test_labels, train, test) ==
         std::tie(b.images, b.labels, b.test_images, b.test_labels, b.train, b.test);
}

bool same(const SplitSpec& a, const SplitSpec& b) {
  const auto& [kind, alpha, shards, sizes] = a;
  return std::tie(kind, alpha, shards, sizes) == std::tie(b.kind, b.alpha, b.shards, b.sizes);
}

bool same(const DataSpec& a, const DataSpec& b) {
  const auto& [source, split] = a;
  if (source.index() != b.source.index() || !same(split, b.split)) return false;
  if (const auto* digits = std::get_if<DigitsSource>(&source)) return same(*digits, std::get<DigitsSource>(b.source));
  return same(std::get<IdxSource>(source), std::get<IdxSource>(b.source));
}

bool same(const DenseSpec& a, const DenseSpec& b) {
  const auto& [units, activation, bias] = a;
  return std::tie(units, activation, bias) == std::tie(b.units, b.activation, b.bias);
}

bool same(const OptimizerSpec& a, const OptimizerSpec& b) {
  const auto& [kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon] = a;
  return std::tie(kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon) ==
         std::tie(b.kind, b.learning_rate, b.momentum, b.nesterov, b.weight_decay, b.beta1, b.beta2, b.epsilon);
}

bool same(const ScheduleSpec& a, const ScheduleSpec& b) {
  const auto& [kind, warm_up_epochs, milestones, factor, final_factor] = a;
  return std::tie(kind, warm_up_epochs, milestones, factor, final_factor) ==
         std::tie(b.kind, b.warm_up_epochs, b.milestones, b.factor, b.final_factor);
}

bool same(const TrainingSpec& a, const TrainingSpec& b) {
  const auto& [batch, batches, epochs, target_accuracy, stop, evaluate_every, optimizer, schedule] = a;
  return std::tie(batch, batches, epochs, target_accuracy, stop, evaluate_every) ==
             std::tie(b.batch, b.batches, b.epochs, b.target_accuracy, b.stop, b.evaluate_every) &&
         same(optimizer, b.optimizer) && same(schedule, b.schedule);
}

bool same(const RunSpec& a, const RunSpec& b) {
  const auto& [algorithm, label, topology, parameters, communicates] = a;
  return std::tie(algorithm, label, topology, parameters, communicates) ==
         std::tie(b.algorithm, b.label, b.topology, b.parameters, b.communicates);
}

bool same(const TimedAsSpec& a, const TimedAsSpec& b) {
  const auto& [workload, batch] = a;
  return std::tie(workload, batch) == std::tie(b.workload, b.batch);
}

bool same(const DeviceSpec& a, const DeviceSpec& b) {
  const auto& [name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency, launch_overhead,
               source] = a;
  return std::tie(name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency,
                  launch_overhead, source) == std::tie(b.name, b.description, b.peak_flops, b.memory_bandwidth,
                                                       b.matrix_efficiency, b.memory_efficiency, b.launch_overhead,
                                                       b.source);
}

bool same(const Placement& a, const Placement& b) {
  const auto& [host, device] = a;
  return std::tie(host, device) == std::tie(b.host, b.device);
}

template <class Value>
bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return same(x, y); });
}

template <class Value>
bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

/// All but the path it was read from.
bool same(const Scenario& a, const Scenario& b) {
  const auto& [file, name, description, seed, platform, devices, workers, aggregator, data, model, training, timed_as,
               runs, hash] = a;
  static_cast<void>(file);
  return std::tie(name, description, seed, platform, hash) ==
             std::tie(b.name, b.description, b.seed, b.platform, b.hash) &&
         same(devices, b.devices) && same(workers, b.workers) && same(aggregator, b.aggregator) && same(data, b.data) &&
         same(model.layers, b.model.layers) && same(training, b.training) && same(timed_as, b.timed_as) &&
         same(runs, b.runs);
}

template <class... Texts>
std::string one_of(Texts... texts) {
  return *rc::gen::element<std::string>(texts...);
}

bool coin() { return *rc::gen::arbitrary<bool>(); }

std::int64_t between(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

/// A number in (0, 1) with digits to the last bit.
double share() {
  return (static_cast<double>(between(0, (std::int64_t{1} << 52U) - 2)) + 1) /
         static_cast<double>(std::int64_t{1} << 52U);
}

/// ` name="value"`, or nothing: both have to come back.
template <class Value>
std::string maybe(const char* name, const Value& value) {
  return coin() ? fmt::format(" {}=\"{}\"", name, value) : "";
}

std::string some_text() {
  // What XML has to escape, beyond ASCII, and white space that attributes lose unless it is written as a reference.
  return "x" +
         one_of("", "&amp;", "&amp;#38;", "&#38;", "&lt;tag&gt;", "&quot;'", "é – 数", "&#10;&#9;&#13;",
                "  two  spaces") +
         "y";
}

/// A right scenario at random.
std::string some_scenario() {
  const bool star = coin();
  const std::int64_t workers = between(1, 16);
  std::string xml =
      fmt::format("<scenario name=\"{}\"{}>", some_text(), maybe("seed", *rc::gen::arbitrary<std::uint64_t>()));
  if (coin()) xml += fmt::format("<description>{}</description>", some_text());
  xml += "<platform file=\"platform.xml\"/>";
  const bool own_device = coin();
  if (own_device) {
    xml += fmt::format(
        "<device name=\"mine\"{} peak-flops=\"{}f\" memory-bandwidth=\"{}Bps\" matrix-efficiency=\"{}\" "
        "memory-efficiency=\"{}\" launch-overhead=\"{}us\"/>",
        maybe("description", some_text()), share() * 1e15, share() * 1e13, share(), share(), share() * 100);
  }
  const std::string device = own_device ? one_of("mine", "rtx-3090") : one_of("v100-sxm2", "h100-sxm5");
  xml += fmt::format("<workers><worker hosts=\"gpu-[0-{}]\" device=\"{}\"/>", workers - 1, device);
  const bool another = coin();
  if (another) xml += "<worker hosts=\"site-2\" device=\"rtx-4090\"/>";
  const std::int64_t sites = workers + (another ? 1 : 0);
  if (star) xml += "<aggregator host=\"hub\" device=\"xeon-8380\"/>";
  xml += "</workers><data>";
  const bool idx = coin();
  if (idx && coin()) {
    xml += "<idx images=\"images\" labels=\"labels\" test-images=\"images\" test-labels=\"labels\"" +
           maybe("train", between(3000, 4000)) + maybe("test", between(1, 4000)) + "/>";
  } else if (idx) {
    xml += fmt::format("<idx images=\"images\" labels=\"labels\" train=\"{}\" test=\"{}\"/>", between(2500, 3000),
                       between(1, 1000));
  } else {
    xml += "<digits" + maybe("train", between(2500, 9000)) + maybe("test", between(1, 9000)) + "/>";
  }
  const std::string by = sites > 10 ? one_of("", "iid", "dirichlet", "shards", "sizes")  // a class goes to one site
                                    : one_of("", "iid", "class", "dirichlet", "shards", "sizes");
  if (!by.empty()) {
    xml += fmt::format("<split by=\"{}\"", by);
    if (by == "dirichlet") xml += maybe("alpha", 0.001 + share());
    if (by == "shards") xml += maybe("shards", between(1, 20));
    if (by == "sizes") {
      xml += " sizes=\"";
      for (std::int64_t i = 0; i < sites; ++i) xml += fmt::format("{} ", between(1, 100));
      xml += "\"";
    }
    xml += "/>";
  }
  xml += "</data><model>";
  for (std::int64_t i = between(0, 3); i > 0; --i) {
    xml +=
        fmt::format("<dense units=\"{}\"{}{}/>", between(1, 500),
                    maybe("activation", one_of("identity", "relu", "tanh", "sigmoid", "gelu")), maybe("bias", coin()));
  }
  xml += "<dense units=\"10\"/></model>";
  if (coin()) {
    xml += "<training" + maybe("batch", between(1, 100)) + maybe("batches", one_of("proportional", "equal")) +
           maybe("epochs", share() * 100) + maybe("target-accuracy", share()) +
           maybe("stop", one_of("budget", "target")) + maybe("evaluate-every", one_of("epoch", "1", "500")) + ">";
    const std::string optimizer = one_of("", "adam", "adamw", "sgd");
    if (optimizer == "sgd") {
      xml += "<sgd" + maybe("learning-rate", share());
      if (coin()) xml += fmt::format(" momentum=\"{}\"{}", share(), maybe("nesterov", coin()));
      xml += maybe("weight-decay", share()) + "/>";
    } else if (!optimizer.empty()) {
      xml += "<" + optimizer + maybe("learning-rate", share()) + maybe("beta1", share()) + maybe("beta2", share()) +
             maybe("epsilon", share() * 1e-7) + maybe("weight-decay", share()) + "/>";
    }
    const std::string kind = one_of("", "constant", "steps", "cosine");
    if (!kind.empty()) {
      xml += fmt::format("<schedule kind=\"{}\"{}", kind, maybe("warm-up-epochs", share()));
      if (kind == "steps")
        xml += fmt::format(" milestones=\"{} {}\"{}", between(1, 5), between(6, 9), maybe("factor", share()));
      if (kind == "cosine") xml += maybe("final-factor", share());
      xml += "/>";
    }
    xml += "</training>";
  }
  if (coin())
    xml += fmt::format("<timed-as workload=\"{}\"{}/>", one_of("resnet-50", "vit-b-16", "bert-base"),
                       maybe("batch", between(1, 512)));
  for (std::int64_t i = between(1, 4); i > 0; --i) {
    const std::string algorithm =
        one_of("pooled", "no-sharing", "gradient-sharing", "dad", "edad", "rank-dad", "rank-dad");
    xml += fmt::format("<run algorithm=\"{}\"", algorithm);
    if (coin()) xml += fmt::format(" label=\"{} {}\"", some_text(), i);
    if (algorithm != "pooled" && algorithm != "no-sharing")
      xml += maybe("exchange", star ? one_of("aggregator", "peer") : "peer");
    if (algorithm == "rank-dad") {
      xml += maybe("cap", between(1, 65536)) + maybe("iterations", between(1, 1000)) + maybe("tolerance", share()) +
             maybe("mode", one_of("two-way", "one-way"));
    }
    xml += "/>";
  }
  return xml + "</scenario>";
}

TEST(RoundTrip, PrintedScenarioLoadsAsTheSame) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  folder.write("platform.xml", fake_platform());
  folder.write("images", "4000 784 10");
  folder.write("labels", "");
  const Catalog catalog = fake_catalog();
  const bool held = rc::check("load(print(s)) equals s", [&] {
    const std::string xml = some_scenario();
    const Scenario scenario = load_scenario(folder.write("scenario.xml", xml), {}, catalog);
    const std::string printed = print_scenario(scenario);
    RC_LOG() << xml << "\n" << printed;
    const Scenario again = load_scenario(elsewhere.write("printed.xml", printed), {}, catalog);
    RC_ASSERT(same(again, scenario));
    RC_ASSERT(print_scenario(again) == printed);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace dadsim::test
