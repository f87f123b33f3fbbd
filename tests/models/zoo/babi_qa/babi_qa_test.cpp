// The stories of babi-qa: an independent solver answers each from its text.
#include <gtest/gtest.h>
#include <retrace/models/zoo/babi_qa/babi_qa.h>
#include <retrace/tests/models/tasks/rows.h>
#include <retrace/tests/models/zoo/babi_qa/solver.h>

#include <map>
#include <set>
#include <string>

namespace retrace {
namespace {

constexpr std::int64_t kinds = 20, stories_of_a_kind = 2000;

std::string in_small_letters(std::string words) {
  for (char& letter : words) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return words;
}

/// Stories of one kind.
struct Told {
  BabiQa task;
  Batch batch;
  explicit Told(std::int64_t kind, std::int64_t count = stories_of_a_kind, std::int64_t facts = 16)
      : task({.kind = kind, .facts = facts}) {
    Random random(11);
    batch = task.sample(random, count);
  }
  Example example(std::int64_t sample) const { return {batch, sample}; }
  std::map<std::string, double> shares() const {
    std::map<std::string, double> result;
    for (const std::int64_t label : batch.y.values<std::int64_t>())
      result[task.describe_label(label)] += 1 / static_cast<double>(batch.size());
    return result;
  }
};

TEST(BabiQa, AnswersAreThoseOfAnIndependentSolver) {
  for (std::int64_t kind = 1; kind <= kinds; ++kind) {
    const Told told(kind);
    for (std::int64_t sample = 0; sample < stories_of_a_kind; ++sample) {
      const Example example = told.example(sample);
      const std::string story = told.task.describe(example);
      ASSERT_EQ(in_small_letters(told.task.describe_label(example.label())),
                story_solver::solve(static_cast<int>(kind), story_solver::Text(story)))
          << "kind " << kind << "\n"
          << story;
    }
  }
}

TEST(BabiQa, LongerStoriesAreAnsweredToo) {
  for (const std::int64_t kind : {1, 2, 3, 5, 8, 9, 13}) {
    const Told told(kind, 200, 40);
    std::int64_t longest = 0;
    for (std::int64_t sample = 0; sample < 200; ++sample) {
      const Example example = told.example(sample);
      const story_solver::Text story(told.task.describe(example));
      ASSERT_EQ(in_small_letters(told.task.describe_label(example.label())),
                story_solver::solve(static_cast<int>(kind), story));
      longest = std::max(longest, std::ssize(story.facts));
    }
    EXPECT_GT(longest, 35);
  }
}

TEST(BabiQa, ARowHasOneRelationAndOneNounPerPlace) {
  const Told told(0);
  constexpr std::int64_t relations = 58, nouns = 49;
  ASSERT_EQ(told.task.input_size(), relations + 3 * nouns);
  ASSERT_EQ(told.batch.x.shape(), (Shape{stories_of_a_kind, 17, relations + 3 * nouns}));
  std::set<std::int64_t> seen[4];
  const float* row = told.batch.x.values<float>().data();
  for (std::int64_t sample = 0; sample < stories_of_a_kind; ++sample) {
    bool has_begun = false;
    for (std::int64_t t = 0; t < 17; ++t, row += relations + 3 * nouns) {
      const std::int64_t relation = hot(row, relations);
      has_begun |= relation >= 0;
      ASSERT_EQ(relation >= 0, has_begun) << "blank rows come first";
      ASSERT_GE(relation, -1);
      seen[0].insert(relation);
      bool has_noun = false;
      for (std::int64_t place = 0; place < 3; ++place) {
        const std::int64_t noun = hot(row + relations + place * nouns, nouns);
        ASSERT_GE(noun, -1);
        has_noun |= noun >= 0;
        seen[place + 1].insert(noun);
      }
      ASSERT_EQ(has_noun, has_begun);
    }
    ASSERT_TRUE(has_begun);
    ASSERT_EQ(told.task.describe_row(told.example(sample), 16).back(), '?');
  }
  EXPECT_EQ(seen[0].size(), relations + 1) << "every relation is used";
  std::set<std::int64_t> nouns_seen;
  for (const auto& place : {seen[1], seen[2], seen[3]}) nouns_seen.insert(place.begin(), place.end());
  EXPECT_EQ(nouns_seen.size(), nouns + 1) << "every noun is used";
}

TEST(BabiQa, NoAnswerOfAKindIsTooFrequent) {
  const std::map<std::int64_t, std::set<std::string>> even{
      {6, {"no", "yes"}},  {7, {"none", "one", "three", "two"}},
      {9, {"no", "yes"}},  {10, {"maybe", "no", "yes"}},
      {17, {"no", "yes"}}, {18, {"no", "yes"}},
  };
  for (std::int64_t kind = 1; kind <= kinds; ++kind) {
    const auto shares = Told(kind).shares();
    std::set<std::string> answers;
    for (const auto& [answer, share] : shares) answers.insert(answer);
    if (const auto found = even.find(kind); found != even.end()) {
      EXPECT_EQ(answers, found->second);
      for (const auto& [answer, share] : shares)
        EXPECT_NEAR(share, 1.0 / static_cast<double>(answers.size()), 0.05) << kind << " " << answer;
    } else {
      EXPECT_GE(answers.size(), 4U) << kind;
      for (const auto& [answer, share] : shares) EXPECT_LT(share, 0.4) << kind << " " << answer;
    }
  }
}

TEST(BabiQa, EveryAnswerOccurs) {
  std::set<std::string> answers;
  for (std::int64_t kind = 1; kind <= kinds; ++kind)
    for (const auto& [answer, share] : Told(kind).shares()) answers.insert(answer);
  EXPECT_EQ(std::ssize(answers), BabiQa().output_size());
  EXPECT_TRUE(answers.contains("apple,football,milk") && answers.contains("n,w") && answers.contains("nothing"));
}

/// How often the last word of the facts that is a place answers "where is ..?".
double share_of_last_place(std::int64_t kind) {
  const Told told(kind);
  double right = 0;
  for (std::int64_t sample = 0; sample < stories_of_a_kind; ++sample) {
    const Example example = told.example(sample);
    const story_solver::Text story(told.task.describe(example));
    std::string last;
    for (const auto& fact : story.facts)
      if (fact[fact.size() - 2] == "the" && fact[fact.size() - 3] == "to") last = fact.back();
    right += told.task.describe_label(example.label()) == last ? 1.0 / stories_of_a_kind : 0;
  }
  return right;
}

TEST(BabiQa, TheLastPlaceIsRarelyTheAnswer) {
  for (const std::int64_t kind : {1, 2, 11, 12, 13}) EXPECT_LT(share_of_last_place(kind), 0.65) << kind;
  for (const std::int64_t kind : {3, 14}) EXPECT_LT(share_of_last_place(kind), 0.35) << kind;
}

TEST(BabiQa, TheKindIsToldByTheWords) {
  for (std::int64_t kind = 1; kind <= kinds; ++kind) {
    const Told told(kind, 300);
    for (std::int64_t sample = 0; sample < 300; ++sample) {
      const Example example = told.example(sample);
      const auto categories = told.task.categories(example, 0);
      ASSERT_EQ(categories[0].value, kind) << told.task.describe(example);
      ASSERT_EQ(categories[0].words, babi_kind_names()[static_cast<std::size_t>(kind - 1)]);
      ASSERT_EQ(categories[1].value, std::ssize(story_solver::Text(told.task.describe(example)).facts));
    }
  }
}

TEST(BabiQa, AllKindsAreAsLikely) {
  const Told told(0, 10000);
  std::map<std::int64_t, int> counts;
  for (std::int64_t sample = 0; sample < 10000; ++sample)
    ++counts[told.task.categories(told.example(sample), 0)[0].value];
  EXPECT_EQ(std::ssize(counts), kinds);
  for (const auto& [kind, count] : counts) EXPECT_NEAR(count, 500, 90) << kind;
}

TEST(BabiQa, TheTrivialAnswerIsAsOftenRightAsItsBaselineSays) {
  double sum = 0;
  for (std::int64_t kind = 1; kind <= kinds; ++kind) {
    double most = 0;
    for (const auto& [answer, share] : Told(kind).shares()) most = std::max(most, share);
    if (kind % 6 == 2) {
      EXPECT_NEAR(BabiQa({.kind = kind}).baselines().trivial, most, 0.03) << kind;
    }
    sum += most;
  }
  EXPECT_NEAR(BabiQa().baselines().trivial, sum / kinds, 0.02);
}

TEST(BabiQa, AStoryReadsLikeText) {
  constexpr std::int64_t stories = 10000;
  const Told told(0, stories);
  std::set<std::string> sentences;
  for (std::int64_t sample = 0; sample < stories; ++sample) {
    std::istringstream lines(told.task.describe(told.example(sample)));
    for (std::string line; std::getline(lines, line);) sentences.insert(line);
  }
  for (const char* sentence : {"Mary moved to the kitchen.",
                               "Sandra picked up the football.",
                               "Daniel passed the milk to John.",
                               "John is either in the office or in the garden.",
                               "She walked to the hallway.",
                               "Mary and John went to the office.",
                               "They travelled to the bedroom.",
                               "Yesterday Daniel moved to the garden.",
                               "Cats are afraid of bears.",
                               "Luna is a rabbit.",
                               "Fifi is white.",
                               "The red square is to the left of the blue circle.",
                               "The box fits inside the crate.",
                               "The kitchen is north of the hallway.",
                               "Mary is hungry.",
                               "Where is the apple?",
                               "Where was the milk before the garden?",
                               "What is the office east of?",
                               "What is west of the kitchen?",
                               "Who gave the apple to John?",
                               "Who did Mary give the milk to?",
                               "What did Sandra give to Daniel?",
                               "Is Mary in the garden?",
                               "How many objects is Mary carrying?",
                               "What is Oscar afraid of?",
                               "What colour is Bruno?",
                               "Does the chest fit inside the basket?",
                               "How do you go from the kitchen to the office?",
                               "Why did John go to the kitchen?",
                               "Where will Sandra go?"})
    EXPECT_TRUE(sentences.contains(sentence)) << sentence;
}

TEST(BabiQa, AKindIsChosenByNumberOrName) {
  for (const char* kind : {"2", "two-supporting-facts"}) {
    Random random(5), again(5);
    const Batch batch = make_task("babi-qa", {.kind = kind})->sample(random, 30);
    EXPECT_TRUE(std::ranges::equal(batch.x.values<float>(), BabiQa({.kind = 2}).sample(again, 30).x.values<float>()));
  }
  EXPECT_EQ(make_task("babi-qa", {.facts = 9, .kind = "16"})->sequence_length(), 10);
  EXPECT_EQ(make_task("babi-qa", {.kind = "16"})->sequence_length(), make_task("babi-qa")->sequence_length());
}

TEST(BabiQa, ErrorsNameTheRemedy) {
  for (const char* kind : {"21", "0", "-1", "02", "1000000000000000000000"})
    EXPECT_EQ(message_of([&] { make_task("babi-qa", {.kind = kind}); }),
              text("babi-qa: there is no kind ", kind,
                   "; give a number from 1 to 20, or a name such as two-supporting-facts"));
  const std::string unknown = message_of([] { make_task("babi-qa", {.kind = "countin"}); });
  EXPECT_TRUE(unknown.starts_with("babi-qa: there is no kind named 'countin'; did you mean counting (of 20 names)"))
      << unknown;
  EXPECT_EQ(message_of([] { BabiQa({.kind = 21}); }), "babi-qa: there is no kind 21; give 1 to 20, or 0 for all");
  EXPECT_EQ(message_of([] { BabiQa({.facts = 8}); }),
            "babi-qa: some kinds do not fit into stories of at most 8 facts; take 9 or more");
}

}  // namespace
}  // namespace retrace
