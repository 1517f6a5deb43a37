#include "sim/platform/platform_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

#include "sim/child_process.hpp"
#include "sim/platform/compat.hpp"
#include "sim/platform/engine.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

constexpr double kTimeLimit = 120;  // seconds

/// What looks at the platform in a process of its own, and ends well or throws.
void complete_in_child(const std::function<void(const MessageSink&)>& look,
                       const std::function<void(std::string_view)>& listen) {
  const ChildOutcome outcome = run_in_child(look, listen, kTimeLimit);
  if (outcome.complete()) return;
  const std::string words = simgrid_words(outcome.output);
  throw std::runtime_error(words.empty() ? fmt::format("SimGrid {} while it built the platform", outcome.words())
                                         : words);
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The digits that start at `at`, without leading zeros, and where they end.
std::pair<std::string_view, std::size_t> number_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  while (at + 1 < end && text[at] == '0') ++at;
  return {text.substr(at, end - at), end};
}

}  // namespace

bool before_by_number(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto [first, after_first] = number_at(a, i);
      const auto [second, after_second] = number_at(b, j);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
      i = after_first;
      j = after_second;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((i == a.size()) != (j == b.size())) return i == a.size();
  return a < b;  // equal but for leading zeros
}

std::vector<PlatformHost> platform_hosts(const spec::PlatformSpec& platform) {
  namespace sg4 = simgrid::s4u;
  const auto look = [&](const MessageSink& sink) {
    // Taking the engine down again is not needed, and could fail.
    const sg4::Engine& engine = *load_engine(platform).release();
    std::vector<std::string> names = host_names(platform);
    if (names.empty()) {
      for (const sg4::Host* host : engine.get_all_hosts()) names.push_back(host->get_name());
      std::ranges::sort(names, before_by_number);
    }
    for (const std::string& name : names) {
      const char* node = engine.host_by_name(name)->get_property("node");
      WireWriter message;
      message << std::string_view(name)
              << std::string_view(node == nullptr ? "host " + name : std::string("node ") + node);
      sink.send(message.bytes());
    }
  };
  std::vector<PlatformHost> hosts;
  std::map<std::string, std::int32_t> number_of;
  const auto listen = [&](std::string_view bytes) {
    WireReader message(bytes);
    PlatformHost& host = hosts.emplace_back();
    std::string node;
    message >> host.name >> node;
    host.node = number_of.try_emplace(node, static_cast<std::int32_t>(number_of.size())).first->second;
  };
  complete_in_child(look, listen);
  return hosts;
}

std::vector<std::string> platform_links(const spec::PlatformSpec& platform) {
  const auto look = [&](const MessageSink& sink) {
    const simgrid::s4u::Engine& engine = *load_engine(platform).release();
    for (const simgrid::s4u::Link* link : engine.get_all_links()) {
      const char* link_class = link->get_property("class");
      // The way of a host to itself is no link of the platform's.
      if (link->get_name() == "__loopback__" || (link_class != nullptr && std::string_view(link_class) == "loopback"))
        continue;
      WireWriter message;
      message << std::string_view(link->get_name());
      sink.send(message.bytes());
    }
  };
  std::vector<std::string> names;
  complete_in_child(look, [&](std::string_view bytes) {
    WireReader message(bytes);
    message >> names.emplace_back();
  });
  std::ranges::sort(names, before_by_number);
  return names;
}

}  // namespace dadsim::sim
