#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>

namespace dadsim::test {

// Generates random pieces of XML in a RapidCheck property.

template <class... Texts>
std::string one_of(Texts... texts) {
  return *rc::gen::element<std::string>(texts...);
}

inline bool coin() { return *rc::gen::arbitrary<bool>(); }

inline std::int64_t between(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

/// Returns a random number in (0, 1) whose mantissa uses all bits.
inline double share() {
  return (static_cast<double>(between(0, (std::int64_t{1} << 52U) - 2)) + 1) /
         static_cast<double>(std::int64_t{1} << 52U);
}

/// Returns ` name="value"` or nothing; reading and printing must keep both.
template <class Value>
std::string maybe(const char* name, const Value& value) {
  return coin() ? fmt::format(" {}=\"{}\"", name, value) : "";
}

/// Returns text with characters that XML must escape, characters beyond ASCII, or white space that attributes keep only
/// as a character reference.
inline std::string some_text() {
  return "x" +
         one_of("", "&amp;", "&amp;#38;", "&#38;", "&lt;tag&gt;", "&quot;'", "é – 数", "&#10;&#9;&#13;",
                "  two  spaces") +
         "y";
}

/// Returns a data source of at least 2000 training samples and 10 classes. Its files images, labels and "a table"
/// contain "5000 784 10" (fake_catalog.hpp). Sets `whole_labels` to true if a sample has one label.
inline std::string some_source(bool& whole_labels) {
  const auto counts = [](std::int64_t train, std::int64_t test) {
    return maybe("train", between(2500, train)) + maybe("test", between(1, test));
  };
  const std::string kind = one_of("digits", "idx", "idx in one file", "cifar10", "cifar10 in one file", "ts", "csv",
                                  "text", "shapes", "utterances", "grammar", "tabular");
  whole_labels = kind != "text" && kind != "grammar";
  if (kind == "idx") {
    return "<idx images=\"images\" labels=\"labels\" test-images=\"images\" test-labels=\"labels\"" +
           counts(4000, 4000) + "/>";
  }
  if (kind == "idx in one file") {
    return fmt::format("<idx images=\"images\" labels=\"labels\" train=\"{}\" test=\"{}\"/>", between(2500, 3000),
                       between(1, 1000));
  }
  if (kind == "cifar10") {
    return "<cifar10 files=\"" + one_of("images", "images,labels,  images", "images, a table") +
           "\" test-files=\"images\"" + counts(4000, 4000) + "/>";
  }
  if (kind == "cifar10 in one file") {
    return fmt::format("<cifar10 files=\"a table, images\" train=\"{}\" test=\"{}\"/>", between(2500, 3000),
                       between(1, 1000));
  }
  if (kind == "ts") return "<ts train-file=\"images\" test-file=\"a table\"" + counts(4000, 4000) + "/>";
  if (kind == "csv" && coin()) {
    return "<csv file=\"a table\" test-file=\"images\" target=\"" + some_text() + "\"" + counts(4000, 4000) +
           maybe("scale", one_of("none", "unit", "standard")) + "/>";
  }
  if (kind == "csv") {
    return "<csv file=\"a table\" target=\"" + some_text() + "\"" + maybe("test-share", 0.1 + share() * 0.3) +
           counts(2700, 400) + "/>";
  }
  if (kind == "text") {
    return "<text file=\"images\"" + maybe("length", between(2, 4096)) + maybe("test-share", 0.1 + share() * 0.3) +
           counts(2700, 400) + "/>";
  }
  std::string attributes = counts(5000, 5000);
  if (kind == "utterances") attributes += maybe("length", between(8, 1000));
  if (kind == "grammar") attributes += maybe("length", between(2, 4096));
  if (kind == "tabular") {
    // With few features, attention matrices over them are small.
    attributes += maybe("features", between(1, 1000)) + " classes=\"10\"" + maybe("noise", share());
  }
  return "<" + kind + attributes + "/>";
}

inline std::string some_activation() {
  return maybe("activation", one_of("identity", "relu", "tanh", "sigmoid", "gelu"));
}

/// Returns a layer that accepts any shape and keeps the positions. It has few channels, so that the network is small.
inline std::string some_layer(bool inside_residual = false) {
  const std::string kind = one_of("dense", "convolution", "max-pool", "mean-pool", "gru", "lstm", "attention",
                                  "layer-norm", "batch-norm", "positions", "dropout", "residual");
  const std::string units = fmt::format(" units=\"{}\"", between(1, 20));
  if (kind == "dense") return "<dense positions=\"each\"" + units + some_activation() + maybe("bias", coin()) + "/>";
  if (kind == "convolution") {
    const std::int64_t kernel = 2 * between(0, 3) + 1;
    return fmt::format("<convolution filters=\"{}\" kernel=\"{}\" padding=\"{}\"{}{}{}{}/>", between(1, 20), kernel,
                       kernel / 2, maybe("stride", 1), some_activation(), maybe("bias", coin()),
                       maybe("initial", share()));
  }
  if (kind == "max-pool" || kind == "mean-pool") return "<" + kind + " size=\"1\"" + maybe("stride", 1) + "/>";
  if (kind == "gru" || kind == "lstm") return "<" + kind + units + maybe("bias", coin()) + "/>";
  if (kind == "attention") {
    return "<attention" + maybe("heads", 1) + maybe("causal", coin()) + maybe("bias", coin()) + "/>";
  }
  if (kind == "layer-norm") return "<layer-norm" + maybe("epsilon", share()) + "/>";
  if (kind == "batch-norm") {
    return "<batch-norm" + maybe("epsilon", share()) + maybe("momentum", share()) + some_activation() + "/>";
  }
  if (kind == "dropout") return "<dropout" + maybe("rate", share()) + "/>";
  if (kind == "positions" || inside_residual) return "<positions/>";
  const std::string last = fmt::format("<dense positions=\"each\" units=\"{}\"/>", between(1, 20));
  return "<residual" + some_activation() + ">" + some_layer(true) + last + "<shortcut>" + some_layer(true) + last +
         "</shortcut></residual>";
}

/// Returns a network for data of 10 classes, with one label per sample or per position.
inline std::string some_model(bool whole_labels) {
  const std::string name = maybe("name", some_text());
  if (between(0, 9) == 0) {
    return "<model preset=" + std::string(whole_labels ? "\"resnet-8\"" : "\"language-model\"") + name +
           maybe("width", whole_labels ? 3 : 8) + "/>";
  }
  std::string xml = "<model" + name + ">";
  if (!whole_labels) xml += fmt::format("<embedding units=\"{}\"/>", between(1, 20));
  for (std::int64_t i = between(0, 4); i > 0; --i) xml += some_layer();
  if (!whole_labels) return xml + "<dense units=\"10\" positions=\"each\"/></model>";
  xml += one_of("", "", "<mean/>", "<class-token/><select/>", "<class-token/><select position=\"last\"/>");
  for (std::int64_t i = between(0, 3); i > 0; --i) {
    xml += fmt::format("<dense units=\"{}\"{}{}{}/>", between(1, 500), maybe("positions", "together"),
                       some_activation(), maybe("bias", coin()));
  }
  return xml + "<dense units=\"10\"/></model>";
}

}  // namespace dadsim::test
