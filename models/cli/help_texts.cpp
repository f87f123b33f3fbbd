#include <retrace/core/base/error.h>
#include <retrace/models/cli/help_texts.h>
#include <retrace/ops/kernels/isa.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

constexpr std::array all_examples{
    CommandExample{"study", "retrace study multi-head-attention --causal --out attention.html",
                   "every number of a forward and a backward, as a page"},
    CommandExample{"study", "retrace study lstm --tokens 8 --gradient-flow",
                   "where the gradient vanishes on its way back in time"},
    CommandExample{"study", "retrace study --expr \"softmax(matmul(q, transpose(k)) / 2)\" --input q=4x8 --input k=4x8",
                   "the backward of a function of your own"},
    CommandExample{"train", "retrace train babi --model lstm --out runs/babi",
                   "a small training; weights, checkpoint and curves go to runs/babi"},
    CommandExample{"train", "retrace train babi --model lstm --out runs/babi --resume",
                   "goes on with it after Ctrl-C or a crash, to the same bytes"},
    CommandExample{"train", "retrace train data --data flowers.csv --label species --out runs/flowers",
                   "classes in a .csv file of your own, a sample a line"},
    CommandExample{"eval", "retrace eval runs/babi", "where a trained model is right, and where it fails"},
    CommandExample{"eval", "retrace eval runs/babi --failures 10 --json",
                   "the same for a program, with ten wrong answers"},
    CommandExample{"eval", "retrace eval runs/babi --facts 10", "on longer stories than it was trained on"},
    CommandExample{"predict", "retrace predict runs/flowers --input flowers.csv", "the classes of its lines, in words"},
    CommandExample{"predict", "retrace predict runs/flowers --input flowers.csv --json --out answers.json",
                   "with all probabilities, for a program"},
    CommandExample{"export", "retrace export runs/babi --onnx babi.onnx", "the model as a file for other programs"},
    CommandExample{"export", "retrace export runs/babi --onnx babi.onnx --f64 --json",
                   "in double precision, and what the file holds, for a program"},
    CommandExample{"generate", "retrace train text --text book.txt --model lstm --out runs/text",
                   "first, a model of the characters of a text"},
    CommandExample{"generate", "retrace generate runs/text --prompt \"Once \" --temperature 0.8",
                   "goes on writing with that model"},
    CommandExample{"compare", "retrace compare babi --models lstm,gru --seeds 3 --minutes 0.1",
                   "two models, three seeds each, six seconds a training"},
    CommandExample{"compare",
                   "retrace compare parity --models lstm,relational-rnn --match parameters --out runs/compare",
                   "sizes with equally many parameters; a page with the curves"},
    CommandExample{"ablate", "retrace ablate nth-farthest --vectors 4 --dims 2 --factors gate,residual --minutes 0.1",
                   "what gate and residuals are worth"},
    CommandExample{"ablate", "retrace ablate recall --model rmc --seeds 3 --minutes 0.1 --out runs/ablate",
                   "everything, one at a time, with three seeds"},
    CommandExample{"tune", "retrace tune parity --model rnn --steps 400 --scales 1 --out runs/tune",
                   "ten candidates, three rounds of 100 to 400 steps; a table and the best command"},
    CommandExample{"tune", "retrace tune parity --model rnn --steps 400 --scales 1 --out runs/tune --resume",
                   "goes on with it after Ctrl-C"},
    CommandExample{"show", "retrace show babi", "three stories with their questions and answers"},
    CommandExample{"show", "retrace show copy --length 4 --count 1 --json",
                   "a word, its rows and labels, for a program"},
    CommandExample{"gradcheck", "retrace gradcheck softmax lstm", "two rows of the table; without names, all"},
    CommandExample{"gradcheck", "retrace gradcheck --expr \"tanh(matmul(x, w))\" --input x=3x4 --input w=4x2",
                   "a function of your own"},
    CommandExample{"gradcheck", "retrace gradcheck --command ./mine --input x=12",
                   "a program of your own, which answers lines of JSON"},
    CommandExample{"selfcheck", "retrace selfcheck bugs", "one part; without a name all, within a minute"},
    CommandExample{"selfcheck", "retrace selfcheck files --json", "for a program"},
    CommandExample{"info", "retrace info rmc", "weights, shapes, bytes, operations of a step"},
    CommandExample{"info", "retrace info lstm --task babi --json", "the same with the sizes for babi, for a program"},
    CommandExample{"demo", "retrace demo attention", "one small experiment, as tables"},
    CommandExample{"demo", "retrace demo", "checks every gradient, then trains and compares two models"},
};

constexpr std::array all_exit_statuses{
    Meaning{"0", "when all went well"},
    Meaning{"1",
            "when something failed (a training that diverged: its loss is not finite, or more than twice that of "
            "an untrained model; a file that cannot be read or written; a gradient that is wrong)"},
    Meaning{"2", "for a wrong command line"},
    Meaning{"129", "after SIGHUP, as when its terminal is closed"},
    Meaning{"130", "after Ctrl-C"},
    Meaning{"143", "after SIGTERM"},
};

/// "the instruction set of the kernels (v2, v3, v4) ...".
std::string meaning_of_isa() {
  std::string names;
  for (const char* name : kernels::built_names()) names += text(names.empty() ? "" : ", ", name);
  return text("the instruction set of the kernels (", names, ") instead of the machine's best");
}

/// "  NO_COLOR         if set ...", each on lines of at most 80 characters.
std::string listed(std::span<const Meaning> meanings) {
  std::size_t longest = 0;
  for (const Meaning& each : meanings) longest = std::max(longest, each.word.size());
  const std::size_t indent = longest + 4;
  std::string result;
  for (const Meaning& each : meanings) {
    result += text("  ", each.word, std::string(indent - 2 - each.word.size(), ' '));
    result += wrapped(each.meaning, 80 - indent, indent) + '\n';
  }
  return result;
}

}  // namespace

std::string wrapped(std::string_view words, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    const bool fits = column + 1 + word.size() <= width;
    if (column > 0) result += fits ? " " : "\n" + std::string(indent, ' ');
    result += word;
    column = (column > 0 && fits ? column + 1 : 0) + word.size();
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return result;
}

std::span<const CommandExample> examples() { return all_examples; }
std::span<const Meaning> exit_statuses() { return all_exit_statuses; }
std::span<const Meaning> environment() {
  static const std::string isa = meaning_of_isa();
  static const std::array variables{
      Meaning{"NO_COLOR", "if set and not empty, nothing is coloured; what goes into a pipe or a file never is"},
      Meaning{"COLUMNS", "the width of the progress line where the terminal does not tell it"},
      Meaning{"OMP_NUM_THREADS", "the number of threads without --threads; results do not depend on it"},
      Meaning{"RETRACE_ISA", isa},
  };
  return variables;
}

std::string end_of_help(std::string_view command) {
  if (command.empty())
    return text("Exit status:\n", listed(exit_statuses()), "\nEnvironment:\n", listed(environment()));
  std::string result;
  for (const CommandExample& example : examples())
    if (example.command == command) result += text("  # ", example.meaning, "\n  ", example.line, "\n");
  return result.empty() ? result : "Examples:\n" + result;
}

}  // namespace retrace
