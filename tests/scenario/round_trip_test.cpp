#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/language/schema.hpp"
#include "scenario/malformed_cases.hpp"
#include "scenario/same.hpp"
#include "scenario/some_platform.hpp"
#include "scenario/xml/element.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

/// Returns text in the escaped form of an attribute.
std::string escaped(const std::string& text) { return replaced(text, "&", "&amp;"); }

/// Returns <timed-as> with a catalogue workload, a workload file, or the learned network itself.
std::string some_timed_as(const TemporaryFolder& folder) {
  const std::string what = one_of("workload", "xml", "csv", "itself");
  std::string xml = "<timed-as";
  if (what == "workload") xml += fmt::format(" workload=\"{}\"", one_of("resnet-50", "vit-b-16"));
  if (what == "xml") {
    xml += " file=\"own.xml\"";
    folder.write(
        "own.xml",
        fmt::format("<workload name=\"{}\" samples-per-epoch=\"{}\"><layer name=\"a\" kind=\"dense\" in=\"{}\" "
                    "out=\"3\"{}{}/></workload>",
                    some_text(), between(1, 1'000'000), between(1, 1000), maybe("rows-per-sample", between(0, 9)),
                    maybe("sequential", between(1, 9))));
  }
  if (what == "csv") {
    xml += " file=\"own.csv\"";
    folder.write(
        "own.csv",
        fmt::format("layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample\nfc,dense,{},7,1,70,70\n",
                    between(1, 10)));
  }
  if (what == "workload") xml += maybe("image", 32 * between(1, 20));
  xml += maybe("batch", between(1, 512)) + maybe("input-rate", 1 + 1000 * share());
  xml += coin() ? maybe("precision", one_of("fp32", "tf32", "fp16", "bf16"))
                : fmt::format(" precision=\"fp16\"{}{}{}", maybe("loss-scaling", coin()),
                              maybe("masters", one_of("fp32", "none")),
                              maybe("moments", one_of("auto", "fp32", "weights", "8bit")));
  xml += coin() ? fmt::format(" program=\"eager\"{}", maybe("operator-time", fmt::format("{}us", between(1, 99))))
                : maybe("program", one_of("tuned", "compiled", "graphs"));
  if (what != "itself") {
    const std::string known = one_of("", "steps", what == "csv" ? "steps" : "epochs");
    if (!known.empty()) xml += fmt::format(" {}=\"{}\"{}", known, 1 + 100 * share(), maybe("target", some_text()));
    if (coin())
      xml += fmt::format(" evaluation-every=\"{}\" evaluation-seconds=\"{}\"", between(1, 1000), 100 * share());
    xml += maybe("start-up", coin() ? "0" : fmt::format("{}s", 100 * share()));
  }
  return xml + "/>";
}

/// Returns a random valid scenario. Its platform is a SimGrid file, inline, or a dadsim file, which is written as
/// cluster.xml.
std::string some_scenario(const TemporaryFolder& folder) {
  const bool star = coin();
  std::string xml =
      fmt::format("<scenario name=\"{}\"{}>", some_text(), maybe("seed", *rc::gen::arbitrary<std::uint64_t>()));
  if (coin()) xml += fmt::format("<description>{}</description>", some_text());
  SomePlatform platform;
  const std::string place = one_of("simgrid", "inside", "inside", "file");
  if (place == "simgrid") {
    for (std::int64_t i = 0; i < 16; ++i) platform.hosts.push_back(fmt::format("gpu-{}", i));
    platform.hosts.push_back("hub");
    xml += fmt::format("<platform file=\"platform.xml\"{}{}>{}</platform>", maybe("transport", some_transport()),
                       maybe("description", some_text()), some_background(platform.hosts));
  } else {
    platform = some_declared_platform();
    if (place == "inside") {
      xml += fmt::format("<platform{}>{}</platform>", maybe("description", some_text()), platform.inside);
    } else {
      folder.write("cluster.xml", fmt::format("<!-- <platform> -->\n<cluster-platform{}>{}</cluster-platform>",
                                              maybe("description", some_text()), platform.inside));
      xml += fmt::format("<platform file=\"cluster.xml\"{}>{}</platform>", maybe("description", some_text()),
                         coin() ? "<profile link=\"another\" times=\"0\" factors=\"2\"/>" : "");
    }
  }
  const std::int64_t workers = between(1, std::min<std::int64_t>(16, static_cast<std::int64_t>(platform.hosts.size())));
  const bool own_device = coin();
  if (own_device) {
    xml += fmt::format(
        "<device name=\"mine\"{} peak-flops=\"{}f\" memory-bandwidth=\"{}Bps\" matrix-efficiency=\"{}\" "
        "memory-efficiency=\"{}\" launch-overhead=\"{}us\"{}",
        maybe("description", some_text()), share() * 1e15, share() * 1e13, share(), share(), share() * 100,
        maybe("step-time", fmt::format("{}ms", share() * 100)));
    // Writes all peaks, as the scenario may use any precision.
    for (const char* peak : {"tf32-flops", "fp16-flops", "bf16-flops"})
      xml += fmt::format(" {}=\"{}f\"", peak, share() * 1e15);
    xml += maybe("memory", fmt::format("{}MB", 1 + share() * 1e5)) + maybe("watts", fmt::format("{}", share() * 1e3)) +
           maybe("ramp-time", fmt::format("{}us", share() * 100)) + maybe("tile-rows", one_of("1", "64")) +
           maybe("winograd-share", fmt::format("{}", share())) + ">";
    if (coin()) xml += fmt::format("<efficiency of=\"convolution\" precision=\"fp16\" share=\"{}\"/>", share());
    if (coin()) xml += fmt::format("<efficiency of=\"{}\" share=\"{}\"/>", one_of("dense", "attention"), share());
    xml += "</device>";
  }
  const std::string device = own_device ? one_of("mine", "rtx-3090") : one_of("v100-sxm2", "h100-sxm5");
  std::string hosts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(workers); ++i) hosts += platform.hosts[i] + " ";
  xml += fmt::format("<workers{}><worker hosts=\"{}\" device=\"{}\"/>", maybe("memory", one_of("check", "ignore")),
                     escaped(hosts), device);
  const std::string last = escaped(platform.hosts.back());
  const bool another = coin();
  if (another) xml += fmt::format("<worker hosts=\"{}\" device=\"rtx-4090\"/>", last);
  const std::int64_t sites = workers + (another ? 1 : 0);
  if (star) xml += fmt::format("<aggregator host=\"{}\" device=\"xeon-8380\"/>", last);
  xml += "</workers><data>";
  bool whole_labels = true;
  xml += some_source(whole_labels);
  if (coin() && whole_labels)
    xml += "<shift" + maybe("gain", share() * 3) + maybe("offset", share()) + maybe("noise", share()) + "/>";
  const std::string by = !whole_labels ? one_of("", "iid", "sizes")
                         : sites > 10  ? one_of("", "iid", "dirichlet", "shards", "sizes")  // split by class requires a
                                                                                            // class per site
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
  xml += "</data>" + some_model(whole_labels);
  if (coin()) {
    xml += "<training" + maybe("batch", between(1, 100)) +
           maybe("batches", one_of("proportional", "equal", "poisson")) + maybe("epochs", share() * 100) +
           maybe("target-accuracy", one_of("0.5", "0.875", "0.9 0.95 0.97")) +
           maybe("stop", one_of("budget", "target")) + maybe("evaluate-every", one_of("epoch", "1", "500")) +
           maybe("seeds", between(1, 1000)) + maybe("label-smoothing", 0.9 * share()) +
           maybe("clip-norm", 0.1 + share()) + ">";
    const std::string optimizer = one_of("", "adam", "adamw", "sgd", "lamb", "lars", "muon");
    if (optimizer == "sgd") {
      xml += "<sgd" + maybe("learning-rate", share());
      if (coin()) xml += fmt::format(" momentum=\"{}\"{}", share(), maybe("nesterov", coin()));
      xml += maybe("weight-decay", share()) + "/>";
    } else if (optimizer == "lars") {
      xml += "<lars" + maybe("learning-rate", share()) + maybe("momentum", share()) + maybe("trust", share()) +
             maybe("weight-decay", share()) + "/>";
    } else if (optimizer == "muon") {
      xml += "<muon" + maybe("learning-rate", share()) + maybe("momentum", share()) + maybe("nesterov", coin()) +
             maybe("scale", one_of("tall", "spectral", "rms")) + maybe("coefficients", one_of("fixed", "tuned")) +
             maybe("adam-rate", share()) + maybe("beta2", share()) + maybe("weight-decay", share()) + "/>";
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
  if (coin()) xml += some_timed_as(folder);
  bool shares = false;
  for (std::int64_t i = between(1, 4); i > 0; --i) {
    const std::string algorithm =
        one_of("pooled", "no-sharing", "gradient-sharing", "dad", "edad", "rank-dad", "rank-dad");
    shares = shares || (algorithm != "pooled" && algorithm != "no-sharing");
    xml += fmt::format("<run algorithm=\"{}\"", algorithm);
    if (coin()) xml += fmt::format(" label=\"{} {}\"", some_text(), i);
    if (algorithm != "pooled" && algorithm != "no-sharing") {
      const std::string exchange = star ? one_of("", "aggregator", "peer") : one_of("", "peer");
      if (!exchange.empty()) xml += fmt::format(" exchange=\"{}\"", exchange);
      // Runs with an aggregator take no algorithms of collectives.
      const bool peers = !star || exchange == "peer";
      xml += maybe("all-reduce", peers ? one_of("auto", "ring", "tree") : "auto") +
             maybe("all-gather", peers ? one_of("auto", "direct") : "auto") +
             maybe("reduce-scatter", peers ? one_of("auto", "ring") : "auto") +
             (coin() ? maybe("bucket", "0")
                     : fmt::format(" bucket=\"{}B\"", share() * 1e8) +
                           maybe("first-bucket", coin() ? "0" : fmt::format("{}B", share() * 1e7)));
    }
    if (algorithm == "rank-dad") {
      xml += maybe("cap", between(1, 65536)) + maybe("iterations", between(1, 1000)) + maybe("tolerance", share()) +
             maybe("mode", one_of("two-way", "one-way"));
    }
    std::string inside;
    if (algorithm != "pooled" && algorithm != "no-sharing") {
      xml += maybe("weights", one_of("published", "samples", "uniform"));
      if (coin()) {
        inside = "<failures><outage hosts=\"*\"" + maybe("from", "3s") + "/></failures>";
        const std::string absent = one_of("wait", "without", "retry");
        xml += fmt::format(" absent=\"{}\"", absent);
        if (absent == "retry") xml += maybe("absent-patience", "90s");
        if (absent != "wait") xml += maybe("absent-weights", one_of("present", "unbiased"));
      }
    }
    xml += inside.empty() ? "/>" : ">" + inside + "</run>";
  }
  if (coin()) {
    // `fidelity` and `timed-steps` apply to collectives only.
    xml += fmt::format("<network{}{}{}", maybe("rendezvous", coin()),
                       shares ? maybe("timed-steps", between(8, 1'000'000)) : "",
                       !shares  ? maybe("fidelity", one_of("auto", "message"))
                       : coin() ? maybe("message-budget", between(1, 1'000'000'000))
                                : maybe("fidelity", one_of("auto", "message", "flow", "closed-form")));
    xml += coin() ? "/>"
                  : fmt::format("><jitter{}{}/></network>", maybe("spatial", 3 * share()), maybe("temporal", share()));
  }
  if (shares && coin()) {
    const std::string framework = one_of("none", "flower", "nvflare", "hivemind");
    xml += fmt::format("<framework name=\"{}\"{}{}{}{}{}{}/>", framework,
                       framework == "flower" ? maybe("version", one_of("1.19", "1.20")) : "",
                       maybe("serialise", fmt::format("{}MBps", 1 + share() * 1e3)),
                       maybe("deserialise", fmt::format("{}MBps", 1 + share() * 1e3)),
                       maybe("round", fmt::format("{}s", share())), maybe("per-client", fmt::format("{}ms", share())),
                       maybe("message", "2000MB"));
  }
  return xml + "</scenario>";
}

TEST(RoundTrip, EverySourceOfDataReadsAsTheSame) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  folder.write("platform.xml", fake_platform());
  folder.write("a table", "5000 784 10");
  folder.write("images", "5000 784 10");
  folder.write("labels", "");
  const scenario::Catalog catalog = fake_catalog();
  const bool held = rc::check("printed data read as the same", [&] {
    bool whole_labels = true;
    std::string data = some_source(whole_labels);
    if (whole_labels && coin()) {
      data += "<shift" + maybe("gain", share() * 3) + maybe("offset", share()) + maybe("noise", share()) + "/>";
    }
    const std::string model = whole_labels ? "" : R"(<embedding units="4"/>)";
    const std::string positions = whole_labels ? "" : R"( positions="each")";
    const std::string xml = fmt::format(
        R"(<scenario name="x"><platform file="platform.xml"/><workers><worker hosts="gpu-0" device="rtx-3090"/></workers>)"
        R"(<data>{}</data><model>{}<dense units="10"{}/></model><run algorithm="pooled"/></scenario>)",
        data, model, positions);
    const scenario::Scenario scenario = load_scenario(folder.write("scenario.xml", xml), {}, catalog);
    const scenario::Scenario again =
        load_scenario(elsewhere.write("printed.xml", print_scenario(scenario)), {}, catalog);
    RC_LOG() << xml;
    RC_ASSERT(Same::same(again.data, scenario.data));
    RC_ASSERT(again.hash == scenario.hash);
  });
  EXPECT_TRUE(held);
}

TEST(RoundTrip, PricesReadAsTheSame) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const scenario::Catalog catalog = fake_catalog();
  const std::string xml =
      R"(<scenario name="x"><platform file="platform.xml"/><workers><worker hosts="gpu-0" device="rtx-3090"/></workers>)"
      R"(<data><digits train="500" test="100"/></data><model><dense units="10"/></model><run algorithm="pooled"/>)"
      R"(<costs currency="EUR" electricity="0.25"><price device="rtx-3090" per-hour="0.35"/><egress per-gb="0.09"/>)"
      R"(<line link="site-* up" per-mbps-month="2.5"/><line link="eth-100" per-mbps-month="0.02"/></costs></scenario>)";
  const scenario::Scenario scenario = load_scenario(folder.write("scenario.xml", xml), {}, catalog);
  ASSERT_EQ(scenario.costs->lines.size(), 2U);
  EXPECT_EQ(scenario.costs->lines[0].link, "site-* up");
  EXPECT_EQ(scenario.costs->lines[0].per_mbps_month, 2.5);
  const std::string printed = print_scenario(scenario);
  EXPECT_TRUE(Same::same(load_scenario(folder.write("printed.xml", printed), {}, catalog), scenario)) << printed;
}

TEST(RoundTrip, PrintedScenarioLoadsAsTheSame) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  folder.write("platform.xml", fake_platform());
  folder.write("a table", "5000 784 10");
  folder.write("images", "5000 784 10");
  folder.write("labels", "");
  const scenario::Catalog catalog = fake_catalog();
  const bool held = rc::check("load(print(s)) equals s", [&] {
    const std::string xml = some_scenario(folder);
    const scenario::Scenario scenario = load_scenario(folder.write("scenario.xml", xml), {}, catalog);
    const std::string printed = scenario::print_scenario(scenario);
    RC_LOG() << xml << "\n" << printed;
    const scenario::Scenario again = load_scenario(elsewhere.write("printed.xml", printed), {}, catalog);
    RC_ASSERT(Same::same(again, scenario));
    RC_ASSERT(print_scenario(again) == printed);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace dadsim::test
