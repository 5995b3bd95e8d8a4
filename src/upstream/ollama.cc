#include "upstream/ollama.h"

#include <array>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/json_writer.h"

namespace margin::upstream {
namespace {

using internal::JsonWriter;

Error not_ollama(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

bool is(const Json* value, Json::Type type) { return value != nullptr && value->type() == type; }

bool given(const Json* value) { return value != nullptr && !value->is_null(); }

std::string_view text_of(const Json* value) { return is(value, Json::Type::kText) ? value->text() : std::string_view(); }

// OpenAI's name of a setting and Ollama's, which is a member of "options".
struct Option {
  std::string_view from;
  std::string_view to;
};
constexpr std::array kOptions = {Option{"temperature", "temperature"},
                                 Option{"top_p", "top_p"},
                                 Option{"top_k", "top_k"},
                                 Option{"seed", "seed"},
                                 Option{"presence_penalty", "presence_penalty"},
                                 Option{"frequency_penalty", "frequency_penalty"}};
// Members that are translated, that Ollama has no use for, or that say nothing about the reply.
constexpr std::array<std::string_view, 16> kNotPassedOn = {
    "model",      "messages", "stream",          "stream_options", "stop",
    "max_tokens", "n",        "response_format", "options",        "max_completion_tokens",
    "user",       "metadata", "service_tier",    "store",          "parallel_tool_calls",
    "tool_choice"};

bool passed_on(std::string_view key) {
  for (const std::string_view name : kNotPassedOn) {
    if (key == name) return false;
  }
  for (const Option& option : kOptions) {
    if (key == option.from) return false;
  }
  return true;
}

// A text, or the texts of a list of parts; pictures are collected apart.
Status write_content(JsonWriter& out, const Json& message, const std::string& path) {
  const Json* const content = message.find("content");
  std::string text(text_of(content));
  std::vector<std::string_view> pictures;
  if (is(content, Json::Type::kList)) {
    for (const Json& part : content->items()) {
      if (text_of(part.find("type")) == "image_url") {
        const Json* const picture = part.find("image_url");
        const std::string_view url = is(picture, Json::Type::kObject) ? text_of(picture->find("url")) : text_of(picture);
        const std::size_t data = url.find(";base64,");
        if (!url.starts_with("data:") || data == std::string_view::npos) {
          return not_ollama(path + ".content: Ollama takes pictures only as data: URLs in base64");
        }
        pictures.push_back(url.substr(data + std::string_view(";base64,").size()));
      } else {
        text += text_of(part.find("text"));
      }
    }
  } else if (given(content) && content->type() != Json::Type::kText) {
    return not_ollama(path + ".content is " + std::string(name_of(content->type())) + ", expected text or a list of parts");
  }
  out.key("content").text(text);
  if (pictures.empty()) return {};
  out.key("images").open('[');
  for (const std::string_view picture : pictures) out.text(picture);
  out.close(']');
  return {};
}

// The arguments of a call are text for OpenAI and an object for Ollama. `checker` reads them while the request's parser is in use.
void write_calls_for_ollama(JsonWriter& out, const Json& calls) {
  JsonParser checker(64);
  out.key("tool_calls").open('[');
  for (const Json& call : calls.items()) {
    const Json* const function = call.find("function");
    const std::string_view arguments = function != nullptr ? text_of(function->find("arguments")) : std::string_view();
    const Result<const Json*> parsed = checker.parse(arguments);
    const bool object = parsed.ok() && (*parsed)->type() == Json::Type::kObject;
    out.open('{').key("function").open('{');
    out.key("name").text(function != nullptr ? text_of(function->find("name")) : std::string_view());
    out.key("arguments").raw(object ? (*parsed)->raw() : "{}");
    out.close('}').close('}');
  }
  out.close(']');
}

Status write_messages(JsonWriter& out, const Json& messages) {
  out.key("messages").open('[');
  std::size_t index = 0;
  for (const Json& message : messages.items()) {
    const std::string path = "messages[" + std::to_string(index++) + "]";
    const std::string_view role = text_of(message.find("role"));
    if (role.empty()) return not_ollama(path + ".role is missing, expected text");
    out.open('{').key("role").text(role == "developer" ? "system" : role);
    if (Status written = write_content(out, message, path); !written.ok()) return written;
    if (const Json* const calls = message.find("tool_calls"); is(calls, Json::Type::kList)) write_calls_for_ollama(out, *calls);
    if (const Json* const name = message.find("name"); role == "tool" && is(name, Json::Type::kText))
      out.key("tool_name").text(name->text());
    out.close('}');
  }
  out.close(']');
  return {};
}

void write_options(JsonWriter& out, const Json& request) {
  out.key("options").open('{');
  const Json* const own = request.find("options");
  const auto is_own = [&](std::string_view key) { return own != nullptr && own->find(key) != nullptr; };
  if (is(own, Json::Type::kObject)) {
    for (const Json& member : own->items()) out.foreign_key(member.key()).raw(member.raw());
  }
  for (const Option& option : kOptions) {
    const Json* const value = request.find(option.from);
    if (given(value) && !is_own(option.to)) out.key(option.to).raw(value->raw());
  }
  const Json* const newer = request.find("max_completion_tokens");
  const Json* const limit = given(newer) ? newer : request.find("max_tokens");
  if (given(limit) && !is_own("num_predict")) out.key("num_predict").raw(limit->raw());
  if (const Json* const stop = request.find("stop"); given(stop) && !is_own("stop")) {
    out.key("stop");
    if (stop->type() == Json::Type::kText) {
      out.open('[').raw(stop->raw()).close(']');
    } else {
      out.raw(stop->raw());
    }
  }
  out.close('}');
}

void write_format(JsonWriter& out, const Json& request) {
  const Json* const format = request.find("response_format");
  if (!is(format, Json::Type::kObject)) return;
  const std::string_view type = text_of(format->find("type"));
  const Json* const schema_of = format->find("json_schema");
  const Json* const schema = schema_of != nullptr ? schema_of->find("schema") : nullptr;
  if (type == "json_schema" && schema != nullptr) {
    out.key("format").raw(schema->raw());
  } else if (type == "json_object" || type == "json_schema") {
    out.key("format").text("json");
  }
}

// "2023-08-04T19:22:45.499127Z" to seconds since 1970; 0 for what is not of that form.
std::int64_t seconds_of(std::string_view time) {
  const auto number = [&](std::size_t at, std::size_t count) {
    unsigned value = 0;
    const std::string_view digits = time.substr(std::min(at, time.size()), count);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + count ? std::optional(value) : std::nullopt;
  };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const auto hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return 0;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return 0;
  const auto moment =
      std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
  return moment.time_since_epoch().count();
}

void write_calls_for_openai(JsonWriter& out, const Json& calls) {
  out.key("tool_calls").open('[');
  std::size_t index = 0;
  for (const Json& call : calls.items()) {
    const Json* const function = call.find("function");
    const Json* const arguments = function != nullptr ? function->find("arguments") : nullptr;
    out.open('{').key("index").number(index).key("id").text("call_" + std::to_string(index)).key("type").text("function");
    out.key("function").open('{').key("name").text(function != nullptr ? text_of(function->find("name")) : std::string_view());
    out.key("arguments").text(arguments != nullptr ? arguments->raw() : "{}").close('}').close('}');
    ++index;
  }
  out.close(']');
}

void write_outline(JsonWriter& out, const Json& root, std::string_view object) {
  const std::int64_t created = seconds_of(text_of(root.find("created_at")));
  out.key("id").text("chatcmpl-ollama-" + std::to_string(created)).key("object").text(object).key("created").number(created);
  out.key("model").text(text_of(root.find("model")));
}

std::uint64_t count_of(const Json& root, std::string_view key) {
  const Json* const value = root.find(key);
  const bool sane = is(value, Json::Type::kNumber) && value->number() >= 0 && value->number() <= 1e12;
  return sane ? static_cast<std::uint64_t>(value->number()) : 0;
}

void write_usage(JsonWriter& out, const Json& root) {
  const std::uint64_t prompt = count_of(root, "prompt_eval_count");
  const std::uint64_t completion = count_of(root, "eval_count");
  out.key("usage").open('{').key("prompt_tokens").number(prompt).key("completion_tokens").number(completion);
  out.key("total_tokens").number(prompt + completion).close('}');
}

std::string_view finish_reason(const Json& root, bool called_tools) {
  const std::string_view reason = text_of(root.find("done_reason"));
  if (called_tools) return "tool_calls";
  return reason == "length" ? "length" : "stop";
}

bool ollama_calls(const Json& message) {
  const Json* const calls = message.find("tool_calls");
  return is(calls, Json::Type::kList) && !calls->items().empty();
}

// Role (where `role` says so), content, reasoning and calls: what a message and a delta share.
void write_message(JsonWriter& out, const Json& message, bool role) {
  if (role) out.key("role").text("assistant");
  out.key("content").text(text_of(message.find("content")));
  if (const std::string_view thinking = text_of(message.find("thinking")); !thinking.empty()) out.key("reasoning").text(thinking);
  if (ollama_calls(message)) write_calls_for_openai(out, *message.find("tool_calls"));
}

struct Reply {
  const Json* root;
  const Json* message;
};

Result<Reply> parse_reply(JsonParser& parser, std::string_view text) {
  const Result<const Json*> root = parser.parse(text);
  if (!root.ok()) return root.error();
  const Json* const message = (*root)->find("message");
  if (!is(message, Json::Type::kObject)) return not_ollama("message is missing, expected an object");
  if (const Json* content = message->find("content"); given(content) && content->type() != Json::Type::kText) {
    return not_ollama("message.content is " + std::string(name_of(content->type())) + ", expected text");
  }
  return Reply{*root, message};
}

}  // namespace

Result<std::string> ollama_request(JsonParser& parser, std::string_view body) {
  const Result<const Json*> parsed = parser.parse(body);
  if (!parsed.ok()) return parsed.error();
  const Json& request = **parsed;
  const Json* const messages = request.find("messages");
  if (!is(messages, Json::Type::kList)) return not_ollama("messages is missing, expected a list");
  if (const Json* const n = request.find("n"); is(n, Json::Type::kNumber) && n->number() > 1)
    return not_ollama("n is above 1, which Ollama cannot do");
  JsonWriter out;
  out.reserve(body.size() + 64);
  out.open('{').key("model").text(text_of(request.find("model")));
  const Json* const stream = request.find("stream");
  out.key("stream").flag(is(stream, Json::Type::kFlag) && stream->flag());  // always said: Ollama streams unless told not to
  if (Status written = write_messages(out, *messages); !written.ok()) return written.error();
  write_options(out, request);
  write_format(out, request);
  for (const Json& member : request.items()) {
    if (passed_on(member.key())) out.foreign_key(member.key()).raw(member.raw());
  }
  out.close('}');
  return out.take();
}

Result<std::string> openai_reply(JsonParser& parser, std::string_view body) {
  const Result<Reply> reply = parse_reply(parser, body);
  if (!reply.ok()) return reply.error();
  JsonWriter out;
  out.reserve(body.size() + 256);
  out.open('{');
  write_outline(out, *reply->root, "chat.completion");
  out.key("choices").open('[').open('{').key("index").number(0).key("message").open('{');
  write_message(out, *reply->message, true);
  out.close('}').key("finish_reason").text(finish_reason(*reply->root, ollama_calls(*reply->message))).close('}').close(']');
  write_usage(out, *reply->root);
  out.close('}');
  return out.take();
}

Result<std::vector<std::string>> OllamaStream::add(JsonParser& parser, std::string_view line) {
  std::vector<std::string> chunks;
  const Result<const Json*> parsed = parser.parse(line);
  if (const Json* const error = parsed.ok() ? (*parsed)->find("error") : nullptr; is(error, Json::Type::kText)) {
    JsonWriter out;
    out.open('{').key("error").open('{').key("message").text(error->text()).key("type").text("upstream_error");
    out.key("param").null().key("code").null().close('}').close('}');
    chunks.push_back(out.take());
    done_ = true;
    return chunks;
  }
  const Result<Reply> reply = parse_reply(parser, line);
  if (!reply.ok()) return reply.error();
  const Json* const done = reply->root->find("done");
  done_ = is(done, Json::Type::kFlag) && done->flag();
  called_tools_ = called_tools_ || ollama_calls(*reply->message);
  JsonWriter out;
  out.open('{');
  write_outline(out, *reply->root, "chat.completion.chunk");
  out.key("choices").open('[').open('{').key("index").number(0).key("delta").open('{');
  write_message(out, *reply->message, !began_);
  out.close('}').key("finish_reason");
  if (done_) {
    out.text(finish_reason(*reply->root, called_tools_));
  } else {
    out.null();
  }
  out.close('}').close(']').close('}');
  began_ = true;
  chunks.push_back(out.take());
  if (done_ && with_usage_) {
    JsonWriter usage;
    usage.open('{');
    write_outline(usage, *reply->root, "chat.completion.chunk");
    usage.key("choices").open('[').close(']');
    write_usage(usage, *reply->root);
    usage.close('}');
    chunks.push_back(usage.take());
  }
  return chunks;
}

}  // namespace margin::upstream
