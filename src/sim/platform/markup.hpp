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

/// Markup of an XML document in memory, piece by piece, read by libxml2. No file that the document names is loaded,
/// neither its DTD nor entities. The document is read as UTF-8, regardless of its declaration.
class Markup {
 public:
  /// Begins at the first tag; white space before the document is ignored.
  explicit Markup(std::string_view document);

  enum class Piece { doctype, start, end };
  /// Returns the next DOCTYPE, beginning or end of an element; an element without content has no separate end. Returns
  /// nothing at the end of the document, or where it is not well-formed.
  std::optional<Piece> next();

  /// Reason why the document is not well-formed XML.
  struct MarkupFault {
    int line = 0;
    std::string what;  ///< libxml2's message, on one line
  };
  /// Returns the fault at which next() returned nothing; nothing at the end of the document.
  const std::optional<MarkupFault>& fault() const { return fault_; }

  /// Returns the line of the last piece, from 1: the line on which a tag ends, or a DOCTYPE begins.
  int line() const;
  /// Returns the name of the element.
  std::string name() const;
  /// Returns an attribute's value, or nothing if the element does not have it.
  std::optional<std::string> attribute(const char* name) const;
  /// Returns the text in the element.
  std::string text() const;
  /// Returns whether the element has no content (<a/>).
  bool is_empty() const;
  /// Returns whether the DOCTYPE only names an element and the address of a DTD, and defines no entities.
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
  std::unique_ptr<_xmlDoc, Free> broken_;  ///< text already parsed of a document that ends early
  std::optional<MarkupFault> fault_;
  std::unique_ptr<_xmlTextReader, Free> reader_;
};

}  // namespace dadsim::sim
