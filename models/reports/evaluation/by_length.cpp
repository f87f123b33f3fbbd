#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/document/facts.h>
#include <retrace/models/reports/evaluation/by_length.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/ranks/jobs.h>

#include <algorithm>
#include <charconv>

namespace retrace {
namespace {

constexpr std::int64_t samples_unless_given = 64;
constexpr std::int64_t bins_of_all = 10;

std::unique_ptr<Task> task_of_length(const StoredRun& run, std::int64_t length) {
  std::unique_ptr<Task> task = run.task->of_length(length);
  if (task == nullptr)
    throw ValueError(text("eval: the task '", run.task_name,
                          "' has no inputs of other lengths; leave --by-length out (parity-check and the other tasks "
                          "on strings have them)"));
  return task;
}

std::vector<LengthBin> bins_of(const std::vector<ResultsByLength::AtLength>& lengths) {
  const std::int64_t count = std::ssize(lengths), bins = std::min(count, bins_of_all);
  std::vector<LengthBin> result;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const std::int64_t begin = bin * count / bins, end = (bin + 1) * count / bins;
    double sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum += lengths[static_cast<std::size_t>(k)].value;
    result.push_back({lengths[static_cast<std::size_t>(begin)].length,
                      lengths[static_cast<std::size_t>(end - 1)].length, sum / static_cast<double>(end - begin),
                      end - begin});
  }
  return result;
}

std::vector<FactRow> fact_rows(const ResultsByLength& results) {
  std::vector<FactRow> rows;
  for (const auto& [first, last, value, lengths] : results.bins)
    rows.push_back({{"first", first},
                    {"last", last},
                    {"", first == last ? text(first) : text(first, "..", last), "length"},
                    {"value", value, std::string(name_of(results.metric)), "%.4f"},
                    {"lengths", lengths, "lengths"}});
  return rows;
}

}  // namespace

LengthRange length_range_named(std::string_view words) {
  LengthRange range;
  const char *next = words.data(), *const end = next + words.size();
  const auto number = [&](std::int64_t& value) {
    const auto [after, error] = std::from_chars(next, end, value);
    next = after;
    return error == std::errc();
  };
  const auto sign = [&](std::string_view expected) {
    if (!std::string_view(next, static_cast<std::size_t>(end - next)).starts_with(expected)) return false;
    next += expected.size();
    return true;
  };
  bool right = number(range.first) && sign("..") && number(range.last);
  if (right && next != end) right = sign("/") && number(range.step) && next == end;
  if (!right || range.first < 1 || range.last < range.first || range.step < 1)
    throw ValueError(text("--by-length: '", words, "' is no range of lengths; write FIRST..LAST or FIRST..LAST/STEP, ",
                          "such as 41..500/10"));
  return range;
}

ResultsByLength evaluate_by_length(const StoredRun& run, const LengthRange& range, const ByLengthOptions& options,
                                   Communicator* ranks) {
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  ResultsByLength results{.path = run.path,
                          .task = run.task_name,
                          .model = full_name(run.spec),
                          .metric = run.task->metric(),
                          .samples = options.samples.value_or(samples_unless_given),
                          .seed = options.seed.value_or(run.seed),
                          .baselines = run.task->baselines()};
  check_reads(run, *task_of_length(run, range.last));
  const auto metric_at = [&](std::int64_t place) {
    const std::int64_t length = range.first + place * range.step;
    const std::unique_ptr<Task> task = task_of_length(run, length);
    const Random random = Random(results.seed).stream(text("length ", length));
    return evaluate(*run.model, *task, random, results.samples).metric;
  };
  const std::vector<double> metrics = numbers_of_jobs((range.last - range.first) / range.step + 1, metric_at, ranks);
  double sum = 0;
  for (const double metric : metrics) {
    results.lengths.push_back({range.first + std::ssize(results.lengths) * range.step, metric});
    sum += metric;
  }
  results.score = sum / static_cast<double>(results.lengths.size());
  results.bins = bins_of(results.lengths);
  return results;
}

std::string to_text(const ResultsByLength& results) {
  return text(results.model, " on ", results.task, " (", results.path, ")\n\n",
              text_table(printed_rows(fact_rows(results)), "lr"), "\nscore: ", in_digits(results.score, "%.4f"),
              " (mean ", name_of(results.metric), " over ", results.lengths.size(), " lengths of ", results.samples,
              " samples; chance ", in_digits(results.baselines.chance), ")\n");
}

std::string to_json(const ResultsByLength& results) {
  const auto at_length = [](const ResultsByLength::AtLength& at) {
    return JsonObject{{"length", at.length}, {"value", at.value}};
  };
  return JsonObject{{"path", results.path},
                    {"task", results.task},
                    {"model", results.model},
                    {"metric", name_of(results.metric)},
                    {"samples", results.samples},
                    {"seed", results.seed},
                    {"score", results.score},
                    {"chance", results.baselines.chance},
                    {"bins", list_of(fact_rows(results), object_of)},
                    {"lengths", list_of(results.lengths, at_length)}}
      .text();
}

}  // namespace retrace
