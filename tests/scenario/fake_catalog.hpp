#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>

#include "scenario/language/catalog.hpp"

namespace dadsim::test {

inline std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

/// Returns the facts about a data source. A file contains three numbers (samples, values per sample, classes), or has
/// an error.
inline scenario::Catalog::DataAnswer fake_data(const spec::DataSource& source) {
  scenario::Catalog::DataAnswer answer;
  spec::DataFacts& facts = answer.facts;
  const auto numbers = [&](const std::string& path) {
    std::istringstream text(file_content(path));
    spec::DataFacts found;
    found.shape = {1, 0, 1};
    if (!(text >> found.train >> found.shape.width >> found.classes)) {
      answer.errors.push_back({path, 0, "not an IDX file", "magic number 2051"});
    }
    return found;
  };
  const auto pair = [&](const std::string& train, const std::string& test) {
    facts = numbers(train);
    if (test.empty()) return;
    const spec::DataFacts held_back = numbers(test);
    facts.test = held_back.train;
    facts.classes = std::max(facts.classes, held_back.classes);
    if (held_back.shape != facts.shape) answer.errors.push_back({test, 0, "other images", "of the same size"});
  };
  const auto drawn = [&](const spec::SampleShape& shape, std::int64_t classes) {
    facts = {spec::kMaxDrawnSamples, {}, shape, classes};
  };
  const auto share = [&](double test_share) {
    facts.test = std::llround(static_cast<double>(facts.train) * test_share);
    facts.train -= *facts.test;
  };
  std::visit(
      [&](const auto& one) {
        using Source = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Source, spec::DigitsSource>) drawn({28, 28, 1}, 10);
        if constexpr (std::is_same_v<Source, spec::ShapesSource>) drawn({32, 32, 3}, 10);
        if constexpr (std::is_same_v<Source, spec::UtterancesSource>) drawn({1, one.length, 13}, 10);
        if constexpr (std::is_same_v<Source, spec::TabularSource>) drawn({1, 1, one.features}, one.classes);
        if constexpr (std::is_same_v<Source, spec::IdxSource>) pair(one.images, one.test_images);
        if constexpr (std::is_same_v<Source, spec::TsSource>) pair(one.train_file, one.test_file);
        if constexpr (std::is_same_v<Source, spec::Cifar10Source>) {
          pair(one.files.back(), one.test_files.empty() ? "" : one.test_files.back());
        }
        if constexpr (std::is_same_v<Source, spec::CsvSource>) {
          pair(one.file.empty() ? one.site_files.front() : one.file, one.test_file);
          if (one.test_file.empty()) share(one.test_share);
          facts.sites = one.site_files;
          if (!one.site.empty()) facts.sites = {"north", "south", "west"};
        }
        if constexpr (std::is_same_v<Source, spec::GrammarSource>) {
          facts = {spec::kMaxDrawnSamples, {}, {1, one.length, 1, 10}, 10, one.length};
        }
        if constexpr (std::is_same_v<Source, spec::TextSource>) {
          pair(one.file, "");
          share(one.test_share);
          facts.shape = {1, one.length, 1, facts.classes};
          facts.labels_per_sample = one.length;
        }
      },
      source);
  return answer;
}

/// Returns the real names and parameters, with simple substitutes for other folders of src/. A SimGrid platform file
/// has a host if it contains id="<host>", and a route between two hosts unless it contains "no route <a> <b>". A data
/// file contains three numbers: samples, values per sample, classes.
inline scenario::Catalog fake_catalog() {
  scenario::Catalog catalog;
  const std::vector<spec::ParameterSpec> none;
  catalog.compressors = {
      {"none", none, true},
      {"fp16", none, false},
      {"bf16", none, false},
      {"int8",
       {{"rounding", spec::ParameterSpec::Type::choice, 0, 0, "stochastic", {"stochastic", "nearest"}, ""}},
       false},
      {"e3m0",
       {{"rounding", spec::ParameterSpec::Type::choice, 0, 0, "stochastic", {"stochastic", "nearest"}, ""}},
       false}};
  for (const char* name : {"top-k", "random-k", "random-block", "sidco", "redsync", "gaussian-k", "dgc", "qsgd",
                           "terngrad", "natural", "sign"}) {
    catalog.compressors.push_back({.name = name, .parameters = none});
  }
  const auto method = [&](const char* name, std::vector<spec::ParameterSpec> parameters = {},
                          methods::Sharing sharing = methods::Sharing::one_network) -> methods::MethodInfo& {
    catalog.algorithms.push_back({.name = name});
    methods::MethodInfo& info = catalog.algorithms.back();
    info.parameters = std::move(parameters);
    info.sharing = sharing;
    if (info.decentralised()) info.forgets = methods::kSendsWeights;
    info.follows_drift = false;
    return info;
  };
  method("pooled", {}, methods::Sharing::pooled);
  method("no-sharing", {}, methods::Sharing::no_sharing);
  method("gradient-sharing").is_baseline = true;
  method("dad");
  method("edad");
  const spec::ParameterSpec cap = spec::integer_parameter("cap", 1, 65536, "8", "");
  method("rank-dad", {cap, spec::integer_parameter("iterations", 1, 1000, "10", ""),
                      spec::real_parameter("tolerance", 0, 1, "0.01", ""),
                      spec::choice_parameter("mode", {"two-way", "one-way"}, "")});
  method("power-sgd",
         {spec::integer_parameter("rank", 1, 65536, "2", ""), spec::choice_parameter("start", {"warm", "random"}, ""),
          spec::integer_parameter("uncompressed-steps", 0, 1e9, "0", "")});
  method("top-k", {spec::real_parameter("fraction", 1e-9, 1, "0.01", "")});
  for (const char* name : {"sign-sgd", "one-bit-adam", "demo"}) method(name);
  methods::MethodInfo& flexible =
      method("flexible", {spec::choice_parameter("policy", {"rules", "bytes", "time"}, ""),
                          spec::choice_parameter("default", {"gradient", "dad", "edad", "rank-dad"}, ""),
                          spec::choice_parameter("lossy", {"false", "true"}, ""), cap});
  flexible.statistics = {{"gradient"}, {"dad"}, {"edad"}, {"rank-dad", false}, {"none", false, true}};
  flexible.check = [](const methods::RunFacts& facts) {
    methods::RunFaults faults;
    if (facts.model == nullptr) return faults;
    const spec::RunSpec& run = facts.run;
    for (std::size_t i = 0; i < run.share.size(); ++i) {
      if (run.share[i].layers == "nothing") {
        faults.push_back({static_cast<std::ptrdiff_t>(i), "no layer is called that",
                          "one of " + std::to_string(facts.model->layers.size())});
      }
    }
    if (run.average_deltas_above == "nothing") faults.push_back({-2, "no layer is called that", "another"});
    return faults;
  };
  method("d-psgd", {spec::choice_parameter("graph", {"ring", "complete"}, "")}, methods::Sharing::own_weights);
  for (const char* name : {"d2", "gradient-tracking", "choco-sgd", "power-gossip", "sgp", "sparse-push"})
    method(name, {}, methods::Sharing::own_weights);
  for (const char* name : {"dp-sgd", "rgp", "lsg", "forward-gradient"}) method(name);
  method("cogd", {spec::integer_parameter("cap", 0, 1e6, "1", "")});
  constexpr methods::Sharing kEventDriven = methods::Sharing::event_driven;
  for (const char* name : {"partial-gradient-sharing", "partial-dad"}) method(name, {}, kEventDriven);
  method("partial-rank-dad", {cap}, kEventDriven);
  for (const char* name : {"fedavg", "fedprox", "scaffold", "fedopt", "hierfavg", "fedbuff", "fedasync", "local-sgd",
                           "diloco", "streaming-diloco", "async-sgd", "ad-psgd", "flare"}) {
    method(name, {}, kEventDriven);
  }
  catalog.devices = {"v100-sxm2", "a100-sxm4-40", "a100-sxm4-80", "h100-sxm5", "rtx-3090", "rtx-4090", "xeon-8380"};
  const auto link = [](const char* name, double bandwidth, double latency, spec::Transport transport,
                       double efficiency) {
    return spec::LinkSpec{name, bandwidth, latency, transport, efficiency, 3e5, "made up"};
  };
  catalog.links = {link("nvlink-4", 450e9, 1e-6, spec::Transport::nvlink, 0.8),
                   link("pcie-3", 15.75e9, 1e-6, spec::Transport::rdma, 0.8),
                   link("ib-edr", 12.5e9, 1e-6, spec::Transport::rdma, 0.9),
                   link("ib-ndr", 50e9, 1e-6, spec::Transport::rdma, 0.95),
                   link("ethernet-1g", 125e6, 2e-5, spec::Transport::tcp, 0.94),
                   link("ethernet-10g", 1.25e9, 1e-5, spec::Transport::tcp, 0.95),
                   link("cable-up", 5e6, 8e-3, spec::Transport::tcp, 0.95),
                   link("cable-down", 3e7, 8e-3, spec::Transport::tcp, 0.95)};
  catalog.all_reduces = {"auto", "ring", "tree"};
  catalog.all_gathers = {"auto", "ring", "direct"};
  catalog.reduce_scatters = {"auto", "ring", "direct"};
  catalog.regions = {"aws:eu-west-1", "aws:us-east-1", "gcp:asia-east1-a"};
  // The two directions differ, and one direction between the second and the third region is missing.
  catalog.region_pair = [](const std::string& from, const std::string& to) -> std::optional<spec::WanSpec::Pair> {
    if (from == "gcp:asia-east1-a" && to == "aws:us-east-1") return std::nullopt;
    return spec::WanSpec::Pair{from, to, from < to ? 6e8 : 5e8, 0.07, spec::Transport::tcp};
  };

  catalog.check_platform = [](const scenario::Catalog::PlatformQuestion& question) {
    scenario::Catalog::PlatformAnswer answer;
    answer.host_errors.resize(question.hosts.size());
    const auto* file = std::get_if<spec::PlatformFileSpec>(&question.platform.what);
    if (file == nullptr) return answer;
    const std::string platform = file_content(file->path);
    if (platform.find("<host") == std::string::npos) {
      answer.file_errors.push_back({file->path, 1, "no hosts", "a SimGrid platform file"});
      return answer;
    }
    for (std::size_t i = 0; i < question.hosts.size(); ++i) {
      if (platform.find("id=\"" + question.hosts[i] + "\"") == std::string::npos) {
        answer.host_errors[i] = "no host '" + question.hosts[i] + "'; a host of the platform";
      }
    }
    for (const auto& [a, b] : question.pairs) {
      const std::string pair = question.hosts.at(a) + " " + question.hosts.at(b);
      if (platform.find("no route " + pair) != std::string::npos)
        answer.route_errors.push_back("no route " + pair + "; add one");
    }
    return answer;
  };

  catalog.inspect_data = fake_data;
  return catalog;
}

/// Returns a platform with hosts hospital-1 … hospital-5, hub, gpu-0 … gpu-15, site-1, site-2.
inline std::string fake_platform() {
  std::string text = "<platform version=\"4.1\">\n";
  const auto hosts = [&](const std::string& prefix, int first, int last) {
    for (int i = first; i <= last; ++i) text += "<host id=\"" + prefix + std::to_string(i) + "\"/>\n";
  };
  hosts("hospital-", 1, 5);
  hosts("gpu-", 0, 15);
  hosts("site-", 1, 2);
  return text + "<host id=\"hub\"/>\n</platform>\n";
}

}  // namespace dadsim::test
