#include "scenario/xml/element.hpp"

#include <fmt/format.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include <algorithm>
#include <map>
#include <memory>

#include "support/split.hpp"
#include "support/text_encoding.hpp"
#include "support/utf8.hpp"
#include "support/watched_memory.hpp"

namespace dadsim::scenario {
namespace {

/// Largest number of elements of a document; far above any real scenario, and limits the tree of 16 MB of tags.
constexpr std::size_t kMaxElements = 200000;

/// Maps byte offsets to lines. libxml2 knows only the line at which a start tag ends, and in its tree only lines up to
/// 65535.
class Lines {
 public:
  explicit Lines(std::string_view content) {
    for (std::size_t i = content.find('\n'); i != std::string_view::npos; i = content.find('\n', i + 1)) {
      ends_.push_back(i);
    }
  }
  int at(std::size_t offset) const {
    return static_cast<int>(std::ranges::lower_bound(ends_, offset) - ends_.begin()) + 1;
  }

 private:
  std::vector<std::size_t> ends_;
};

/// Returns a remedy for frequent errors of libxml2.
std::string remedy_for(int code, const DocumentKind& kind) {
  switch (code) {
    case XML_ERR_TAG_NAME_MISMATCH:
      return "close the last opened element, by the same name";
    case XML_ERR_TAG_NOT_FINISHED:
    case XML_ERR_GT_REQUIRED:
    case XML_ERR_LTSLASH_REQUIRED:
      return "close every element; the file may have been cut off";
    case XML_ERR_DOCUMENT_END:
      return fmt::format("nothing may follow {}", kind.end);
    case XML_ERR_DOCUMENT_EMPTY:
      return fmt::format("a {} starts with {}", kind.noun, kind.start);
    case XML_ERR_ATTRIBUTE_REDEFINED:
      return "give each attribute once";
    case XML_ERR_UNDECLARED_ENTITY:
    case XML_WAR_UNDECLARED_ENTITY:
    case XML_ERR_NAME_REQUIRED:
    case XML_ERR_ENTITYREF_SEMICOL_MISSING:
      return "write & as &amp;";
    case XML_ERR_LT_IN_ATTRIBUTE:
      return "write < as &lt;";
    case XML_ERR_ATTRIBUTE_NOT_FINISHED:
      return "close the quotes; no value is longer than 10 MB";
    case XML_ERR_ATTRIBUTE_NOT_STARTED:
      return "put every value in quotes";
    case XML_ERR_INTERNAL_ERROR:
      return fmt::format("use fewer levels of elements, or a shorter value: no {} needs so much", kind.noun);
    default:
      return "the file must be well-formed XML 1.0";
  }
}

/// Builds the tree while libxml2 parses. The callbacks get it as `userData`.
class TreeBuilder {
 public:
  TreeBuilder(const std::string& content, const DocumentKind& kind, Findings& findings)
      : content_(content), kind_(kind), lines_(content), findings_(findings) {}

  Element take_root() { return failed_ ? Element{} : std::move(root_); }
  bool failed() const { return failed_; }
  xmlParserCtxtPtr context = nullptr;

  void start(const xmlChar* local, const xmlChar* prefix, const xmlChar* uri, int namespaces, const xmlChar** declared,
             int count, const xmlChar** attributes) {
    // Finds the start tag, which begins at the last '<' before its end, because attribute values cannot contain '<'.
    const std::size_t end = position();
    const std::size_t begin = end == 0 ? 0 : content_.rfind('<', end - 1);
    Element element;
    element.name = qualified(local, prefix);
    element.in_namespace = uri != nullptr;
    element.origin.line = lines_.at(begin);
    const std::map<std::string, int> at = attribute_lines(begin, end);
    const auto line_of = [&](const std::string& name) {
      const auto found = at.find(name);
      return found == at.end() ? element.origin.line : found->second;
    };
    for (int i = 0; i < namespaces; ++i, declared += 2) {  // each namespace has a prefix and a URI
      const std::string name = declared[0] == nullptr ? "xmlns" : fmt::format("xmlns:{}", view(declared[0]));
      const std::string value(declared[1] == nullptr ? "" : view(declared[1]));
      element.attributes.push_back({name, value, {"", line_of(name)}});
    }
    // Five pointers per attribute: local name, prefix, namespace, begin and end of the value.
    for (int i = 0; i < count; ++i, attributes += 5) {
      const std::string name = qualified(attributes[0], attributes[1]);
      const auto* first = reinterpret_cast<const char*>(attributes[3]);
      const auto* last = reinterpret_cast<const char*>(attributes[4]);
      element.attributes.push_back({name, unescaped({first, last}), {"", line_of(name)}});
    }
    open_.push_back(std::move(element));
    if (++elements_ > kMaxElements) {
      fail(open_.back().origin.line, fmt::format("more than {} elements", kMaxElements),
           fmt::format("use fewer elements: no {} needs so many", kind_.noun));
      xmlStopParser(context);
    }
  }

  void end() {
    if (open_.empty()) return;
    Element done = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(done);
    } else {
      open_.back().children.push_back(std::move(done));
    }
  }

  void characters(std::string_view text) {
    if (open_.empty()) return;
    Element& parent = open_.back();
    const std::size_t visible = text.find_first_not_of(kWhiteSpace);
    if (parent.text_origin.line == 0 && visible != std::string_view::npos) {
      // libxml2 may report a text only after reading past it. The search therefore starts at the previous tag or child.
      const std::size_t here = position();
      const std::size_t ahead =
          content_.compare(here, text.size(), text) == 0 ? here : here - std::min(here, text.size());
      parent.text_origin.line = lines_.at(ahead + visible);
    }
    parent.text += text;
  }

  void doctype() {
    fail(lines_.at(content_.rfind("<!DOCTYPE", position())), "a document type declaration (DOCTYPE)",
         fmt::format("remove it: a {} needs no DOCTYPE, and entities are not allowed", kind_.noun));
    xmlStopParser(context);
  }

  void error(const xmlError& problem) {
    if (failed_ || problem.level == XML_ERR_WARNING) return;  // later errors are consequences of the first
    std::string message = problem.message == nullptr ? "" : problem.message;
    while (!message.empty() && kWhiteSpace.find(message.back()) != std::string_view::npos) message.pop_back();
    const std::string typed = remedy_for_characters(bytes_at_error());
    fail(problem.line, fmt::format("not well-formed XML: {}", shorten(message)),
         typed.empty() ? remedy_for(problem.code, kind_) : typed);
  }

  void fail(int line, std::string what, std::string remedy) {
    if (failed_) return;
    failed_ = true;
    findings_.add(Origin{"", line}, std::move(what), std::move(remedy));
  }

 private:
  static std::string_view view(const xmlChar* text) { return reinterpret_cast<const char*>(text); }
  static std::string qualified(const xmlChar* local, const xmlChar* prefix) {
    return prefix == nullptr ? std::string(view(local)) : fmt::format("{}:{}", view(prefix), view(local));
  }
  /// Restores ampersands: libxml2 does not replace entities here, and reports every & of a value, in any spelling, as
  /// &#38;.
  static std::string unescaped(std::string value) {
    constexpr std::string_view kAmpersand = "&#38;";
    std::size_t end = 0;  // text before this position is done; shrinking in place takes one pass over a value of 10 MB
    for (std::size_t i = 0; i < value.size(); ++end) {
      value[end] = value[i];
      i += value[i] == '&' && value.compare(i, kAmpersand.size(), kAmpersand) == 0 ? kAmpersand.size() : 1;
    }
    value.resize(end);
    return value;
  }
  static std::string shorten(std::string message) {
    // Shortens libxml2's messages, which cite names and values of any length.
    for (char& c : message) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    if (message.size() <= 200) return message;
    std::size_t cut = 200;
    while (cut > 0 && (static_cast<unsigned char>(message[cut]) & 0xC0U) == 0x80U) --cut;
    return message.substr(0, cut) + "…";
  }

  /// Returns the bytes that the parser stopped at.
  std::string_view bytes_at_error() const {
    const xmlParserInput* input = context->input;
    if (input == nullptr || input->cur == nullptr || input->cur >= input->end) return {};
    return {reinterpret_cast<const char*>(input->cur), std::min<std::size_t>(4, input->end - input->cur)};
  }

  std::size_t position() const {
    const long offset = xmlByteConsumed(context);
    return offset < 0 ? 0 : std::min(static_cast<std::size_t>(offset), content_.size());
  }

  /// Returns the line of each attribute of the start tag in [begin, end), which libxml2 has accepted: `<name
  /// name="value" …`.
  std::map<std::string, int> attribute_lines(std::size_t begin, std::size_t end) const {
    std::map<std::string, int> result;
    const std::string_view tag = std::string_view(content_).substr(begin, end - begin);
    std::size_t i = tag.find_first_of(kWhiteSpace);
    while (i < tag.size()) {
      const std::size_t name = tag.find_first_not_of(kWhiteSpace, i);
      if (name == std::string_view::npos) break;
      const std::size_t name_end = tag.find_first_of(" \t\r\n=", name);
      if (name_end == std::string_view::npos) break;
      const std::size_t quote = tag.find_first_of("\"'", name_end);
      if (quote == std::string_view::npos) break;
      const std::size_t close = tag.find(tag[quote], quote + 1);
      if (close == std::string_view::npos) break;
      result.emplace(tag.substr(name, name_end - name), lines_.at(begin + name));
      i = close + 1;
    }
    return result;
  }

  const std::string& content_;
  const DocumentKind& kind_;
  Lines lines_;
  Findings& findings_;
  std::vector<Element> open_;
  Element root_;
  std::size_t elements_ = 0;
  bool failed_ = false;
};

TreeBuilder& builder(void* data) { return *static_cast<TreeBuilder*>(data); }

xmlSAXHandler handler() {
  xmlSAXHandler sax{};
  sax.initialized = XML_SAX2_MAGIC;
  sax.startElementNs = [](void* data, const xmlChar* local, const xmlChar* prefix, const xmlChar* uri, int namespaces,
                          const xmlChar** declared, int count, int, const xmlChar** attributes) {
    builder(data).start(local, prefix, uri, namespaces, declared, count, attributes);
  };
  sax.endElementNs = [](void* data, const xmlChar*, const xmlChar*, const xmlChar*) { builder(data).end(); };
  const auto characters = [](void* data, const xmlChar* text, int length) {
    builder(data).characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)});
  };
  sax.characters = characters;
  sax.ignorableWhitespace = characters;
  sax.cdataBlock = characters;
  sax.internalSubset = [](void* data, const xmlChar*, const xmlChar*, const xmlChar*) { builder(data).doctype(); };
  // `&name;` is an error of the document, because no entities are declared.
  sax.reference = [](void* data, const xmlChar* name) {
    builder(data).fail(0, fmt::format("entity '{}'", printable(reinterpret_cast<const char*>(name))),
                       "write & as &amp;");
  };
#if LIBXML_VERSION >= 21200
  sax.serror = [](void* data, const xmlError* problem) { builder(data).error(*problem); };
#else
  sax.serror = [](void* data, xmlErrorPtr problem) { builder(data).error(*problem); };
#endif
  return sax;
}

/// Returns the encoding that the XML declaration names, if any.
std::string declared_encoding(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  if (!content.starts_with("<?xml")) return {};
  const std::string_view declaration = content.substr(0, content.find("?>"));
  const std::size_t key = declaration.find("encoding");
  if (key == std::string_view::npos) return {};
  const std::size_t quote = declaration.find_first_of("\"'", key);
  if (quote == std::string_view::npos) return {};
  const std::size_t close = declaration.find(declaration[quote], quote + 1);
  if (close == std::string_view::npos) return {};
  return std::string(declaration.substr(quote + 1, close - quote - 1));
}

/// Returns the offset of the first byte that is not well-formed UTF-8 (Unicode 15, table 3-7) or not a character of XML
/// 1.0; npos if there is none.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Character found = first_character(text.substr(i));
    const bool control = found.code < 0x20 && found.code != '\t' && found.code != '\n' && found.code != '\r';
    if (found.bytes == 0 || control || found.code == 0xFFFE || found.code == 0xFFFF) return i;
    i += found.bytes;
  }
  return std::string_view::npos;
}

/// Returns the offset of a tag with more than 5,000 values; npos if there is none. libxml2 compares the attributes of a
/// tag pairwise, which takes hours for a million.
std::size_t overloaded_tag(std::string_view content) {
  constexpr std::size_t kQuotes = 10000;
  for (std::size_t tag = content.find('<'); tag != std::string_view::npos;) {
    const std::size_t next = std::min(content.find('<', tag + 1), content.size());
    const std::string_view text = content.substr(tag, next - tag);
    const bool starts_element = text.size() > 1 && text[1] != '!' && text[1] != '?' && text[1] != '/';
    if (starts_element && std::ranges::count_if(text, [](char c) { return c == '"' || c == '\''; }) >
                              static_cast<std::ptrdiff_t>(kQuotes)) {
      return tag;
    }
    tag = next < content.size() ? next : std::string_view::npos;
  }
  return std::string_view::npos;
}

/// Returns false, and adds a finding, if the bytes cannot be XML text.
bool check_bytes(const std::string& content, const DocumentKind& kind, Findings& findings) {
  const auto line_at = [&](std::size_t offset) {
    return Origin{
        "",
        static_cast<int>(std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(offset), '\n')) + 1};
  };
  if (content.find_first_not_of(kWhiteSpace) == std::string::npos) {
    findings.add(Origin{}, "the file is empty", fmt::format("a {} starts with {}", kind.noun, kind.start));
    return false;
  }
  if (const std::size_t nul = content.find('\0'); nul != std::string::npos) {
    findings.add(line_at(nul), fmt::format("a NUL byte at offset {}", nul),
                 fmt::format("a {} is UTF-8 text", kind.noun));
    return false;
  }
  if (const std::size_t bad = first_bad_byte(content); bad != std::string::npos) {
    const auto byte = static_cast<unsigned char>(content[bad]);
    const bool control = byte < 0x20;
    findings.add(
        line_at(bad),
        fmt::format("{} 0x{:02X} at offset {}", control ? "control character" : "not UTF-8: byte", byte, bad),
        control ? "remove control characters: text may hold only tabs and line ends" : "save the file as UTF-8");
    return false;
  }
  if (const std::size_t tag = overloaded_tag(content); tag != std::string::npos) {
    findings.add(line_at(tag), "a tag with more than 5000 attributes", "use fewer attributes: no element has so many");
    return false;
  }
  std::string encoding = declared_encoding(content);
  std::string upper = encoding;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (!encoding.empty() && upper != "UTF-8" && upper != "US-ASCII") {
    findings.add(Origin{"", 1}, fmt::format("encoding '{}'", printable(encoding)),
                 "save the file as UTF-8 and declare encoding=\"UTF-8\"");
    return false;
  }
  return true;
}

/// Returns the position after the next `end` from `from` on, npos if there is none.
std::size_t after(std::string_view text, std::string_view end, std::size_t from) {
  const std::size_t found = text.find(end, from);
  return found == std::string_view::npos ? found : found + end.size();
}

/// Returns the position after the ">" that closes the declaration at `from`, ignoring quotes, comments and an internal
/// subset.
std::size_t after_declaration(std::string_view text, std::size_t from) {
  int brackets = 0;
  for (std::size_t i = from; i < text.size();) {
    if (text.substr(i).starts_with("<!--")) {
      i = after(text, "-->", i);
    } else if (text[i] == '"' || text[i] == '\'') {
      i = after(text, text.substr(i, 1), i + 1);
    } else {
      if (text[i] == '[') ++brackets;
      if (text[i] == ']') --brackets;
      if (text[i] == '>' && brackets <= 0) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

const Attribute* Element::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

bool is_xml_text(std::string_view text) { return first_bad_byte(text) == std::string_view::npos; }

Element parse_xml(const std::string& content, const DocumentKind& kind, Findings& findings) {
  if (!check_bytes(content, kind, findings)) return {};
  const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
  TreeBuilder tree(content, kind, findings);
  const std::unique_ptr<xmlParserCtxt, decltype(&xmlFreeParserCtxt)> context(xmlNewParserCtxt(), &xmlFreeParserCtxt);
  if (context == nullptr) throw std::bad_alloc();
  tree.context = context.get();
  *context->sax = handler();
  context->userData = &tree;
  // Sets none of NOENT, DTDLOAD and HUGE, so that libxml2's own limits on depth and length apply.
  xmlDoc* document = xmlCtxtReadMemory(context.get(), content.data(), static_cast<int>(content.size()), nullptr,
                                       nullptr, XML_PARSE_NONET);
  if (document != nullptr) xmlFreeDoc(document);
  if (context->myDoc != nullptr && context->myDoc != document) xmlFreeDoc(context->myDoc);
  memory.check();
  if (!tree.failed() && context->wellFormed == 0) tree.fail(0, "not well-formed XML", remedy_for(0, kind));
  return tree.take_root();
}

std::optional<RootElement> find_root_element(std::string_view document) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t i = document.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (true) {
    i = i < document.size() ? document.find_first_not_of(kWhiteSpace, i) : std::string_view::npos;
    if (i == std::string_view::npos || document[i] != '<') return std::nullopt;
    const std::string_view rest = document.substr(i);
    if (rest.starts_with("<?")) {
      i = after(document, "?>", i);
    } else if (rest.starts_with("<!--")) {
      i = after(document, "-->", i);
    } else if (rest.starts_with("<!")) {
      i = after_declaration(document, i);
    } else {
      const std::size_t end = std::min(rest.find_first_of(" \t\r\n/>", 1), rest.size());
      if (end == 1) return std::nullopt;
      const auto line = 1 + std::count(document.begin(), document.begin() + static_cast<std::ptrdiff_t>(i), '\n');
      return RootElement{std::string(rest.substr(1, end - 1)), static_cast<int>(line)};
    }
  }
}

}  // namespace dadsim::scenario
