// large_store PATH DECISIONS: a store whose pool `large` has 100 models, 20 bands and so many decisions with their outcomes, for scale.py.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "log/sqlite_log.h"
#include "margin/pool.h"
#include "margin/random.h"

namespace {

constexpr std::size_t kModels = 100;
constexpr std::size_t kResponses = 5;  // in one decision: the log and the pool's memory hold every one
constexpr std::string_view kPool = "large";
constexpr int kKeepEvery = 500'000;  // events

class Store {
 public:
  explicit Store(margin::EventLog& log) : log_(log) {
    apply(margin::PoolConfigured{.calibrator = "margin", .calibrator_parameters = {{"bands", 20.0}}});
  }

  void decide_and_grade(std::uint64_t number) {
    margin::Question question{.task = "task-" + std::to_string(number), .kind = margin::AnswerKind::kChoice};
    const std::size_t first = random_.below(kModels);
    for (std::size_t i = 0; i < kResponses; ++i) {
      const std::string answer(1, static_cast<char>('A' + random_.below(4)));
      question.responses.push_back(
          {.model = "model-" + std::to_string((first + 7 * i) % kModels), .answer = answer, .confidence = random_.uniform()});
    }
    auto decision = pool_.decide(question);
    margin::OutcomeObserved outcome{.source = "large_store"};
    for (std::size_t i = 0; i < kResponses; ++i) {
      decision->responses[i].answer_text = *question.responses[i].answer;
      outcome.grades.push_back({question.responses[i].model, random_.chance(*question.responses[i].confidence) ? 1.0 : 0.0});
    }
    outcome.decision = apply(std::move(*decision));
    apply(std::move(outcome));
  }

  // A snapshot stands for everything but the latest events.
  void keep() {
    log_.flush();
    const std::string bytes = pool_.snapshot();
    if (!log_.keep_snapshot(kPool, {.offset = events_, .bytes = bytes, .digest = margin::digest_of(bytes)}) ||
        !log_.compact(kPool, events_ > 20'000 ? events_ - 20'000 : 0, margin::AuditKept::kNothing)) {
      std::fprintf(stderr, "the snapshot could not be kept\n");
      std::exit(1);
    }
  }

 private:
  margin::Uuid apply(margin::EventBody body) {
    time_ms_ += 50;
    margin::Event event{.id = margin::Uuid::make(time_ms_, random_), .time_ms = time_ms_, .body = std::move(body)};
    const margin::Uuid id = event.id;
    pool_.apply(event);
    margin::Entry entry{.pool = std::string(kPool), .event = std::move(event)};
    while (!log_.append(entry, [](const margin::Result<std::uint64_t>&) {})) log_.flush();
    if (++events_ % kKeepEvery == 0) keep();
    return id;
  }

  margin::EventLog& log_;
  margin::Pool pool_;
  margin::Random random_{5};
  std::int64_t time_ms_ = 1'700'000'000'000;
  std::uint64_t events_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto log = margin::SqliteLog::open(argv[1], {.durability = margin::Durability::kProcess});
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  Store store(**log);
  const long decisions = std::atol(argv[2]);
  for (long i = 0; i < decisions; ++i) store.decide_and_grade(static_cast<std::uint64_t>(i));
  store.keep();
  return 0;
}
