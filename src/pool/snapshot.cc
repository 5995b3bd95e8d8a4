// A pool's snapshot: everything it needs to go on bit for bit. docs/pool.md#snapshot has the layout.
#include <utility>

#include "base/encoding.h"
#include "base/parameter_encoding.h"
#include "pool/limits.h"
#include "pool/snapshot_format.h"
#include "pool/state.h"

namespace margin::internal {
namespace {

std::uint32_t format_for(const PoolConfigured& config) { return config.max_error < 1.0 ? kMaxErrorSnapshot : kPackedSnapshot; }

void save_config(const PoolConfigured& config, Encoder& out) {
  out.text(config.calibrator);
  out.integer(static_cast<std::int32_t>(config.calibrator_version));
  encode(config.calibrator_parameters, out);
  out.text(config.vote);
  out.integer(static_cast<std::int32_t>(config.vote_version));
  encode(config.vote_parameters, out);
  out.text(config.trust);
  out.integer(static_cast<std::int32_t>(config.trust_version));
  encode(config.trust_parameters, out);
  out.text(config.remedy);
  out.real(config.audit_rate);
  out.integer(config.watched_models_max);
  out.real(config.source_share_max);
  out.integer(config.pending_ms_max);
  for (const std::uint32_t bound :
       {config.models_max, config.cells_max, config.responses_max, config.decisions_max, config.early_max, config.remembered_events_max}) {
    out.integer(bound);
  }
  if (format_for(config) == kMaxErrorSnapshot) out.real(config.max_error);
}

PoolConfigured load_config(Decoder& in, std::uint32_t format) {
  PoolConfigured config;
  config.calibrator = in.text();
  config.calibrator_version = in.integer<std::int32_t>();
  config.calibrator_parameters = decode_parameters(in);
  config.vote = in.text();
  config.vote_version = in.integer<std::int32_t>();
  config.vote_parameters = decode_parameters(in);
  config.trust = in.text();
  config.trust_version = in.integer<std::int32_t>();
  config.trust_parameters = decode_parameters(in);
  config.remedy = in.text();
  config.audit_rate = in.real();
  config.watched_models_max = in.integer<std::uint32_t>();
  config.source_share_max = in.real();
  config.pending_ms_max = in.integer<std::int64_t>();
  for (std::uint32_t* bound : {&config.models_max, &config.cells_max, &config.responses_max, &config.decisions_max, &config.early_max,
                               &config.remembered_events_max}) {
    *bound = in.integer<std::uint32_t>();
  }
  if (format == kMaxErrorSnapshot) {
    config.max_error = in.real();
    if (format_for(config) != format) in.fail();
  }
  return config;
}

Error corrupt(std::string_view what) { return {ErrorCode::kCorrupt, "pool: " + std::string(what)}; }

bool is_recipe(const Calibrator& calibrator, const CalibratorRecipe& recipe) {
  return calibrator.info().identifier == recipe.identifier && calibrator.info().version == recipe.version &&
         calibrator.parameters() == recipe.parameters;
}

// The calibrator is the configured one, and knows exactly those members it may, present where they are.
bool fits(const Calibrator& calibrator, const CalibratorRecipe& recipe, const Members& members) {
  if (!is_recipe(calibrator, recipe)) return false;
  for (ModelId model = 0; model < members.size(); ++model) {
    if (calibrator.known(model) && (!members[model].joined() || calibrator.present(model) != members[model].present())) return false;
  }
  return true;
}

}  // namespace

void PoolState::save_before_decisions(Encoder& out) const {
  out.integer(format_for(config));
  save_config(config, out);
  out.integer(time_ms);
  out.flag(frozen);
  out.text(vote->snapshot());
  out.text(trust->snapshot());
  out.text(remedy.snapshot());
  members.save(out);
  out.integer(static_cast<std::uint64_t>(cells.size()));
  for (CellId id = 0; id < cells.size(); ++id) {
    out.text(cells[id].channel);
    out.text(cells[id].segment);
    out.text(cells[id].calibrator->snapshot());
    cells[id].evidence.save(out);
  }
  watch.save(out);
  influence.save(out);
}

void PoolState::save_after_decisions(Encoder& out) const {
  early.save(out);
  awaited_reverts.save(out);
  remembered.save(out);
}

void PoolState::save(Encoder& out) const {
  save_before_decisions(out);
  decisions.save(out);
  save_after_decisions(out);
}

void PoolState::begin_snapshot() {
  Encoder head;
  save_before_decisions(head);
  snapshot_head = head.take();
  Encoder tail;
  save_after_decisions(tail);
  snapshot_tail = tail.take();
  decisions.begin_copy();
}

std::optional<std::vector<std::string>> PoolState::continue_snapshot(std::size_t decisions_at_once) {
  decisions.copy_some(decisions_at_once);
  if (!decisions.copied()) return std::nullopt;
  std::vector<std::string> pieces = decisions.take_copy();
  pieces.insert(pieces.begin(), std::exchange(snapshot_head, {}));
  pieces.push_back(std::exchange(snapshot_tail, {}));
  return pieces;
}

Result<std::unique_ptr<PoolState>> PoolState::load(std::string_view bytes) {
  Decoder in(bytes);
  const auto format = in.integer<std::uint32_t>();
  if (is_newer_snapshot(format)) {
    return Error{ErrorCode::kUnsupported, std::string("pool: a snapshot of format MPL") + static_cast<char>(format & 0xff) +
                                              ", this binary reads up to MPL" + static_cast<char>(kNewestSnapshot & 0xff) +
                                              ": it needs a newer margin"};
  }
  if (format != kFixedSnapshot && format != kPackedSnapshot && format != kMaxErrorSnapshot) return corrupt("not a snapshot of a pool");
  auto state = std::make_unique<PoolState>();
  const PoolConfigured config = load_config(in, format);
  if (!in.ok()) return corrupt("the configuration is truncated, or of another format");
  if (const ApplyResult configured = state->on(config, {}); configured.status == ApplyStatus::kRefused) {
    const Error& error = *configured.error;
    return error.code == ErrorCode::kNotFound ? error : corrupt(error.message);
  }
  if (state->config != config) return corrupt("parameters are missing");

  state->time_ms = in.integer<std::int64_t>();
  if (state->time_ms < 0 || state->time_ms >= kTimeMsEnd) in.fail();
  state->frozen = in.flag();
  const std::string vote_bytes = in.text();
  if (!in.ok()) return corrupt("the bytes are truncated");
  auto vote = restore_vote(vote_bytes);
  if (!vote) return vote.error();
  if ((*vote)->info().identifier != config.vote || (*vote)->info().version != config.vote_version ||
      (*vote)->parameters() != config.vote_parameters) {
    return corrupt("the vote is not the configured one");
  }
  state->vote = std::move(*vote);
  auto trust = DecisionTrust::restore(in.text());
  if (!in.ok()) return corrupt("the bytes are truncated");
  if (!trust) return trust.error();
  if (!is_recipe(trust->calibrator(), {config.trust, config.trust_version, config.trust_parameters})) {
    return corrupt("the decisions' calibrator is not the configured one");
  }
  state->trust = std::move(*trust);
  auto remedy = restore_remedy(in.text());
  if (!remedy) return remedy.error();
  if (remedy->kind() != state->remedy.kind()) return corrupt("the remedy is not the configured one");
  state->remedy = std::move(*remedy);

  state->members.load(in);
  const std::size_t cells = in.length(std::size_t{4} * 8);
  for (std::size_t i = 0; i < cells && in.ok(); ++i) {
    const std::string channel = in.text();
    const std::string segment = in.text();
    auto calibrator = restore_calibrator(in.text());
    if (!check_cell_names(channel, segment)) in.fail();
    if (!in.ok()) break;
    if (!calibrator) return calibrator.error();
    if (!fits(**calibrator, state->recipe, state->members)) return corrupt("a cell's calibrator is not the configured one");
    Evidence evidence(**calibrator);
    evidence.load(in, **calibrator);
    if (!state->cells.add({channel, segment, std::move(*calibrator), std::move(evidence)})) in.fail();
  }
  state->watch.load(in);
  state->influence.load(in, state->members.size());
  state->decisions.load(in, format == kFixedSnapshot ? RecordLayout::kFixed : RecordLayout::kPacked,
                        {state->members.size(), state->cells.size(), state->watch.sources()});
  state->early.load(in);
  state->awaited_reverts.load(in);
  state->remembered.load(in);
  if (Status status = in.finish("pool"); !status) return status.error();
  return state;
}

}  // namespace margin::internal
