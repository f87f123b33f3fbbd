// amalgamate SOURCE OUTPUT VERSION: writes the libraries core, ops and nn as OUTPUT/retrace.h and OUTPUT/retrace.cpp.
//
// Each header goes where it is first included. Names in unnamed namespaces that several files have get the name of
// their file in front. The kernels go in once for each instruction set, among functions that are compiled for it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What did not change is not written, and then nothing is compiled again.
void write(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read(path) == text) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Puts each header in place of its first #include <retrace/...>, and nothing in place of the others.
class Includes {
 public:
  explicit Includes(fs::path source) : source_(std::move(source)) {}

  std::string expand(const std::string& text) {
    static const std::string begin = "#include <retrace/";
    std::string result;
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with(begin)) {
        const std::string header = line.substr(begin.size(), line.find('>') - begin.size());
        if (seen_.insert(header).second) result += expand(read(source_ / header));
      } else if (line != "#pragma once") {
        result += line + '\n';
      }
    }
    return result;
  }

 private:
  fs::path source_;
  Names seen_;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The first position at or after `at` that is neither in a comment nor in a literal.
std::size_t skip_literals(const std::string& text, std::size_t at) {
  const auto after = [&](const std::string& end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string::npos ? text.size() : found + end.size();
  };
  const bool digits = at > 0 && is_word(text[at - 1]);  // 1'000
  if (text.compare(at, 2, "//") == 0) return after("\n", at);
  if (text.compare(at, 2, "/*") == 0) return after("*/", at);
  if (text.compare(at, 3, "R\"(") == 0) return after(")\"", at);
  if (text[at] != '"' && (text[at] != '\'' || digits)) return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// Puts `prefix` in front of each of `names`, where it is not a member of something.
std::string rename(const std::string& text, const Names& names, const std::string& prefix) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = skip_literals(text, at);
    if (end == at && is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string before = at >= 2 ? text.substr(at - 2, 2) : "";
      const bool member = before == "::" || before == "->" || before.ends_with('.');
      if (!member && names.contains(text.substr(at, end - at))) result += prefix;
    }
    end = std::max(end, at + 1);
    result += text.substr(at, end - at);
    at = end;
  }
  return result;
}

bool is_using_declaration(const std::string& line) {
  return line.starts_with("using ") && line.find('=') == std::string::npos;
}

/// The names that unnamed namespaces of a file declare. Nothing else than a declaration begins in the first column.
Names file_local_names(const std::string& text) {
  static const std::regex begins_template("^template <[^(]*> (?=[a-z_A-Z:]+[^>]*[ (])"),
      type("^(?:struct|class|enum class|enum|union|concept) (\\w+)"), other("(\\w+)(?:\\(|\\{|\\[| =|;|$)");
  Names names;
  bool inside = false;
  for (std::string line : lines_of(text)) {
    if (line == "namespace {") inside = true;
    if (line == "}  // namespace") inside = false;
    if (!inside || line.empty() || !(is_word(line[0]) || line[0] == '[')) continue;
    line = std::regex_replace(line, begins_template, "");
    std::smatch match;
    if (line.starts_with("namespace") || line.starts_with("template <") || is_using_declaration(line)) continue;
    if (std::regex_search(line, match, type) || std::regex_search(line, match, other)) names.insert(match[1]);
  }
  return names;
}

struct Source {
  std::string name;
  std::string text;
  Names local_names;
};

/// One after another, each under its name. The text of headers has no prefix.
std::string join(Includes& includes, std::vector<Source> sources) {
  std::map<std::string, int> files_with;
  std::string headers, bodies;
  for (Source& source : sources) {
    std::string body;
    for (const std::string& line : lines_of(source.text))
      (line.starts_with("#include <retrace/") ? headers : body) += line + '\n';
    source.text = body;
    source.local_names = file_local_names(body);
    for (const std::string& name : source.local_names) ++files_with[name];
  }
  for (Source& source : sources) {
    std::erase_if(source.local_names, [&](const std::string& name) { return files_with[name] == 1; });
    std::string prefix = source.name.substr(0, source.name.size() - 4) + '_';
    std::replace(prefix.begin(), prefix.end(), '/', '_');
    bodies += "\n// ---- " + source.name + "\n\n" + rename(source.text, source.local_names, prefix);
  }
  return includes.expand(headers) + bodies;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// How compilers are told which instructions a function may have. (g++ sets the macros that headers ask for, clang does
/// not; so the questions are answered here.)
struct InstructionSet {
  std::string name;
  std::string macro;        ///< defined if the kernels are wanted
  std::string target = "";  ///< "": what the compiler's flags say
  std::string tuning = "";  ///< g++ only
  bool has_avx2 = false;    ///< and FMA
  bool has_avx512 = false;
};

/// The passes of g++ that take long and matter in kernels alone, as arguments of #pragma GCC optimize that turn them
/// on, or, with the prefix "no-", off.
std::string slow_passes(const std::string& prefix = "") {
  std::string result;
  for (const char* pass :
       {"schedule-insns2", "tree-pre", "gcse", "thread-jumps", "tree-vrp", "tree-pta", "tree-dominator-opts"})
    result += (result.empty() ? "\"" : ", \"") + prefix + pass + '"';
  return result;
}

std::string kernels_for(const InstructionSet& isa, Includes includes, const std::vector<Source>& sources) {
  std::string text = join(includes, sources);
  replace_all(text, "RETRACE_ISA_NAMESPACE", "isa_" + isa.name);
  if (isa.target.empty()) return text;
  replace_all(text, "defined(__SSE4_2__)", "1");
  replace_all(text, "defined(__AVX512F__)", isa.has_avx512 ? "1" : "0");
  replace_all(text, "defined(__AVX2__)", isa.has_avx2 ? "1" : "0");
  replace_all(text, "defined(__FMA__)", isa.has_avx2 ? "1" : "0");
  return "#if defined(__clang__)\n#pragma clang attribute push(__attribute__((target(\"" + isa.target +
         "\"))), apply_to = function)\n#else\n#pragma GCC push_options\n#pragma GCC target(\"" + isa.target +
         isa.tuning + "\")\n#pragma GCC optimize(\"O3\", \"no-trapping-math\", \"no-math-errno\", " + slow_passes() +
         ")\n#endif\n" + text +
         "#if defined(__clang__)\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n";
}

/// The headers of the standard library that sources include: none may come first among functions of one instruction
/// set.
std::string standard_headers(const std::string& text) {
  Names found;
  for (const std::string& line : lines_of(text))
    if (line.starts_with("#include <") && line != "#include <immintrin.h>") found.insert(line + '\n');
  std::string result;
  for (const std::string& line : found) result += line;
  return result;
}

bool is_kernel(const std::string& name) { return name.ends_with("_isa.cpp") || name == "ops/kernels/isa_table.cpp"; }

std::vector<Source> sources_of(const fs::path& root) {
  std::vector<Source> sources;
  for (const char* folder : {"core", "nn", "ops"}) {
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(root / folder)) {
      const std::string name = fs::relative(file.path(), root).generic_string();
      if (!name.ends_with(".cpp") || name.starts_with("ops/checks/")) continue;
      sources.push_back({name, read(file.path()), {}});
    }
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.name < b.name; });
  return sources;
}

const std::string v2 = "sse3,ssse3,sse4.1,sse4.2,popcnt", v3 = v2 + ",avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe",
                  v4 = v3 + ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl";
const std::vector<InstructionSet> instruction_sets = {
    {.name = "generic", .macro = "RETRACE_HAS_GENERIC"},
    {.name = "v2", .macro = "RETRACE_HAS_V2", .target = v2},
    {.name = "v3", .macro = "RETRACE_HAS_V3", .target = v3, .has_avx2 = true},
    {.name = "v4",
     .macro = "RETRACE_HAS_V4",
     .target = v4,
     .tuning = ",prefer-vector-width=512",
     .has_avx2 = true,
     .has_avx512 = true},
};

const std::string beginning = R"(#if defined(__GNUC__) && !defined(__clang__) && !defined(RETRACE_NATIVE)
// An eighth less time to compile. The kernels, which are compiled for each instruction set, have these passes again; a
// tape of ops on a few numbers each is slower by some per cent.
#pragma GCC optimize()" + slow_passes("no-") +
                              R"()
#endif
#include "retrace.h"

#if defined(__clang__)
#pragma clang fp contract(fast)
#else
#pragma GCC diagnostic ignored "-Wpsabi"  // no vector is passed between functions of different instruction sets
#endif

// The kernels of three instruction sets, of which one is chosen at start; with -DRETRACE_NATIVE, and on other machines
// than x86-64, those of the one that the compiler's flags say (-march=native).
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__x86_64__) && !defined(RETRACE_NATIVE)
#define RETRACE_HAS_V2
#define RETRACE_HAS_V3
#define RETRACE_HAS_V4
#else
#define RETRACE_HAS_GENERIC
#endif
)";

void amalgamate(const fs::path& root, const fs::path& output, const std::string& version) {
  const std::string title = "// Retrace " + version +
                            ", the libraries core, ops and nn as two files, made by the target `amalgamation`:\n"
                            "//   g++ -std=c++20 -O2 program.cpp retrace.cpp\n//\n";
  std::string license;
  for (const std::string& line : lines_of(read(root / "LICENSE")))
    license += line.empty() ? "//\n" : "// " + line + '\n';

  Includes includes(root);
  write(output / "retrace.h", title + license + "#pragma once\n\n" + includes.expand(read(root / "nn/nn.h")));

  std::vector<Source> plain = sources_of(root), kernels;
  const auto first_kernel =
      std::stable_partition(plain.begin(), plain.end(), [](const Source& source) { return !is_kernel(source.name); });
  std::move(first_kernel, plain.end(), std::back_inserter(kernels));
  plain.erase(first_kernel, plain.end());
  const std::string all_plain = join(includes, plain);
  std::string regions, generic;
  for (const InstructionSet& isa : instruction_sets) {
    const std::string text = kernels_for(isa, includes, kernels);
    regions += "\n#if defined(" + isa.macro + ")\n" + text + "#endif\n";
    if (isa.target.empty()) generic = text;
  }
  write(output / "retrace.cpp", title + license + beginning + standard_headers(generic) + all_plain + regions);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 4) throw std::runtime_error("usage: amalgamate SOURCE OUTPUT VERSION");
    amalgamate(arguments[1], arguments[2], arguments[3]);
  } catch (const std::exception& error) {
    std::cerr << "amalgamate: " << error.what() << '\n';
    return 1;
  }
}
