#include "scenario/xml/xml_writer.hpp"

#include <libxml/xmlwriter.h>

#include <new>

#include "support/watched_memory.hpp"

namespace dadsim::scenario {
namespace {

const xmlChar* xml_chars(const char* value) { return reinterpret_cast<const xmlChar*>(value); }

void check(int result) {
  if (result < 0) throw std::bad_alloc();  // nothing else can fail when writing to memory
}

}  // namespace

XmlWriter::XmlWriter() : buffer_(nullptr, &xmlBufferFree), writer_(nullptr, &xmlFreeTextWriter) {
  WatchedMemory::of(xmlMemSetup);
  buffer_.reset(xmlBufferCreate());
  if (buffer_ == nullptr) throw std::bad_alloc();
  writer_.reset(xmlNewTextWriterMemory(buffer_.get(), 0));
  if (writer_ == nullptr) throw std::bad_alloc();
  xmlTextWriterSetIndent(writer_.get(), 1);
  xmlTextWriterSetIndentString(writer_.get(), xml_chars("  "));
  check(xmlTextWriterStartDocument(writer_.get(), nullptr, "UTF-8", nullptr));
}

XmlWriter::Open::Open(XmlWriter& writer, const char* name) : writer_(writer) {
  check(xmlTextWriterStartElement(writer.writer_.get(), xml_chars(name)));
}

XmlWriter::Open::~Open() { xmlTextWriterEndElement(writer_.writer_.get()); }

void XmlWriter::Open::content(const std::string& value) {
  check(xmlTextWriterWriteString(writer_.writer_.get(), xml_chars(value.c_str())));
}

void XmlWriter::Open::write_attribute(const char* name, const std::string& value) {
  check(xmlTextWriterWriteAttribute(writer_.writer_.get(), xml_chars(name), xml_chars(value.c_str())));
}

std::string XmlWriter::finish() {
  check(xmlTextWriterEndDocument(writer_.get()));
  check(xmlTextWriterFlush(writer_.get()));
  WatchedMemory::check();  // fails if memory ran out, and the writer left an element out
  return reinterpret_cast<const char*>(xmlBufferContent(buffer_.get()));
}

}  // namespace dadsim::scenario
