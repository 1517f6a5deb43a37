#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "support/temporary_folder.hpp"

namespace dadsim::test {

/// Writes a small file of every format that drawn scenarios name.
class DrawnFiles {
 public:
  DrawnFiles() {
    write_tables();
    write_pictures();
    write_series();
    write_platforms();
    folder_.write("words.txt", text(37));
    folder_.write("lines.txt", text(53));
    folder_.write("own.xml", R"(<workload name="own" samples-per-epoch="1000">
  <layer name="table" kind="embedding" in="8" out="50"/>
  <layer name="a" kind="dense" in="8" out="32" rows-per-sample="4"/>
  <layer name="r" kind="recurrence" forward-macs-per-sample="100" outputs-per-sample="20" sequential="3"/>
  <layer name="b" kind="dense" in="32" out="6" parameters="198"/>
</workload>
)");
    folder_.write(
        "own.csv",
        "layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample\nfc,dense,100,70,2,7000,14000\n");
    // The files have an entry for every host that can be drawn.
    std::string there, later;
    for (const char* stem :
         {"s-", "t-", "gpu-", "a.gpu-", "b.s-", "b.t-", "west-", "east-", "aws:us-east-1-", "aws:eu-west-1-", "h-"}) {
      for (int i = 0; i < 22; ++i) {
        there += fmt::format("{0}{1} 0 on\n{0}{1} {2} off\n{0}{1} {3} on\n", stem, i, 0.2 + 0.1 * i, 0.5 + 0.1 * i);
        later += fmt::format("{0}{1} {2} on\n", stem, i, 0.05 * i);
      }
    }
    folder_.write("there.txt", there + "hub 0 on\nb.hub 0 on\n");
    folder_.write("later.txt", later + "hub 0 on\nb.hub 0 on\n");
    for (int sites = 1; sites <= 4; ++sites) {
      std::string edges;
      for (int i = 0; i + 1 < sites; ++i) edges += fmt::format("{} {}\n", i, i + 1);
      folder_.write(fmt::format("edges-{}.txt", sites), edges);
    }
    folder_.write("star-4.txt", "0 1\n0 2\n0 3\n");
    write_ladders();
  }

  const TemporaryFolder& folder() const { return folder_; }

 private:
  /// Writes a table with two features, a word, the class and the site, and a separate table for each of two sites.
  void write_tables() {
    std::mt19937 random(7);
    const auto row = [&](bool site) {
      const int label = static_cast<int>(random() % 3);
      std::string text =
          fmt::format("{},{},{},{}", label + static_cast<double>(random() % 100) / 80,
                      static_cast<double>(random() % 100) / 50, random() % 2 == 0 ? "red" : "blue", label);
      return text + (site ? fmt::format(",{}\n", random() % 2) : "\n");
    };
    std::string all = "a,b,colour,kind,place\n", one = "a,b,colour,kind\n", two = one;
    for (int i = 0; i < 60; ++i) all += row(true);
    for (int i = 0; i < 30; ++i) one += row(false);
    for (int i = 0; i < 20; ++i) two += row(false);
    folder_.write("table.csv", all);
    std::string rows = all.substr(0, all.find('\n') + 1);
    for (int i = 0; i < 60; ++i) rows += row(true);
    folder_.write("rows.csv", rows);
    folder_.write("one.csv", one);
    folder_.write("two.csv", two);
    folder_.write("held.csv", two);
    folder_.write("bare.csv", all.substr(all.find('\n') + 1));
  }

  void write_pictures() {
    const auto number = [](std::uint32_t value) {
      std::string bytes;
      for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
      return bytes;
    };
    std::mt19937 random(11);
    for (const auto& [name, count] : {std::pair{"train", 40U}, {"held", 12U}, {"more", 40U}, {"other", 12U}}) {
      const std::uint32_t turn = std::string(name) == "more" || std::string(name) == "other" ? 3 : 0;
      std::string images = number(0x803) + number(count) + number(6) + number(6);
      std::string labels = number(0x801) + number(count);
      std::string colours;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t label = (i + turn) % 10;
        labels += static_cast<char>(label);
        for (std::uint32_t p = 0; p < 36; ++p) images += static_cast<char>((p % 10 == label ? 200 : 0) + random() % 50);
        colours += static_cast<char>(label);
        for (std::uint32_t p = 0; p < 3072; ++p)
          colours += static_cast<char>((p % 10 == label ? 150 : 0) + random() % 100);
      }
      folder_.write(std::string(name) + "-images", images);
      folder_.write(std::string(name) + "-labels", labels);
      folder_.write(std::string(name) + "-colours", colours);
    }
  }

  void write_series() {
    std::mt19937 random(13);
    for (const char* name : {"train", "held"}) {
      std::string text =
          "@problemName drawn\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 2\n@equalLength true\n"
          "@seriesLength 5\n@classLabel true up down\n@data\n";
      for (int i = 0; i < 24; ++i) {
        const bool up = i % 2 == 0;
        for (int channel = 0; channel < 2; ++channel) {
          for (int t = 0; t < 5; ++t)
            text += fmt::format("{}{}", t == 0 ? "" : ",", (up ? t : -t) + static_cast<double>(random() % 100) / 50);
          text += ":";
        }
        text += up ? "up\n" : "down\n";
      }
      folder_.write(std::string(name) + ".ts", text);
    }
  }

  /// Writes a star of eight hosts around a hub with one line each; `slower` divides the bandwidth of every line.
  void write_star(const std::string& name, int slower) {
    std::string body = "<host id=\"hub\" speed=\"3Gf\"/>\n<link id=\"hub\" bandwidth=\"2MBps\" latency=\"1ms\"/>\n";
    std::string routes;
    for (int i = 0; i < 8; ++i) {
      body += fmt::format(
          "<host id=\"h-{0}\" speed=\"3Gf\"/>\n<link id=\"h-{0}\" bandwidth=\"{1}kBps\" latency=\"{2}ms\"/>\n", i,
          1000 * (1 + i) / slower, 5 + i);
      routes +=
          fmt::format("<route src=\"h-{0}\" dst=\"hub\"><link_ctn id=\"h-{0}\"/><link_ctn id=\"hub\"/></route>\n", i);
      for (int j = 0; j < i; ++j)
        routes += fmt::format(
            "<route src=\"h-{0}\" dst=\"h-{1}\"><link_ctn id=\"h-{0}\"/><link_ctn id=\"h-{1}\"/></route>\n", j, i);
    }
    folder_.write(name,
                  "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\">\n<zone id=\"zone\" routing=\"Full\">\n" +
                      body + routes + "</zone>\n</platform>\n");
  }

  void write_platforms() {
    write_star("star.xml", 1);
    write_star("narrow.xml", 4);
    folder_.write("cluster.xml", R"(<cluster-platform description="three nodes">
  <gpu-cluster nodes="3" gpus="4" inside="nvlink-3" nic="ethernet-10g"/>
</cluster-platform>
)");
  }

  /// Writes the ladder of a scale study, and a copy in which one network has other steps.
  void write_ladders() {
    std::ifstream file(DADSIM_SOURCE_DIR "/scenarios/ladders/imagenet.json");
    std::string ladder((std::istreambuf_iterator<char>(file)), {});
    folder_.write("ladder.json", ladder);
    const std::string_view steps = "1.417972278461299";
    if (const std::size_t at = ladder.find(steps); at != std::string::npos) ladder.replace(at, steps.size(), "1.9");
    folder_.write("other-ladder.json", ladder);
  }

  static std::string text(int step) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += fmt::format("line {} of words\n", i * step % 100);
    return text;
  }

  TemporaryFolder folder_;
};

}  // namespace dadsim::test
