// The flags of the commands that inspect: show, gradcheck, selfcheck, info and demo.
#include <retrace/models/checks/selfcheck/selfcheck.h>
#include <retrace/models/cli/command_flags.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/demos/demos.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace retrace {

void add_show_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand("show", "Prints samples of a task in words, and what its results mean");
  command->add_option("task", flags->task, listed_tasks() + ", or data: your own, in --data FILE")->required();
  add_options(*command, task_option_rows(), flags->options);
  add_seed(*command, "--seed", flags->seed, "seed of the samples");
  constexpr std::int64_t most = 10000;
  add_count(*command, "--count", flags->count, "number of samples", 1, most);
  add_common_flags(*command, *flags, {.json = "print them as one JSON object, with their numbers"});
  command->callback([flags, &program] { run_show(*flags, program); });
}

void add_gradcheck_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<GradcheckFlags>();
  CLI::App* command = app.add_subcommand("gradcheck", "Compares gradients with dual numbers and finite differences");
  CLI::Option* names = command->add_option("names", flags->names, "ops, modules and registered models (default: all)");
  const ExpressionOptions options = add_expression_options(
      *command, flags->expression, "check this function instead: \"softmax(matmul(q, transpose(k)) / 2)\"");
  CLI::Option *const expression = options.expression->excludes(names), *const input = options.input;
  CLI::Option* list = command->add_flag("--list", flags->list, "print the names, and check nothing")
                          ->excludes(names)
                          ->excludes(expression);
  CLI::Option* foreign =
      command
          ->add_option("--command", flags->command,
                       "check this program instead, in any language: it reads inputs and writes results and gradients, "
                       "a line of JSON each")
          ->check(not_empty)
          ->excludes(names)
          ->excludes(expression);
  add_number(*command, "--timeout", flags->timeout, "seconds that this program has for an answer", number_above_0)
      ->needs(foreign);
  CLI::Option* seed = add_seed(*command, "--seed", flags->expression.seed, "seed of random cotangents and inputs");
  CLI::Option* kinks =
      add_list(*command, "--kinks", flags->kinks,
               "places of kinks of the function: elements so near to one that a difference would straddle it are "
               "skipped (other elements at kinks are checked by dual numbers and reported)",
               any_number);
  CLI::Option* order =
      add_count(
          *command, "--order", flags->order,
          "order of the derivatives; 2: of the gradients, by dual numbers through the backward and by differences", 1,
          2)
          ->excludes(foreign);
  command
      ->add_flag("--bugs", flags->bugs,
                 "replay public reports of wrong gradients instead: which check finds each, how large its error is, "
                 "and whether a test of the output's sum or at one point would see it")
      ->excludes(names)
      ->excludes(expression)
      ->excludes(foreign)
      ->excludes(list)
      ->excludes(order)
      ->excludes(seed);
  add_common_flags(*command, *flags, {.json = "print the result as one JSON object"});
  command->callback([=, &program] {
    for (const CLI::Option* of_function : {input, kinks})
      if (of_function->count() > 0 && expression->count() + foreign->count() == 0)
        throw CLI::RequiresError(of_function->get_name(), "--expr or --command");
    run_gradcheck(*flags, program);
  });
}

void add_selfcheck_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<SelfcheckFlags>();
  CLI::App* command = app.add_subcommand("selfcheck", "Redoes on this machine what can be checked on it");
  std::string names;
  for (const SelfcheckPart& part : selfcheck_parts()) names += text(names.empty() ? "" : ", ", part.name);
  command->add_option("parts", flags->parts, text("some of ", names, " (default: all)"));
  add_common_flags(*command, *flags, {.json = "print the result as one JSON object"});
  command->callback([flags, &program] { run_selfcheck(*flags, program); });
}

void add_info_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<InfoFlags>();
  CLI::App* command = app.add_subcommand("info", "Prints the parameters of a model and the operations of a step");
  command->add_option("model", flags->run.model.name, listed_models())->required();
  command->add_option("--task", flags->run.task, "task whose sizes it takes")->capture_default_str();
  add_options(*command, model_option_rows(), flags->run.model);
  add_common_flags(*command, *flags, {.json = "print it as one JSON object"});
  command->callback([flags, &program] { run_info(*flags, program); });
}

void add_demo_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<DemoFlags>();
  CLI::App* command =
      app.add_subcommand("demo", "Checks every gradient, trains two models on two tasks, and compares them");
  std::string names;
  for (const std::string_view name : demo_names()) names += text(name, ", ");
  CLI::Option* name =
      command->add_option("name", flags->name, text("instead, the tables of one of these: ", names, "or all"));
  add_count(*command, "--steps", flags->steps, "steps of each training, without a name (default: the task's)")
      ->excludes(name);
  add_common_flags(*command, *flags, {.json = "print the results as one JSON object"});
  command->callback([flags, &program] { run_demo(*flags, program); });
}

}  // namespace retrace
