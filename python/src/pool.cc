// The pool: decisions and what became of them, in the shapes that the server answers with (src/server/openapi.json), as dicts.
// margin.Pool, in margin/pool.py, is made of it. No call gives the interpreter away, so threads wait for each other.
#include "margin/pool.h"

#include <pybind11/stl.h>

#include <chrono>
#include <random>

#include "columns.h"
#include "frame.h"
#include "parameters.h"

namespace margin::python {
namespace {

constexpr double kDayMs = 24.0 * 3600.0 * 1000.0;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class T>
std::optional<T> given(const py::dict& fields, const char* name) {
  if (!fields.contains(name) || fields[name].is_none()) return std::nullopt;
  try {
    return fields[name].cast<T>();
  } catch (const py::cast_error&) {
    raise_wrong_type(std::string(name) + ": got " + type_name(fields[name]));
  }
}

// An error of the core's field that begins with `field`, as one of the argument that it came from.
Error said_of(std::string_view field, std::string_view argument, Error error) {
  if (error.message.starts_with(field)) error.message.replace(0, error.message.find(':'), argument);
  return error;
}

Uuid parse_id(const std::string& text) {
  const Result<Uuid> id = Uuid::parse(text);
  if (!id) raise(said_of("id", "decision_id", id.error()));
  return *id;
}

PoolConfigured to_config(const py::dict& settings) {
  PoolConfigured config;
  if (const auto name = given<std::string>(settings, "calibrator")) {
    const CalibratorInfo& info = *value_of(find_calibrator(*name));
    config.calibrator = info.identifier;
    config.calibrator_version = info.version;
  }
  if (const auto name = given<std::string>(settings, "vote")) {
    const VoteInfo& info = *value_of(find_vote(*name));
    config.vote = info.identifier;
    config.vote_version = info.version;
  }
  if (const auto all = given<py::dict>(settings, "calibrator_parameters")) {
    config.calibrator_parameters = to_parameters(config.calibrator, *all);
  }
  if (const auto all = given<py::dict>(settings, "vote_parameters")) config.vote_parameters = to_parameters(config.vote, *all);
  config.remedy = given<std::string>(settings, "remedy").value_or(config.remedy);
  config.audit_rate = given<double>(settings, "audit_rate").value_or(config.audit_rate);
  config.max_error = given<double>(settings, "max_error").value_or(config.max_error);
  config.source_share_max = given<double>(settings, "source_share_max").value_or(config.source_share_max);
  if (const auto days = given<double>(settings, "pending_days")) {
    if (!(*days >= 0.001 && *days <= 3650.0)) {
      raise({ErrorCode::kInvalidArgument, "pending_days: got " + shown(*days) + ", expected a number in [0.001, 3650]"});
    }
    config.pending_ms_max = static_cast<std::int64_t>(*days * kDayMs);
  }
  return config;
}

Response to_response(std::size_t number, const py::handle& item) {
  const std::string place = "responses[" + std::to_string(number) + "]";
  if (!py::isinstance<py::dict>(item)) raise_wrong_type(place + ": got " + type_name(item) + ", expected a dict");
  const auto fields = py::reinterpret_borrow<py::dict>(item);
  Response response;
  for (const auto& [key, value] : fields) {
    const std::string_view name = text_of(place, key);
    const std::string field = place + "." + std::string(name);
    if (name == "model") {
      response.model = text_of(field, value);
    } else if (value.is_none()) {
      continue;
    } else if (name == "answer") {
      response.answer = std::string(text_of(field, value));
    } else if (name == "channel") {
      response.channel = text_of(field, value);
    } else if (name == "confidence") {
      const double stated = PyFloat_AsDouble(value.ptr());
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_wrong_type(field + ": got " + type_name(value) + ", expected a number");
      }
      if (stated != stated) raise({ErrorCode::kInvalidArgument, field + ": got nan, expected a number in [0, 1], or None"});
      response.confidence = stated;
    } else if (name == "abstained") {
      if (!PyBool_Check(value.ptr())) raise_wrong_type(field + ": got " + type_name(value) + ", expected a bool");
      response.abstained = value.cast<bool>();
    } else {
      raise({ErrorCode::kInvalidArgument, field + ": expected model, answer, confidence, channel or abstained"});
    }
  }
  return response;
}

py::dict to_dict(const std::vector<Term>& terms) {
  py::dict dict;
  for (const Term& term : terms) dict[py::str(term.name)] = term.value;
  return dict;
}

py::dict to_dict(const RecordedResponse& response) {
  py::dict out;
  out["model"] = response.model;
  out["channel"] = response.channel;
  if (response.abstained) out["abstained"] = true;
  out["stated"] = response.confidence;
  if (!response.confidence) {
    out["calibrated"] = py::none();
    return out;
  }
  out["calibrated"] = response.calibrated;
  out["factor"] = response.factor;
  out["band"] = response.band;
  out["n"] = response.n;
  out["weight"] = response.weight;
  out["weight_of"] = to_dict(response.terms);
  return out;
}

py::list votes_of(const DecisionMade& decision, const Question& question) {
  py::list votes;
  for (std::uint32_t group = 0; group < decision.answers.size(); ++group) {
    py::dict vote;
    py::list models;
    vote["answer"] = py::none();
    for (std::size_t i = decision.responses.size(); i-- > 0;) {
      if (decision.responses[i].answer != group) continue;
      vote["answer"] = question.responses[i].answer;
      models.insert(0, decision.responses[i].model);
    }
    vote["score"] = group < decision.scores.size() ? decision.scores[group] : 0.0;
    vote["models"] = models;
    votes.append(vote);
  }
  return votes;
}

py::dict to_dict(const Uuid& id, const DecisionMade& decision, const Question& question) {
  py::dict out;
  out["decision_id"] = id.text();
  const bool voted = decision.selected != kNoAnswer;
  const bool answered = voted && !decision.abstained;
  out["answer"] = py::none();
  for (std::size_t i = 0; answered && i < decision.responses.size(); ++i) {
    const RecordedResponse& response = decision.responses[i];
    if (response.answer != decision.selected || response.model != decision.selected_model) continue;
    out["answer"] = question.responses[i].answer;
    break;
  }
  out["model"] = answered ? py::object(py::str(decision.selected_model)) : py::none();
  out["p_correct"] = voted ? py::object(py::float_(decision.sure.p_correct)) : py::none();
  out["interval"] = voted ? py::object(py::make_tuple(decision.sure.low, decision.sure.high)) : py::none();
  out["effective_n"] = decision.sure.effective_n;
  out["status"] = std::string(margin::name_of(decision.sure.status));
  out["abstained"] = decision.abstained;
  out["share"] = decision.share;
  out["runner_up_gap"] = decision.runner_up_gap;
  py::list wanted, responses, decisive;
  for (const RecordedResponse& response : decision.responses) {
    if (response.audit > 0.0) wanted.append(response.model);
    responses.append(to_dict(response));
  }
  for (const DecisiveModel& model : decision.decisive) decisive.append(model.model);
  out["grade_please"] = wanted;
  out["votes"] = votes_of(decision, question);
  out["responses"] = responses;
  out["decisive"] = decisive;
  return out;
}

class NamedPool {
 public:
  // The pool's time begins with its first event of a known time, which may be long past.
  explicit NamedPool(const py::dict& settings) { apply(to_config(settings), {}, 0); }
  explicit NamedPool(Pool pool) : pool_(std::move(pool)) {}

  [[nodiscard]] const Pool& core() const { return pool_; }

  py::dict decide(const py::list& responses, const py::dict& options) {
    Question question{.task = given<std::string>(options, "task").value_or(""),
                      .segment = given<std::string>(options, "segment").value_or(""),
                      .max_error = given<double>(options, "max_error"),
                      .vote = given<std::string>(options, "vote").value_or(""),
                      .probe = given<bool>(options, "probe").value_or(false)};
    if (const auto kind = given<std::string>(options, "kind")) question.kind = value_of(parse_answer_kind(*kind));
    for (const py::handle& item : responses) question.responses.push_back(to_response(question.responses.size(), item));
    question.audits.rate = given<double>(options, "audit_rate").value_or(0.0);
    require_probability("audit_rate", question.audits.rate);
    const std::int64_t time_ms = time_of(options);
    const auto own = given<std::string>(options, "decision_id");
    const Uuid id = own ? parse_id(*own) : Uuid::make(time_ms, random_);
    if (pool_.knows(id)) raise({ErrorCode::kConflict, "decision_id: a decision with this id exists"});
    question.audits.seed = id.low;
    const DecisionMade decision = value_of(pool_.decide(question));
    apply(decision, id, time_ms);
    return to_dict(id, decision, question);
  }

  py::dict feedback(const std::string& decision, const py::dict& options) {
    OutcomeObserved outcome{.decision = parse_id(decision),
                            .gold = given<std::string>(options, "correct_answer"),
                            .selected = given<double>(options, "outcome"),
                            .weight = given<double>(options, "weight").value_or(1.0),
                            .source = given<std::string>(options, "source").value_or("")};
    for (const auto& [model, grade] : given<std::map<std::string, double>>(options, "outcomes").value_or(std::map<std::string, double>())) {
      require_probability("outcomes: " + model, grade);
      outcome.grades.push_back({.model = model, .outcome = grade});
    }
    if (outcome.selected) require_probability("outcome", *outcome.selected);
    if ((outcome.gold ? 1 : 0) + (outcome.selected ? 1 : 0) + (outcome.grades.empty() ? 0 : 1) != 1) {
      raise({ErrorCode::kInvalidArgument, "expected exactly one of correct_answer, outcome and outcomes"});
    }
    if (pool_.knows(outcome.decision)) {
      auto grades = pool_.resolve(outcome);
      if (!grades) raise(said_of("grades[", "outcomes", grades.error()));
      outcome.grades = std::move(*grades);
      outcome.gold.reset();
      outcome.selected.reset();
    }
    const std::int64_t time_ms = time_of(options);
    const Uuid id = Uuid::make(time_ms, random_);
    const ApplyResult result = apply(outcome, id, time_ms);
    py::dict receipt;
    receipt["feedback_id"] = id.text();
    receipt["status"] = std::string(margin::name_of(result.status));
    std::vector<std::string> updated = result.learned;
    updated.insert(updated.end(), result.implied.begin(), result.implied.end());
    receipt["updated"] = updated;
    receipt["not_learned"] = result.unlearned;
    return receipt;
  }

  // Raises what the pool refuses.
  ApplyResult apply(EventBody body, std::optional<Uuid> id = {}, std::optional<std::int64_t> time_ms = {}) {
    const std::int64_t time = time_ms.value_or(now_ms());
    ApplyResult result = pool_.apply({.id = id ? *id : Uuid::make(time, random_), .time_ms = time, .body = std::move(body)});
    if (result.error) raise(*result.error);
    return result;
  }

  [[nodiscard]] FrameColumns factors() const {
    FrameColumns frame;
    for (const FactorRow& row : pool_.factors()) {
      const Explanation& why = row.explanation;
      frame.text("model", row.model);
      frame.text("channel", row.channel);
      frame.text("segment", row.segment);
      frame.flag("present", row.present);
      frame.count("band", static_cast<std::size_t>(why.band));
      frame.number("confidence", why.confidence);
      frame.number("calibrated", why.calibrated);
      frame.number("factor", why.factor);
      frame.number("n", why.observations);
      frame.number("effective_n", row.evidence ? std::optional(row.evidence->effective_n) : std::nullopt);
      frame.number("low", row.evidence ? std::optional(row.evidence->low) : std::nullopt);
      frame.number("high", row.evidence ? std::optional(row.evidence->high) : std::nullopt);
      frame.number("pinned", row.pinned);
    }
    return frame;
  }

  [[nodiscard]] FrameColumns alarms() const {
    FrameColumns frame;
    for (const Alarm& alarm : pool_.alarms()) {
      const WatchReport& report = alarm.report;
      frame.text("kind", std::string(watch_kind_name(report.kind)));
      frame.text("subject", alarm.subject);
      frame.text("other", alarm.other);
      frame.count("since", report.since);
      frame.count("at", report.at);
      frame.count("times", report.times);
      frame.number("observed", report.observed);
      frame.number("reference", report.reference);
      frame.number("evidence", report.evidence);
      frame.number("threshold", report.threshold);
    }
    return frame;
  }

 private:
  static std::int64_t time_of(const py::dict& options) {
    const std::int64_t time_ms = given<std::int64_t>(options, "time_ms").value_or(now_ms());
    if (time_ms < 0 || time_ms >= std::int64_t{1} << 48) {
      raise({ErrorCode::kInvalidArgument, "time_ms: expected milliseconds since 1970, below 2^48"});
    }
    return time_ms;
  }

  Pool pool_;
  Random random_{(std::uint64_t{std::random_device()()} << 32) ^ std::random_device()()};
};

std::unique_ptr<NamedPool> restored(const py::bytes& snapshot) {
  return std::make_unique<NamedPool>(value_of(Pool::restore(std::string(snapshot))));
}

std::vector<py::dict> vote_list() {
  std::vector<py::dict> all;
  for (const VoteInfo* const info : vote_catalog()) {
    py::dict one;
    one["identifier"] = info->identifier;
    one["version"] = info->version;
    one["summary"] = info->summary;
    one["learns"] = info->learns;
    one["parameters"] = python::to_dict(info->parameters);
    all.push_back(one);
  }
  return all;
}

}  // namespace

void bind_pool(py::module_& module) {
  module.def("votes", &vote_list,
             "Every way to count votes: identifier, version, summary, whether it learns, and its parameters with their ranges.\n\n"
             ">>> import margin\n"
             ">>> \"stacked\" in [vote[\"identifier\"] for vote in margin.votes()]\n"
             "True\n");
  py::class_<NamedPool>(module, "PoolCore", "What margin.Pool is made of.")
      .def(py::init<const py::dict&>(), py::arg("settings"))
      .def("decide", &NamedPool::decide, py::arg("responses"), py::arg("options"))
      .def("feedback", &NamedPool::feedback, py::arg("decision_id"), py::arg("options"))
      .def(
          "join",
          [](NamedPool& self, const std::string& model, const std::string& predecessor) {
            self.apply(ModelJoined{model, predecessor});
          },
          py::arg("model"), py::arg("predecessor"))
      .def(
          "leave", [](NamedPool& self, const std::string& model) { self.apply(ModelLeft{model}); }, py::arg("model"))
      .def("freeze", [](NamedPool& self) { self.apply(LearningFrozen{}); })
      .def("resume", [](NamedPool& self) { self.apply(LearningResumed{}); })
      .def(
          "pin",
          [](NamedPool& self, const std::string& model, double factor) {
            self.apply(FactorPinned{model, factor});
          },
          py::arg("model"), py::arg("factor"))
      .def(
          "unpin", [](NamedPool& self, const std::string& model) { self.apply(FactorUnpinned{model}); }, py::arg("model"))
      .def(
          "calibrate",
          [](const NamedPool& self, const std::string& model, double confidence, const std::string& channel, const std::string& segment) {
            return value_of(self.core().calibrate(model, channel, segment, confidence));
          },
          py::arg("model"), py::arg("confidence"), py::arg("channel"), py::arg("segment"))
      .def("factors", [](const NamedPool& self) { return self.factors().take(); })
      .def("alarms", [](const NamedPool& self) { return self.alarms().take(); })
      .def_property_readonly("models", [](const NamedPool& self) { return self.core().present_models(); })
      .def_property_readonly("frozen", [](const NamedPool& self) { return self.core().frozen(); })
      .def_property_readonly("pending", [](const NamedPool& self) { return self.core().pending_decisions(); })
      .def_property_readonly("calibrator", [](const NamedPool& self) { return self.core().config().calibrator; })
      .def_property_readonly("vote", [](const NamedPool& self) { return self.core().config().vote; })
      .def_property_readonly("digest", [](const NamedPool& self) { return self.core().digest().hex(); })
      .def("snapshot", [](const NamedPool& self) { return py::bytes(self.core().snapshot()); })
      .def_static("restore", &restored, py::arg("snapshot"));
}

}  // namespace margin::python
