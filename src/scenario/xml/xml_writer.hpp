#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

struct _xmlBuffer;      // NOLINT(bugprone-reserved-identifier): libxml2 names it so
struct _xmlTextWriter;  // NOLINT(bugprone-reserved-identifier)

namespace dadsim::scenario {

/// Writes indented XML into a string; libxml2 escapes. Elements close at the end of their scope.
class XmlWriter {
 public:
  XmlWriter();

  class Open {
   public:
    Open(XmlWriter& writer, const char* name);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    /// Writes an attribute; for a double, the shortest text that reads back as the same number.
    template <class Value>
    Open& set(const char* name, const Value& value) {
      write_attribute(name, fmt::format("{}", value));
      return *this;
    }
    // The units Bps, s and B have factor one.
    Open& set_bandwidth(const char* name, double value) { return set(name, fmt::format("{}Bps", value)); }

    void content(const std::string& value);

   private:
    void write_attribute(const char* name, const std::string& value);

    XmlWriter& writer_;
  };

  std::string finish();

 private:
  std::unique_ptr<_xmlBuffer, void (*)(_xmlBuffer*)> buffer_;
  std::unique_ptr<_xmlTextWriter, void (*)(_xmlTextWriter*)> writer_;
};

}  // namespace dadsim::scenario
