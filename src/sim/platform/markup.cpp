#include "sim/platform/markup.hpp"

#include <libxml/tree.h>
#include <libxml/xmlmemory.h>
#include <libxml/xmlreader.h>

#include <algorithm>

#include "support/watched_memory.hpp"

namespace dadsim::sim {
namespace {

constexpr int kMostLinesOfNode =
    65535;  // largest line number that libxml2 stores with an element; above it, the parser's present line is close

const char* characters(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

}  // namespace

void Markup::Free::operator()(_xmlTextReader* reader) const { xmlFreeTextReader(reader); }

void Markup::Free::operator()(_xmlDoc* broken) const { xmlFreeDoc(broken); }

Markup::Markup(std::string_view document) : document_(document) {
  const std::size_t first = std::min(document.find_first_not_of(" \t\r\n"), document.size());
  lines_before_ = static_cast<int>(std::ranges::count(document.substr(0, first), '\n'));
  document_.remove_prefix(first);
  const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
  xmlResetLastError();
  reader_.reset(xmlReaderForMemory(document_.data(), static_cast<int>(document_.size()), nullptr, "UTF-8",
                                   XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC));
  memory.check();
}

std::optional<Markup::Piece> Markup::next() {
  int read = 0;
  while (reader_ != nullptr && (read = xmlTextReaderRead(reader_.get())) == 1) {
    WatchedMemory::check();
    switch (xmlTextReaderNodeType(reader_.get())) {
      case XML_READER_TYPE_DOCUMENT_TYPE:
        doctype_ = reinterpret_cast<const xmlDtd*>(xmlTextReaderCurrentNode(reader_.get()));
        return piece_ = Piece::doctype;
      case XML_READER_TYPE_ELEMENT:
        return piece_ = Piece::start;
      case XML_READER_TYPE_END_ELEMENT:
        return piece_ = Piece::end;
      default:
        break;
    }
  }
  WatchedMemory::check();
  if (read < 0 && !fault_) {
    const xmlError* error = xmlGetLastError();
    fault_ = MarkupFault{lines_before_ + xmlTextReaderGetParserLineNumber(reader_.get()), "it cannot be read"};
    if (error != nullptr && error->message != nullptr) {
      if (error->line > 0) fault_->line = lines_before_ + error->line;
      fault_->what = error->message;
      std::ranges::replace(fault_->what, '\n', ' ');
      while (fault_->what.ends_with(' ')) fault_->what.pop_back();
    }
  }
  // Returns a DOCTYPE that precedes the error: the reader parses ahead, and an error after the DOCTYPE (an entity
  // without end) may be reported first.
  if (reader_ != nullptr && doctype_ == nullptr && broken_ == nullptr) {
    broken_.reset(xmlTextReaderCurrentDoc(reader_.get()));
    doctype_ = xmlGetIntSubset(broken_.get());
    if (doctype_ != nullptr) return piece_ = Piece::doctype;
  }
  return std::nullopt;
}

int Markup::line() const {
  if (piece_ == Piece::doctype) {  // libxml2 does not know the position
    const std::size_t at = std::min(document_.find("<!DOCTYPE"), document_.size());
    return lines_before_ + 1 + static_cast<int>(std::ranges::count(document_.substr(0, at), '\n'));
  }
  const auto line = static_cast<int>(xmlGetLineNo(xmlTextReaderCurrentNode(reader_.get())));
  return lines_before_ + (line < kMostLinesOfNode ? line : xmlTextReaderGetParserLineNumber(reader_.get()));
}

std::string Markup::name() const { return characters(xmlTextReaderConstName(reader_.get())); }

std::optional<std::string> Markup::attribute(const char* name) const {
  xmlChar* value = xmlTextReaderGetAttribute(reader_.get(), reinterpret_cast<const xmlChar*>(name));
  if (value == nullptr) return std::nullopt;
  std::string text = characters(value);
  xmlFree(value);
  return text;
}

std::string Markup::text() const {
  xmlChar* content = xmlTextReaderReadString(reader_.get());
  if (content == nullptr) return "";
  std::string text = characters(content);
  xmlFree(content);
  return text;
}

bool Markup::is_empty() const { return xmlTextReaderIsEmptyElement(reader_.get()) == 1; }

bool Markup::is_plain_doctype(std::string_view element, std::string_view dtd) const {
  return doctype_->name != nullptr && characters(doctype_->name) == element && doctype_->children == nullptr &&
         doctype_->ExternalID == nullptr && doctype_->SystemID != nullptr &&
         std::string_view(characters(doctype_->SystemID)).find(dtd) != std::string_view::npos;
}

}  // namespace dadsim::sim
