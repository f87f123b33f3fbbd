// Untrained models of texts.
#pragma once

#include <retrace/models/networks/model_options.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/tasks/text/text_task.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/stored_run.h>

#include <string>
#include <utility>

namespace retrace {

inline TextData characters_of(const std::string& utf8) { return make_text_data(utf8, TokenKind::characters, "a text"); }

inline StoredRun untrained(TextData data, std::string_view model, std::int64_t length = 8, std::int64_t hidden = 16,
                           const ModelForm& form = {}) {
  StoredRun run;
  run.task_name = text_task;
  run.task = std::make_unique<TextTask>(std::move(data), length);
  run.spec = {.name = std::string(model), .sizes = {.hidden = hidden}, .form = form};
  if (model == "rmc") run.spec.sizes = {.hidden = hidden, .slot_size = hidden, .slots = 1, .heads = 4};
  if (has_option(run.spec, "causal")) run.spec.form.causal = true;
  Random random = Random(1).stream("weights");
  run.model = make_model_for(*run.task, run.spec, random);
  return run;
}

inline const TextData& data_of(const StoredRun& run) { return *run.task->text_data(); }

/// As a training tests on a text.
inline Evaluation tested_on(const StoredRun& run, TokenIds ids) {
  return evaluate(*run.model, *run.task, ids, streams_of_test(ids));
}

}  // namespace retrace
