#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are libxml2's.
struct _xmlDoc;
struct _xmlDtd;
struct _xmlTextReader;
// NOLINTEND(bugprone-reserved-identifier)

namespace dadsim::sim {

/// The markup of an XML document in memory, piece by piece, read by libxml2. Nothing is loaded that the document names:
/// neither its DTD nor entities. The document is UTF-8, whatever it says of itself.
class Markup {
 public:
  /// White space before the document is passed over.
  explicit Markup(std::string_view document);

  enum class Piece { doctype, start, end };
  /// The next DOCTYPE, beginning or end of an element; an element without content has no end of its own. Nothing at the
  /// end of the document, and where it is not well-formed.
  std::optional<Piece> next();

  /// Why the document is not well-formed XML.
  struct MarkupFault {
    int line = 0;
    std::string what;  ///< in libxml2's words, on one line
  };
  /// After next() has given nothing: whether that was not the end of the document.
  const std::optional<MarkupFault>& fault() const { return fault_; }

  /// Where the last piece is: the line, from 1 up, on which a tag ends or a DOCTYPE begins.
  int line() const;
  /// The name of the element.
  std::string name() const;
  /// Nothing if the element does not have it.
  std::optional<std::string> attribute(const char* name) const;
  /// The text in the element.
  std::string text() const;
  /// Whether the element has no content (<a/>).
  bool is_empty() const;
  /// Whether the DOCTYPE names an element and the address of a DTD, and no more: no entities.
  bool is_plain_doctype(std::string_view element, std::string_view dtd) const;

 private:
  struct Free {
    void operator()(_xmlTextReader* reader) const;
    void operator()(_xmlDoc* broken) const;
  };
  std::string_view document_;
  int lines_before_ = 0;
  Piece piece_ = Piece::end;
  const _xmlDtd* doctype_ = nullptr;
  std::unique_ptr<_xmlDoc, Free> broken_;  ///< what there is of a document that is not well-formed from early on
  std::optional<MarkupFault> fault_;
  std::unique_ptr<_xmlTextReader, Free> reader_;
};

}  // namespace dadsim::sim
