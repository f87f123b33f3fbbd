#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/execute.h>
#include <retrace/models/tasks/simulated.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::int64_t longest_number = 17;
constexpr std::int64_t max_digits = 37;  // of an exact value

std::span<const ProgramOp> ops_of(ProgramKind kind) {
  using enum ProgramOp;
  static constexpr std::array addition{sum};
  static constexpr std::array control{condition, loop};
  static constexpr std::array loops{loop};
  static constexpr std::array algebra_control{sum, difference, condition};
  static constexpr std::array full{sum, difference, product, condition, loop};
  switch (kind) {
    case ProgramKind::addition:
      return addition;
    case ProgramKind::control:
      return control;
    case ProgramKind::loops:
      return loops;
    case ProgramKind::algebra_control:
      return algebra_control;
    case ProgramKind::full:
      return full;
    default:
      return {};
  }
}

/// The class of every character of a row.
constexpr auto classes = [] {
  std::array<std::uint8_t, 128> result{};
  for (std::size_t k = 0; k < Execute::characters.size(); ++k)
    result[static_cast<std::size_t>(Execute::characters[k])] = static_cast<std::uint8_t>(k);
  return result;
}();
std::int64_t class_of(char character) { return classes[static_cast<std::size_t>(character)]; }

std::int64_t or_all(std::int64_t current, std::int64_t all) { return current == 0 ? all : current; }

}  // namespace

/// A program, without the end mark, and its output.
struct Execute::Draw {
  Program program;
  Characters digits;  // to memorise
  std::string_view code;
  Characters output;
};

Execute::Execute(const ExecuteOptions& options)
    : Task("execute", TaskKind::classification), options_(options), ops_(ops_of(options.program)) {
  const auto [program, length, nesting, current_length, current_nesting, mix] = options;
  if (length < 1 || nesting < 1 || length > longest_number || (!is_memorised() && nesting >= max_digits / length))
    throw ValueError(text("execute: programs of nesting ", nesting, " with numbers of ", length,
                          " digits are not for this task; take 1 or more of both, a length of at most ", longest_number,
                          ", and length * (nesting + 1) of at most ", max_digits));
  if (current_length < 0 || current_length > length || current_nesting < 0 || current_nesting > nesting)
    throw ValueError(text("execute: a current length of ", current_length, " and nesting of ", current_nesting,
                          " lie outside the task's ", length, " and ", nesting, "; lower them, or 0 for all"));
  if (!(mix >= 0 && mix <= 1))
    throw ValueError(text("execute: a mix of ", mix, " is not a share of the samples; give 0 to 1"));
  program_length_ = is_memorised() ? length : longest_program(ops_, length, nesting);
}

std::unique_ptr<Task> Execute::make(const TaskOptions& given) {
  ExecuteOptions options;
  if (given.program) options.program = program_kind(*given.program);
  options.length = given.length.value_or(options.length);
  options.nesting = given.nesting.value_or(options.nesting);
  auto task = std::make_unique<Execute>(options);
  if (given.nesting && task->is_memorised())
    throw ValueError(text("execute: the digits of the program '", *given.program,
                          "' are not nested; leave nesting out, or choose another program"));
  return task;
}

std::int64_t Execute::answer_length() const {
  if (!is_memorised()) return options_.length + 1;
  return (options_.program == ProgramKind::twice ? 2 : 1) * options_.length;
}

std::int64_t Execute::current_among(std::int64_t samples) const {
  return samples - static_cast<std::int64_t>(options_.mix * static_cast<double>(samples));
}

void Execute::draw(Random& random, bool is_current, Draw& to) const {
  std::int64_t length = or_all(options_.current_length, options_.length);
  std::int64_t nesting = or_all(options_.current_nesting, options_.nesting);
  if (!is_current) length = 1 + random.integer(options_.length), nesting = 1 + random.integer(options_.nesting);
  if (is_memorised()) return draw_digits(random, length, to);
  to.program.draw(random, ops_, length, nesting);
  to.code = to.program.code();
  std::int64_t modulus = 10;
  for (std::int64_t digit = 0; digit < options_.length; ++digit) modulus *= 10;
  std::int64_t result = floor_mod(to.program.value(), modulus);
  to.output.clear();
  do {
    to.output.push_back(static_cast<char>('0' + result % 10));
    result /= 10;
  } while (result > 0);
  std::ranges::reverse(to.output);
}

void Execute::draw_digits(Random& random, std::int64_t length, Draw& to) const {
  to.digits.resize(static_cast<std::size_t>(length));
  for (char& digit : to.digits) digit = static_cast<char>('0' + random.integer(10));
  to.code = {to.digits.data(), to.digits.size()};
  to.output.assign(to.digits.begin(), to.digits.end());
  if (options_.program == ProgramKind::reverse) std::ranges::reverse(to.output);
  if (options_.program == ProgramKind::twice) to.output.insert(to.output.end(), to.digits.begin(), to.digits.end());
}

Baselines Execute::baselines() const {
  std::vector<std::array<std::int64_t, answers.size()>> counts(static_cast<std::size_t>(answer_length()));
  Draw drawn;
  Random random = random_for_baselines();
  const std::int64_t current = current_among(draws_for_baselines);
  for (int sample = 0; sample < draws_for_baselines; ++sample) {
    draw(random, sample < current, drawn);
    for (std::size_t k = 0; k < drawn.output.size(); ++k)
      ++counts[k][static_cast<std::size_t>(class_of(drawn.output[k]))];
  }
  double right = 0, counted = 0;
  for (const auto& of_place : counts) {
    right += static_cast<double>(*std::ranges::max_element(of_place));
    for (const std::int64_t count : of_place) counted += static_cast<double>(count);
  }
  return {.chance = 1 / static_cast<double>(output_size()),
          .trivial = right / counted,
          .trivial_answer = "the commonest of each place",
          .ceiling = 1};
}

std::vector<Lesson> Execute::lessons() const {
  constexpr double known = 0.8, of_every_difficulty = 0.5;
  std::vector<Lesson> lessons;
  ExecuteOptions easier = options_;
  easier.mix = of_every_difficulty;
  const std::int64_t nestings = is_memorised() ? 1 : options_.nesting;
  if (nestings * options_.length == 1) return lessons;  // nothing is easier
  for (easier.current_nesting = 1; easier.current_nesting <= nestings; ++easier.current_nesting)
    for (easier.current_length = 1; easier.current_length <= options_.length; ++easier.current_length)
      lessons.push_back({std::make_unique<Execute>(easier), known, 1 - of_every_difficulty});
  return lessons;
}

void Execute::fill(Random& random, const Batch& batch) const {
  Draw drawn;
  const std::int64_t current = current_among(batch.x.dim(0));
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "execute", [&](auto zero) {
    using T = decltype(zero);
    T* rows = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, rows += sequence_length() * input_size()) {
      draw(random, sample < current, drawn);
      T* row = rows + (program_length_ - std::ssize(drawn.code)) * input_size();
      for (const char character : drawn.code) {
        row[class_of(character)] = 1;
        row += input_size();
      }
      row[class_of('!')] = 1;
      std::int64_t* const end = answer + answer_length();
      for (const char digit : drawn.output) *answer++ = class_of(digit);
      answer = std::fill_n(answer, end - answer, no_answer);
    }
  });
}

std::span<const std::string_view> program_names() {
  static constexpr std::array<std::string_view, 8> names{"addition", "control", "loops",   "algebra-control",
                                                         "full",     "copy",    "reverse", "double"};
  return names;
}

ProgramKind program_kind(std::string_view name) {
  const auto found = std::ranges::find(program_names(), name);
  if (found == program_names().end()) throw ValueError(unknown_name("execute", "program", name, program_names()));
  return static_cast<ProgramKind>(found - program_names().begin());
}

std::int64_t Execute::topic(const Example& example, std::int64_t t) const { return hot(example.row(t)); }

std::string Execute::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t character = topic(example, t);
  return character < 0 ? "" : std::string(1, characters[static_cast<std::size_t>(character)]);
}

std::string Execute::describe(const Example& example) const {
  std::string code;
  for (std::int64_t t = 0; t < example.length(); ++t) code += describe_row(example, t);
  return code.substr(0, code.find('!'));
}

namespace {

/// Operations by their sign or word, "for" before the "+" that it contains; "none" for an expression without one.
constexpr std::array<std::string_view, 6> operations{"for", "if", "+", "-", "*", "none"};

/// The index in operations of the one inside `depth` pairs of parentheses.
std::size_t operation_at(const std::string& code, std::int64_t depth) {
  std::string there;
  std::int64_t current = 0;
  for (const char character : code) {
    current += character == '(' ? 1 : character == ')' ? -1 : 0;
    if (current == depth) there += character;
  }
  const auto found = std::find_if(operations.begin(), operations.end() - 1,
                                  [&](auto sign) { return there.find(sign) != std::string::npos; });
  return static_cast<std::size_t>(found - operations.begin());
}

Category outermost_operation(const std::string& code) {
  const std::size_t outer = operation_at(code, 0);
  return {"outermost operation", static_cast<std::int64_t>(outer), operations[outer]};
}

/// For programs with at least two operations.
Category outermost_two(const std::string& code) {
  static const auto pairs = [] {
    std::array<std::string, operations.size() * operations.size()> names;
    for (std::size_t k = 0; k < names.size(); ++k)
      names[k] = text(operations[k / operations.size()], " around ", operations[k % operations.size()]);
    return names;
  }();
  const std::size_t pair = operation_at(code, 0) * operations.size() + operation_at(code, 1);
  return {"outermost two operations", static_cast<std::int64_t>(pair), pairs[pair]};
}

std::int64_t digits_of_longest_number(const std::string& code) {
  std::int64_t longest = 0, digits = 0;
  for (const char character : code) {
    digits = character >= '0' && character <= '9' ? digits + 1 : 0;
    longest = std::max(longest, digits);
  }
  return longest;
}

}  // namespace

std::vector<Category> Execute::categories(const Example& example, std::int64_t answer) const {
  const std::string code = describe(example);
  std::vector<Category> result{{"digits of a number", digits_of_longest_number(code)},
                               {"position in the output", answer + 1}};
  if (is_memorised()) return result;
  const std::int64_t nesting = 1 + std::ranges::count(code, '(');
  result.push_back({"nesting", nesting});
  result.push_back(outermost_operation(code));
  if (nesting > 1) result.push_back(outermost_two(code));
  return result;
}

std::unique_ptr<Task> Execute::of_every_difficulty() const {
  ExecuteOptions options = options_;
  options.mix = 1;
  return std::make_unique<Execute>(options);
}

std::string Execute::describe_label(std::int64_t label) const {
  return label == no_answer ? "" : std::string(1, answers[static_cast<std::size_t>(label)]);
}

}  // namespace retrace
