// A report that is described once, part by part, and printed as text for a terminal and as a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/reports/document/facts.h>

namespace retrace {

class Document {
 public:
  /// `style` is added to that of every page.
  explicit Document(std::string title, std::string_view style = "") : title_(std::move(title)), style_(style) {}

  /// A heading of the page, and an empty line of the text, which is indented from here on.
  void section(const std::string& title);
  /// A section with its heading in both.
  void heading(const std::string& words);
  void subheading(const std::string& words);
  /// One line of the text, however long it is.
  void line(const std::string& words);
  /// Broken into lines in the text.
  void paragraph(const std::string& words);
  /// `alignment` is that of text_table().
  void table(const std::vector<FactRow>& rows, std::string_view alignment = "lr");
  /// Lines as they are.
  void verbatim(const std::string& lines);

  /// Lines of the text that the page does not have, and markup of the page that the text does not have.
  void in_text(const std::string& lines);
  void on_page(const std::string& markup) { page_ += markup; }

  /// For a terminal, without the title.
  const std::string& as_text() const { return text_; }
  /// Self-contained.
  std::string as_page() const;

 private:
  void add_element(const char* name, const std::string& words);

  std::string title_, style_, text_, page_, indent_;
};

}  // namespace retrace
