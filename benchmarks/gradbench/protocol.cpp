#include <retrace/benchmarks/gradbench/protocol.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

namespace retrace::gradbench {
namespace {

const Eval& find_eval(const Tool& tool, const std::string& name) {
  const auto found = std::ranges::find(tool.evals, name, &Eval::name);
  if (found == tool.evals.end()) throw ValueError(text("gradbench: there is no eval ", name));
  return **found;
}

const Function& find_function(const Eval& eval, const std::string& name) {
  const auto found = std::ranges::find(eval.functions, name, &Function::name);
  if (found == eval.functions.end())
    throw ValueError(text("gradbench: the eval ", eval.name, " has no function ", name));
  return *found;
}

std::int64_t nanoseconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

/// The answer of a function, and the time that each call took.
struct Evaluation {
  Answer answer;
  std::int64_t preparation = 0;  // in nanoseconds, as all times
  std::vector<std::int64_t> runs;
};

// Runs the function as often, and for as long, as its input asks for.
Evaluation evaluate(const Function& function, const Input& input) {
  Evaluation result;
  Run run;
  result.preparation = nanoseconds_of([&] { run = function.prepare(input); });
  const std::int64_t runs = input.has("min_runs") ? input.integer("min_runs") : 1;
  const double seconds = input.has("min_seconds") ? input.number("min_seconds") : 0;
  for (double total = 0; result.runs.empty() || std::ssize(result.runs) < runs || total < 1e9 * seconds;) {
    result.runs.push_back(nanoseconds_of([&] { result.answer = run(); }));
    total += static_cast<double>(result.runs.back());
  }
  return result;
}

void write_timing(JsonWriter& json, const char* name, std::int64_t nanoseconds) {
  json.begin_object().key("name").value(name).key("nanoseconds").value(nanoseconds).end_object();
}

void write(JsonWriter& json, const Evaluation& evaluation) {
  json.key("success").value(true);
  evaluation.answer.write(json.key("output"));
  json.key("timings").begin_array();
  write_timing(json, "prepare", evaluation.preparation);
  for (const std::int64_t run : evaluation.runs) write_timing(json, "evaluate", run);
  json.end_array();
}

}  // namespace

std::string respond(const Tool& tool, const std::string& line) {
  const JsonValue message = read_json_tree(line);
  const Input fields(message);
  const std::string kind = fields.word("kind");
  JsonWriter response;
  response.begin_object().key("id").value(fields.integer("id"));
  if (kind == "start") response.key("tool").value(tool.name);
  try {
    if (kind == "define") {
      find_eval(tool, fields.word("module"));
      response.key("success").value(true);
    } else if (kind == "evaluate") {
      const Function& function = find_function(find_eval(tool, fields.word("module")), fields.word("function"));
      write(response, evaluate(function, fields.object("input")));
    }
  } catch (const Error& error) {
    response.key("success").value(false).key("error").value(error.what());
  }
  return response.end_object().text();
}

int serve(const Tool& tool) try {
  const DtypeScope scope(f64);
  for (std::string line; std::getline(std::cin, line);) std::cout << respond(tool, line) << std::endl;
  return 0;
} catch (const std::exception& error) {
  std::cerr << "gradbench: " << error.what() << '\n';
  return 1;
}

}  // namespace retrace::gradbench
