#include "gateway/chat_request.h"

#include <algorithm>

#include "base/json_writer.h"

namespace margin::gateway {
namespace {

using internal::JsonWriter;

constexpr double kTokensMax = 1e9;

bool is_system(const Json& message) {
  const Json* role = message.find("role");
  return role != nullptr && (role->text() == "system" || role->text() == "developer");
}

bool has_parts_beyond_text(const Json& message) {
  const Json* content = message.find("content");
  if (content == nullptr || content->type() != Json::Type::kList) return false;
  return std::any_of(content->items().begin(), content->items().end(), [](const Json& part) {
    const Json* type = part.find("type");
    return type == nullptr || type->text() != "text";
  });
}

std::optional<Fault> read_messages(const Json* messages, ChatRequest& request) {
  if (messages == nullptr || messages->type() != Json::Type::kList || messages->items().empty()) {
    return Fault{"messages", "messages: expected a list of at least one message"};
  }
  request.messages = messages->raw();
  request.leading_system = 1;
  bool leading = true;
  for (std::size_t i = 0; i < messages->items().size(); ++i) {
    const Json& message = messages->items()[i];
    const std::string path = "messages[" + std::to_string(i) + "]";
    if (message.type() != Json::Type::kObject) return Fault{path, path + ": expected an object with role and content"};
    const Json* role = message.find("role");
    if (role == nullptr || role->type() != Json::Type::kText) return Fault{path + ".role", path + ".role: expected text"};
    leading = leading && is_system(message);
    if (leading) {
      const std::string_view text = message.raw();
      request.leading_system = static_cast<std::size_t>(text.data() + text.size() - messages->raw().data());
    } else {
      request.messages_follow = true;
    }
    if (has_parts_beyond_text(message)) request.only_primary = "images";
  }
  return std::nullopt;
}

std::optional<Fault> read_include(const Json* include, ChatOptions& options) {
  if (include == nullptr) return std::nullopt;
  for (const Json& item : include->items()) {
    bool* const wanted = item.text() == "candidates"    ? &options.candidates
                         : item.text() == "explanation" ? &options.explanation
                         : item.text() == "raw"         ? &options.raw
                                                        : nullptr;
    if (wanted == nullptr) return Fault{"margin.include", "margin.include: expected a list of candidates, explanation, raw"};
    *wanted = true;
  }
  return std::nullopt;
}

std::optional<Fault> read_options(const Json* margin, ChatOptions& options) {
  if (margin == nullptr || margin->is_null()) return std::nullopt;
  ObjectReader in(*margin, "margin");
  if (const auto task = in.text("task_id")) {
    if (task->size() > kTaskBytesMax) in.fail("task_id", task_too_long(task->size()));
    options.task_id = *task;
  }
  if (const auto segment = in.text("segment")) options.segment = *segment;
  if (const auto vote = in.text("vote")) options.vote = *vote;
  if (const auto max_error = in.number("max_error")) {
    if (!(*max_error > 0.0 && *max_error < 1.0)) in.fail("max_error", "expected a number in (0, 1)");
    options.max_error = *max_error;
  }
  if (const auto task = in.text("task")) {
    auto found = elicit::find_task(*task);
    found ? options.task = *found : (in.fail("task", found.error().message), std::nullopt);
  }
  const Json* include = in.list("include");
  if (auto fault = in.finish()) return fault;
  return read_include(include, options);
}

// Members that say how the client wants to be answered; upstreams get their own.
constexpr std::string_view kOurs[] = {"model", "messages", "stream", "stream_options", "margin"};

}  // namespace

std::string task_too_long(std::size_t bytes) {
  return "got " + std::to_string(bytes) + " bytes, expected at most " + std::to_string(kTaskBytesMax);
}

std::optional<Fault> read_chat_request(const Json& body, ChatRequest& request) {
  if (body.type() != Json::Type::kObject) return Fault{"", "body: expected an object"};
  // Only what matters here is checked; the rest is the upstream's, known to us or not.
  const auto typed = [&](std::string_view key, Json::Type type) -> const Json* {
    const Json* member = body.find(key);
    return member != nullptr && member->type() == type ? member : nullptr;
  };
  const auto wrong = [&](std::string_view key, Json::Type type) {
    const Json* member = body.find(key);
    return member != nullptr && !member->is_null() && member->type() != type;
  };
  const Json* model = typed("model", Json::Type::kText);
  if (model == nullptr || model->text().empty()) return Fault{"model", "model: expected the name of a model; GET /v1/models lists them"};
  request.model = model->text();
  if (wrong("stream", Json::Type::kFlag)) return Fault{"stream", "stream: expected true or false"};
  if (const Json* stream = typed("stream", Json::Type::kFlag)) request.stream = stream->flag();
  if (wrong("stream_options", Json::Type::kObject)) return Fault{"stream_options", "stream_options: expected an object"};
  if (const Json* options = typed("stream_options", Json::Type::kObject)) {
    request.stream_options = options->raw();
    const Json* usage = options->find("include_usage");
    request.include_usage = usage != nullptr && usage->type() == Json::Type::kFlag && usage->flag();
  }
  if (wrong("n", Json::Type::kNumber)) return Fault{"n", "n: expected a whole number"};
  if (const Json* choices = typed("n", Json::Type::kNumber)) request.choices = choices->number();
  for (const std::string_view key : {"max_tokens", "max_completion_tokens"}) {
    if (wrong(key, Json::Type::kNumber)) return Fault{std::string(key), std::string(key) + ": expected a whole number"};
    if (const Json* tokens = typed(key, Json::Type::kNumber)) request.tokens_asked = std::clamp(tokens->number(), 0.0, kTokensMax);
  }
  if (auto fault = read_messages(body.find("messages"), request)) return fault;
  if (const Json* tools = typed("tools", Json::Type::kList); tools != nullptr && !tools->items().empty()) request.only_primary = "tools";
  if (const Json* functions = typed("functions", Json::Type::kList); functions != nullptr && !functions->items().empty()) {
    request.only_primary = "tools";
  }
  const Json* format = body.find("response_format");
  request.has_response_format = format != nullptr && !format->is_null();
  if (auto fault = read_options(body.find("margin"), request.options)) return fault;
  for (const Json& member : body.items()) {
    if (std::find(std::begin(kOurs), std::end(kOurs), member.key()) == std::end(kOurs)) {
      request.members.emplace_back(member.key(), member.raw());
    }
  }
  return std::nullopt;
}

std::string body_for(const ChatRequest& request, const Rewriting& rewriting) {
  const bool asks = rewriting.asking != nullptr && !rewriting.asking->instructions.empty();
  const bool formats = rewriting.asking != nullptr && !rewriting.asking->response_format.empty();
  JsonWriter out;
  out.reserve(request.messages.size() + 1024);
  out.open('{').key("model").text(rewriting.model).key("messages");
  if (asks) {
    JsonWriter message;
    message.open('{').key("role").text("system").key("content").text(rewriting.asking->instructions).close('}');
    const std::string_view messages = request.messages;
    std::string all(messages.substr(0, request.leading_system));
    if (request.leading_system > 1) all += ',';
    all += message.str();
    if (request.messages_follow && request.leading_system == 1) all += ',';
    out.raw(all.append(messages.substr(request.leading_system)));
  } else {
    out.raw(request.messages);
  }
  for (const auto& [key, value] : request.members) {
    if (formats && key == "response_format") continue;
    if (rewriting.temperature && key == "temperature") continue;
    out.foreign_key(key).raw(value);
  }
  if (formats) out.key("response_format").raw(rewriting.asking->response_format);
  if (rewriting.temperature) out.key("temperature").number(*rewriting.temperature);
  if (rewriting.stream) {
    out.key("stream").flag(true);
    if (!request.stream_options.empty()) out.key("stream_options").raw(request.stream_options);
  }
  return out.close('}').take();
}

}  // namespace margin::gateway
