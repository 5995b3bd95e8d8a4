// margin_adaptive: margin's structure with a memory that adapts itself. docs/calibration.md#margin_adaptive maps the formulas to this file.
//
// Per model, band, clock and link it keeps two decayed sums: outcomes and exposure. A clock is a memory length; a link says how exposure
// grows with stated confidence (c^0 replaces it, c^1 is margin's ratio, c^4 trusts only the very confident). One (clock, link) is an
// expert, and one lane of the arithmetic below. Beside them stand experts that temper the stated odds (TemperedOdds; version 1 has none)
// and one that fits a line to them (StatedCurve; since version 3). All are mixed by recent likelihood; a faster clock that keeps winning
// overwrites the slower ones. Then resolution must be earned, the pool is recalibrated by output bin, and what is left in a bin is steered
// to zero.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "base/encoding.h"
#include "base/pair.h"
#include "calibrate/both_histories.h"
#include "calibrate/clocked.h"
#include "calibrate/closing.h"
#include "calibrate/margin_adaptive_parameters.h"
#include "calibrate/rate.h"
#include "calibrate/registry.h"
#include "calibrate/stated_curve.h"
#include "calibrate/tempered_odds.h"
#include "margin/math.h"

namespace margin {
namespace {

using internal::both;
using internal::BothHistories;
using internal::Closing;
using internal::kBandsMax;
using internal::kClocksMax;
using internal::kLinksMax;
using internal::larger;
using internal::observations_of;
using internal::Pair;
using internal::smaller;
using internal::stated_odds;
using internal::StatedCurve;
using internal::TemperedOdds;

constexpr std::size_t kPairsMax = kClocksMax * kLinksMax / 2;
constexpr std::size_t kDefaultBands = 3;
constexpr std::size_t kDefaultClocks = 3;
constexpr std::array<unsigned, 3> kDefaultPowers = {0, 1, 4};
constexpr std::size_t kDefaultLinks = kDefaultPowers.size();
constexpr std::size_t kDefaultLanes = kDefaultClocks * kDefaultLinks;

// kFixed: of the default shape and links, with kRoots experts that temper the odds, which the compiler then knows: half the time. Else
// they are the parameters'. kLine: since version 3.
template <bool kFixed, std::size_t kRoots, bool kLine>
class MarginAdaptive final : public Calibrator, public internal::Clocked {
 public:
  MarginAdaptive(const CalibratorInfo& info, Parameters resolved)
      : Calibrator(info, std::move(resolved)),
        clocks_(list(parameters(), "clocks")),
        links_(list(parameters(), "links").begin(), list(parameters(), "links").end()),
        band_count_(static_cast<std::size_t>(integer(parameters(), "bands"))),
        prior_outcome_(number(parameters(), "prior_outcome")),
        pool_prior_(number(parameters(), "pool_prior")),
        pool_band_prior_(number(parameters(), "pool_band_prior")),
        model_prior_(number(parameters(), "model_prior")),
        band_prior_(number(parameters(), "band_prior")),
        share_(number(parameters(), "share")),
        alarm_rate_(number(parameters(), "alarm_rate")),
        pool_alarm_(number(parameters(), "pool_alarm")),
        model_alarm_(number(parameters(), "model_alarm")),
        closing_(parameters()),
        odds_(info.version == 1 ? TemperedOdds({}, 0.0) : TemperedOdds(list(parameters(), "roots"), number(parameters(), "odds_step"))),
        curve_(kLine ? number(parameters(), "curve_memory") : 1.0),
        pool_(block_size(), both(0.0)),
        pool_factors_(band_count() * pairs()) {
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      set(weights_, lane, 1.0 / static_cast<double>(experts()));
      set(prior_exposure_, lane, power(number(parameters(), "prior_confidence"), static_cast<unsigned>(links_[lane % link_count()])));
      set(model_keep_, lane, 1.0 - 1.0 / clocks_[lane / link_count()]);
    }
    if (lanes() % 2 != 0) set(prior_exposure_, lanes(), 1.0);  // the idle lane must stay finite
    for (std::size_t i = 0; i < odds_lanes(); ++i) {
      TemperedOdds::set(odds_weights_, i, 1.0 / static_cast<double>(experts()));
      TemperedOdds::set(odds_used_, i, 1.0);
    }
    refresh_clock_shares();
    refresh_pool_memory();
    refresh_pool();
  }

  [[nodiscard]] int bands() const override { return static_cast<int>(band_count()); }
  [[nodiscard]] std::span<const ClockAlarm> latest_alarms() const override { return {alarms_.data(), alarm_count_}; }

 protected:
  void on_join(ModelId model, const Calibrator* donor, ModelId donor_model) override {
    models_[model] = Model{};
    models_[model].epoch = epoch_;
    odds_.model(model) = TemperedOdds::all(1.0);
    curve_.join(model);
    if (donor == nullptr) return;
    // A predecessor's ratios, with no more evidence behind them than the priors they must convince.
    const auto& source = static_cast<const MarginAdaptive&>(*donor);
    odds_.inherit(model, source.odds_, donor_model);
    curve_.inherit(model, source.curve_, donor_model);
    const Counters inherited = source.current(donor_model);
    std::copy(inherited.begin(), inherited.begin() + static_cast<std::ptrdiff_t>(block_size()), counters(model));
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      double count = 0.0;
      for (std::size_t k = 0; k < band_count(); ++k) count += get(exposure(counters(model), k), lane - lane % link_count());
      const double keep = count > band_prior_ ? band_prior_ / count : 1.0;
      for (std::size_t row = 0; row < 2 * band_count(); ++row)
        set(counters(model) + row * pairs(), lane, keep * get(counters(model) + row * pairs(), lane));
    }
  }

  void on_prepare(ModelId model) override {
    if constexpr (kFixed) {
      Prepared& prepared = prepared_[model];
      if (prepared.version == version_) return;
      prepared.version = version_;
      const Counters then = current(model);
      for (std::size_t k = 0; k < band_count(); ++k) prepared.with_band[k] = factors_of(then.data(), k).with_band;
      prepared.plain = plain_accuracy(then.data());
    }
  }

  // Called with the presence already changed: `taught` counts the present models that have an observation.
  void on_presence_changed(ModelId model) override {
    if (models_[model].observed) change_taught(present(model) ? 1.0 : -1.0);
  }

  // Flat, so that the steps which only learning needs are not kept.
  [[nodiscard, gnu::flatten]] double predict(ModelId model, double confidence) const override {
    if constexpr (kFixed) {
      const Prepared& prepared = prepared_[model];
      if (prepared.version == version_) {
        Forecast forecast = stated(model, confidence);
        close(forecast, prepared.with_band[static_cast<std::size_t>(band_of(confidence, bands()))], prepared.plain);
        return forecast.closing.final;
      }
    }
    return forecast(model, confidence).closing.final;
  }

  void learn(const Observation& observation) override {
    Model& owner = models_[observation.model];
    settle(observation.model);
    if (!owner.observed) {
      owner.observed = true;
      change_taught(1.0);
    }
    outcomes_this_task_ += 1.0;
    const double outcome = observation.outcome;
    const double weight = observation.weight;
    const double per_task = outcomes_per_task();
    const Forecast forecast = this->forecast(observation.model, observation.confidence);

    closing_.learn(forecast.closing, outcome, weight, per_task);
    Lanes p = forecast.experts;
    for (std::size_t v = 0; v < pairs(); ++v) p[v] = larger(smaller(p[v], both(0.99)), both(0.01));
    TemperedOdds::Values tempered = forecast.tempered;
    for (std::size_t v = 0; v < odds_pairs(); ++v) tempered[v] = larger(smaller(tempered[v], both(0.99)), both(0.01));
    const std::array<double, kClocksMax> by_clock = mean_by_clock(p);
    reweigh(p, tempered, outcome, std::min(1.0, weight / per_task), share_ / per_task);
    odds_.learn(observation.model, tempered, odds_pairs(), outcome, weight, per_task);
    if constexpr (kLine)
      curve_.learn(observation.model, forecast.coordinate, TemperedOdds::get(forecast.tempered, root_count()), outcome, weight);

    count(observation, forecast);
    const std::array<double, kClocksMax> gains = faster_gains(outcome, by_clock);
    alarm_count_ = 0;
    const std::size_t pool_fired =
        alarm(ClockAlarm::kPool, pool_cusum_, gains, weight * std::min(1.0, alarm_rate_ / per_task), pool_alarm_);
    const std::size_t model_fired = alarm(observation.model, owner.cusum, gains, weight, model_alarm_);
    if (pool_fired != kNone) forget_with_pool(pool_fired);
    if (model_fired != kNone) {
      settle(observation.model);
      forget(observation.model, model_fired);
    }
    refresh_pool();
  }

  // All decayed sums, of models, pool and closing steps, against the priors that stay. What was earned by winning (weights, tempered odds)
  // and the alarms' cumulated gains are no counts.
  bool on_discount(double trust) override {
    for (ModelId model = 0; model < models_.size(); ++model) settle(model);
    for (Pair& sum : counters_) sum = both(trust) * sum;
    for (Pair& sum : pool_) sum = both(trust) * sum;
    for (ModelId model = 0; model < models_.size(); ++model) curve_.model(model) = StatedCurve::scaled(curve_.model(model), trust);
    const auto scale = [&](double& sum, bool /*never_negative*/) { sum *= trust; };
    Closing::visit_slope(closing_, scale);
    Closing::visit_sums(closing_, scale);
    refresh_pool();
    return true;
  }

  [[nodiscard]] bool merges() const override { return true; }

  // Sums become what one memory would hold of both histories; what is no sum (weights, scales, lines, corrections) is averaged by the
  // evidence behind it. The alarms' gains were won against one history, and begin anew.
  void on_merge(const Calibrator& other, std::span<const Merged> models) override {
    const auto& source = static_cast<const MarginAdaptive&>(other);
    for (ModelId model = 0; model < models_.size(); ++model) settle(model);
    double back = 0.0;  // who had left, and did not count
    for (const Merged& model : models) back += models_[model.own].observed && model.away ? 1.0 : 0.0;
    const double own_taught = std::max(1.0, taught_ - back);
    const double their_taught = std::max(1.0, source.taught_);
    for (const Merged& model : models) {
      if (models_[model.own].observed || !source.models_[model.theirs].observed) continue;
      models_[model.own].observed = true;
      taught_ += 1.0;
    }
    double leave = 0.0;  // and are not taught any more
    for (const Merged& model : models) leave += models_[model.own].observed && !model.present ? 1.0 : 0.0;
    const Closing::Taught taught{own_taught, their_taught, std::max(1.0, taught_ - leave)};

    const std::size_t slowest = clock_count() - 1;
    const double of_pool = share_of(plain_count(pool_.data(), slowest), plain_count(source.pool_.data(), slowest), 1.0);
    const BothHistories seen = add(pool_.data(), source.pool_.data(), taught);
    closing_.merge(source.closing_, seen, taught, of_pool);
    if (of_pool > 0.0) merge_experts(source, of_pool);
    const TemperedOdds::Values before = odds_.pool();
    odds_.pool() = TemperedOdds::between(odds_.pool(), source.odds_.pool(), of_pool);
    for (ModelId model = 0; model < models_.size(); ++model) odds_.model(model) = odds_.rebased(odds_.model(model), before);
    curve_.pool() = StatedCurve::between(curve_.pool(), source.curve_.pool(), of_pool);

    for (const Merged& model : models) {
      const Counters theirs = source.current(model.theirs);
      const double share = share_of(plain_count(counters(model.own), slowest), plain_count(theirs.data(), slowest), of_pool);
      const BothHistories seen_of_it = add(counters(model.own), theirs.data(), {1.0, 1.0, 1.0});
      odds_.model(model.own) =
          TemperedOdds::between(odds_.model(model.own), odds_.rebased(source.odds_.model(model.theirs), source.odds_.pool()), share);
      if constexpr (kLine) {
        const StatedCurve::Curve curve = StatedCurve::merged(curve_.model(model.own), source.current_curve(model.theirs), share);
        const double memory = curve_.memory();
        curve_.model(model.own) = StatedCurve::scaled(curve, seen_of_it.kept(memory, memory, memory));
      }
      merge_gains(models_[model.own].cusum, source.models_[model.theirs].cusum, share);
    }
    refresh_clock_shares();
    refresh_pool_memory();
    refresh_pool();
  }

  void on_begin_task() override { outcomes_this_task_ = 0.0; }

  void on_end_task() override {
    if (outcomes_this_task_ == 0.0 && outcomes_per_task_ == 0.0) return;
    outcomes_per_task_ =
        outcomes_per_task_ <= 0.0 ? outcomes_this_task_ : outcomes_per_task_ + 0.1 * (outcomes_this_task_ - outcomes_per_task_);
    refresh_resolution();
  }

  // The mixture is a sum of products; the terms are its successive refinements, so that their product is exactly the factor.
  void describe(ModelId model, Explanation& explanation) const override {
    const auto k = static_cast<std::size_t>(explanation.band);
    const Forecast forecast = this->forecast(model, explanation.confidence);
    const double by_pool =
        mixture(clipped_at_one(pool_band(k), forecast.powers),
                odds_experts(odds_.with_pool(stated_odds(explanation.confidence), root_count()), curve_.pool(), forecast.coordinate));
    const double by_model = mixture(clipped_at_one(forecast.with_model, forecast.powers), forecast.tempered);
    // Below the smallest normal number a factor would overflow, as it would at 0.
    const bool has_factor = explanation.confidence >= std::numeric_limits<double>::min();
    const double stated = has_factor ? explanation.confidence : 1.0;
    const Counters counters = current(model);
    explanation.observations = get(exposure(counters.data(), k), lanes() - link_count());  // link 0 of the slowest clock: a plain count
    explanation.terms = {{has_factor ? "pool band factor" : "pool band probability", by_pool / stated},
                         {"model ratio", by_model / by_pool},
                         {"band ratio", forecast.closing.mixed / by_model},
                         {"closing factor", forecast.closing.final / forecast.closing.mixed},
                         {"resolution earned", resolution_},
                         {"plain accuracy", forecast.closing.plain}};
  }

  void make_room(std::size_t models) override {
    models_.resize(models);
    if constexpr (kFixed) prepared_.resize(models);
    odds_.make_room(models);
    curve_.make_room(models);
    counters_.resize(models * block_size(), both(0.0));
  }

  [[nodiscard]] std::size_t saved_bytes_per_model() const override {
    return (2 * band_count() * lanes() + clock_count() + odds_.size() + (kLine ? 5 : 0)) * sizeof(double);
  }

  void save(internal::Encoder& out) const override {
    const auto reals = [&](const double* first, std::size_t size) { std::for_each(first, first + size, [&](double x) { out.real(x); }); };
    const auto row_of_lanes = [&](const Pair* row) {
      for (std::size_t lane = 0; lane < lanes(); ++lane) out.real(get(row, lane));
    };
    const auto rows = [&](const Pair* counters) {
      for (std::size_t row = 0; row < 2 * band_count(); ++row) row_of_lanes(counters + row * pairs());
    };
    rows(pool_.data());
    reals(pool_cusum_.data(), clock_count());
    row_of_lanes(weights_.data());
    const auto real = [&](double x, bool /*never_negative*/) { out.real(x); };
    Closing::visit_slope(closing_, real);
    out.real(outcomes_per_task_);
    out.real(outcomes_this_task_);
    Closing::visit_bins(closing_, real);
    const auto tempered = [&](const TemperedOdds::Values& values) {
      for (std::size_t i = 0; i < odds_.size(); ++i) out.real(TemperedOdds::get(values, i));
    };
    for (std::size_t i = 0; i < odds_lanes(); ++i) out.real(TemperedOdds::get(odds_weights_, i));
    tempered(odds_.pool());
    if constexpr (kLine) {
      for (const double x : {curve_.pool().slope, curve_.pool().offset}) out.real(x);
    }
    for (ModelId model = 0; model < models_.size(); ++model) {
      rows(current(model).data());
      reals(models_[model].cusum.data(), clock_count());
      tempered(odds_.model(model));
      if constexpr (kLine) {
        const StatedCurve::Curve curve = current_curve(model);
        for (const double x : {curve.line.slope, curve.line.offset, curve.squares, curve.products, curve.count}) out.real(x);
      }
      out.flag(models_[model].observed);
    }
  }

  void load(internal::Decoder& in) override {
    const auto real = [&](double low, double high) {
      const double x = in.real();
      if (!(x >= low && x <= high)) in.fail();
      return in.ok() ? x : 0.0;
    };
    const auto rows = [&](Pair* counters) {
      for (std::size_t row = 0; row < 2 * band_count(); ++row) {
        for (std::size_t lane = 0; lane < lanes(); ++lane) set(counters + row * pairs(), lane, real(0.0, kSumMax));
      }
    };
    const auto reals = [&](double* first, std::size_t size, double low) {
      std::generate(first, first + size, [&] { return real(low, kSumMax); });
    };
    rows(pool_.data());
    reals(pool_cusum_.data(), clock_count(), 0.0);
    for (std::size_t lane = 0; lane < lanes(); ++lane) set(weights_, lane, real(0.0, 2.0));
    const auto restore = [&](double& x, bool never_negative) { x = real(never_negative ? 0.0 : -kSumMax, kSumMax); };
    Closing::visit_slope(closing_, restore);
    outcomes_per_task_ = real(0.0, kSumMax);
    outcomes_this_task_ = real(0.0, kSumMax);
    Closing::visit_bins(closing_, restore);
    const auto scales = [&](TemperedOdds::Values& values) {
      for (std::size_t i = 0; i < odds_.size(); ++i)
        TemperedOdds::set(values, i, real(1.0 / TemperedOdds::kScaleMax, TemperedOdds::kScaleMax));
    };
    for (std::size_t i = 0; i < odds_lanes(); ++i) TemperedOdds::set(odds_weights_, i, real(0.0, 2.0));
    scales(odds_.pool());
    const auto line = [&](StatedCurve::Line& of) {
      of.slope = real(0.0, StatedCurve::kSlopeMax);
      of.offset = real(-StatedCurve::kOffsetMax, StatedCurve::kOffsetMax);
    };
    if constexpr (kLine) line(curve_.pool());
    for (ModelId model = 0; model < models_.size(); ++model) {
      rows(counters(model));
      reals(models_[model].cusum.data(), clock_count(), 0.0);
      scales(odds_.model(model));
      if constexpr (kLine) {
        StatedCurve::Curve& curve = curve_.model(model);
        line(curve.line);
        curve.squares = real(0.0, StatedCurve::kSumMax);
        curve.products = real(-StatedCurve::kSumMax, StatedCurve::kSumMax);
        curve.count = real(0.0, StatedCurve::kSumMax);
        if (!StatedCurve::is_possible(curve)) in.fail();
      }
      models_[model].observed = in.flag();
      if (models_[model].observed && present(model)) taught_ += 1.0;
    }
    double whole = 0.0;
    for (std::size_t lane = 0; lane < lanes(); ++lane) whole += get(weights_, lane);
    for (std::size_t i = 0; i < odds_lanes(); ++i) whole += TemperedOdds::get(odds_weights_, i);
    if (!(whole > 0.5 && whole < 2.0)) in.fail();
    if (!in.ok()) return;
    refresh_clock_shares();
    refresh_pool_memory();
    refresh_pool();
  }

 private:
  static constexpr std::size_t kPairs = kFixed ? (kDefaultLanes + 1) / 2 : kPairsMax;
  static constexpr std::size_t kBands = kFixed ? kDefaultBands : kBandsMax;
  using Lanes = std::array<Pair, kPairs>;                  // a value per expert
  using Counters = std::array<Pair, 2 * kBands * kPairs>;  // outcome by band, then exposure by band; each a row of lanes
  static constexpr std::size_t kNone = kClocksMax;
  static constexpr double kSumMax = 1e18;  // larger than any decayed sum; a larger one in a snapshot is corruption

  struct Model {
    std::array<double, kClocksMax> cusum{};
    std::uint64_t epoch = 0;  // pool alarms that its counters have seen
    bool observed = false;
  };

  // Of a model in a band, whatever it states there.
  struct Factors {
    Lanes with_model;  // pool band factor x model ratio
    Lanes with_band;   // ... x band ratio
  };

  // What forecasts take of a model, whatever it states.
  struct Prepared {
    std::uint64_t version = 0;  // of all counters and weights; theirs begin at 1
    double plain = 0.0;
    std::array<Lanes, kFixed ? kBands : 0> with_band{};
  };

  // All steps from stated confidence to calibrated.
  struct Forecast {
    Lanes powers;                   // c^link
    Lanes with_model;               // of Factors
    Lanes experts;                  // with the band's ratio and the power, at most 1
    TemperedOdds::Values tempered;  // the line's last
    double coordinate;              // of the stated odds, for the line
    Closing::Steps closing;
  };

  static double get(const Pair* row, std::size_t lane) { return row[lane / 2][lane % 2]; }
  static double get(const Lanes& row, std::size_t lane) { return get(row.data(), lane); }
  static void set(Pair* row, std::size_t lane, double value) { row[lane / 2][lane % 2] = value; }
  static void set(Lanes& row, std::size_t lane, double value) { set(row.data(), lane, value); }

  [[nodiscard]] std::size_t band_count() const { return kFixed ? kDefaultBands : band_count_; }
  [[nodiscard]] std::size_t clock_count() const { return kFixed ? kDefaultClocks : clocks_.size(); }
  [[nodiscard]] std::size_t link_count() const { return kFixed ? kDefaultLinks : links_.size(); }
  [[nodiscard]] std::size_t lanes() const { return clock_count() * link_count(); }  // lane = clock * links + link
  [[nodiscard]] std::size_t experts() const { return lanes() + odds_lanes(); }
  [[nodiscard]] std::size_t root_count() const { return kFixed ? kRoots : odds_.size(); }
  [[nodiscard]] std::size_t odds_lanes() const { return root_count() + (kLine ? 1 : 0); }
  [[nodiscard]] std::size_t odds_pairs() const { return (odds_lanes() + 1) / 2; }
  [[nodiscard]] std::size_t pairs() const { return (lanes() + 1) / 2; }                // an idle last lane has weight 0 and stays finite
  [[nodiscard]] std::size_t block_size() const { return 2 * band_count() * pairs(); }  // pairs of one owner's counters

  // One owner's counters: a model's, or the pool's.
  [[nodiscard]] Pair* counters(ModelId model) { return &counters_[model * block_size()]; }
  [[nodiscard]] const Pair* counters(ModelId model) const { return &counters_[model * block_size()]; }
  template <class PairPointer>
  [[nodiscard]] PairPointer outcome(PairPointer counters, std::size_t k) const {
    return counters + k * pairs();
  }
  template <class PairPointer>
  [[nodiscard]] PairPointer exposure(PairPointer counters, std::size_t k) const {
    return counters + (band_count() + k) * pairs();
  }

  // A pool alarm overwrites the slower clocks of every model. That is done when a model is next taught: until then its counters stand
  // still, so all alarms it missed amount to the one from the fastest clock, and a reader applies that one to a copy.
  [[nodiscard]] std::size_t missed_alarm(ModelId model) const {
    for (std::size_t j = 0; j + 1 < clock_count(); ++j) {
      if (last_alarm_[j] > models_[model].epoch) return j;
    }
    return kNone;
  }
  void settle(ModelId model) {
    if (models_[model].epoch == epoch_) return;
    const std::size_t fired = missed_alarm(model);
    if (fired != kNone) forget(model, fired);
    models_[model].epoch = epoch_;
  }
  void forget(ModelId model, std::size_t clock) {
    overwrite_slower(counters(model), clock);
    curve_.model(model) = StatedCurve::after_alarm(curve_.model(model), clocks_[clock]);
  }
  [[nodiscard]] StatedCurve::Curve current_curve(ModelId model) const {
    const std::size_t fired = missed_alarm(model);
    return fired == kNone ? curve_.model(model) : StatedCurve::after_alarm(curve_.model(model), clocks_[fired]);
  }
  [[nodiscard]] Counters current(ModelId model) const {
    Counters copy;
    std::copy(counters(model), counters(model) + block_size(), copy.begin());
    const std::size_t fired = missed_alarm(model);
    if (fired != kNone) overwrite_slower(copy.data(), fired);
    return copy;
  }
  void overwrite_slower(Pair* counters, std::size_t clock) const {
    const std::size_t links = link_count();
    for (std::size_t row = 0; row < 2 * band_count(); ++row, counters += pairs()) {
      for (std::size_t lane = (clock + 1) * links; lane < lanes(); ++lane) set(counters, lane, get(counters, clock * links + lane % links));
    }
  }

  // How much of each clock's memory is filled: link 0 counts plainly.
  [[nodiscard]] double plain_count(const Pair* counters, std::size_t clock) const {
    double count = 0.0;
    for (std::size_t k = 0; k < band_count(); ++k) count += get(exposure(counters, k), clock * link_count());
    return count;
  }
  // The other's part of the evidence of both; who has seen nothing has no part.
  [[nodiscard]] static double share_of(double own, double theirs, double of_nothing) {
    return own + theirs > 0.0 ? theirs / (own + theirs) : of_nothing;
  }
  // Adds the counters of another history, and tells what the slowest clocks have seen.
  BothHistories add(Pair* own, const Pair* theirs, const Closing::Taught& taught) {
    BothHistories seen;
    for (std::size_t j = 0; j < clock_count(); ++j) {
      const double own_memory = clocks_[j] * taught.own;
      const double their_memory = clocks_[j] * taught.theirs;
      seen = {observations_of(plain_count(own, j), own_memory), observations_of(plain_count(theirs, j), their_memory)};
      const double kept = seen.kept(own_memory, their_memory, clocks_[j] * taught.together);
      for (std::size_t row = 0; row < 2 * band_count(); ++row) {
        for (std::size_t lane = j * link_count(); lane < (j + 1) * link_count(); ++lane) {
          set(own + row * pairs(), lane, kept * (get(own + row * pairs(), lane) + get(theirs + row * pairs(), lane)));
        }
      }
    }
    return seen;
  }
  static void merge_gains(std::array<double, kClocksMax>& own, const std::array<double, kClocksMax>& theirs, double share) {
    if (share >= 1.0) {
      own = theirs;
    } else if (share > 0.0) {
      own = {};
    }
  }
  void merge_experts(const MarginAdaptive& source, double share) {
    const auto average = [&](double own, double theirs) { return (1.0 - share) * own + share * theirs; };
    for (std::size_t lane = 0; lane < lanes(); ++lane) set(weights_, lane, average(get(weights_, lane), get(source.weights_, lane)));
    for (std::size_t i = 0; i < odds_lanes(); ++i) {
      TemperedOdds::set(odds_weights_, i, average(TemperedOdds::get(odds_weights_, i), TemperedOdds::get(source.odds_weights_, i)));
    }
    merge_gains(pool_cusum_, source.pool_cusum_, share);
    const bool both_know = outcomes_per_task_ > 0.0 && source.outcomes_per_task_ > 0.0;
    outcomes_per_task_ =
        both_know ? average(outcomes_per_task_, source.outcomes_per_task_) : outcomes_per_task_ + source.outcomes_per_task_;
  }

  void change_taught(double by) {
    taught_ += by;
    refresh_pool_memory();
  }
  // The pool's clocks run in observations per taught model.
  void refresh_pool_memory() {
    const double n = std::max(1.0, taught_);
    for (std::size_t lane = 0; lane < lanes(); ++lane) set(pool_keep_, lane, 1.0 - 1.0 / (clocks_[lane / link_count()] * n));
    closing_.set_models(taught_);
    refresh_resolution();
  }
  void refresh_resolution() { resolution_ = closing_.resolution(outcomes_per_task()); }

  // After every change of counters or weights. What every forecast needs of the pool: its factor per band (shrunk to the whole pool's), its
  // plain accuracy per clock, and how much resolution it has earned.
  void refresh_pool() {
    ++version_;
    refresh_resolution();
    for (std::size_t v = 0; v < pairs(); ++v) {
      Pair outcomes = both(0.0);
      Pair exposures = both(0.0);
      for (std::size_t k = 0; k < band_count(); ++k) {
        outcomes += outcome(pool_.data(), k)[v];
        exposures += exposure(pool_.data(), k)[v];
      }
      const Pair whole = (outcomes + both(pool_prior_ * prior_outcome_)) / (exposures + both(pool_prior_) * prior_exposure_[v]);
      pool_whole_[v] = whole;
      for (std::size_t k = 0; k < band_count(); ++k) {
        pool_factors_[k * pairs() + v] =
            (outcome(pool_.data(), k)[v] + both(pool_band_prior_) * whole) / (exposure(pool_.data(), k)[v] + both(pool_band_prior_));
      }
    }
  }

  [[nodiscard]] Forecast forecast(ModelId model, double confidence) const {
    if (models_[model].epoch == epoch_ || missed_alarm(model) == kNone) [[likely]]
      return forecast_from(model, counters(model), confidence);
    const Counters then = current(model);
    return forecast_from(model, then.data(), confidence);
  }

  [[nodiscard]] Forecast forecast_from(ModelId model, const Pair* counters, double confidence) const {
    Forecast forecast = stated(model, confidence);
    const Factors factors = factors_of(counters, static_cast<std::size_t>(band_of(confidence, bands())));
    forecast.with_model = factors.with_model;
    close(forecast, factors.with_band, plain_accuracy(counters));
    return forecast;
  }

  // What a forecast takes of the stated confidence. It comes first: nothing else has to wait for as long.
  [[nodiscard]] Forecast stated(ModelId model, double confidence) const {
    Forecast forecast;
    const double odds = stated_odds(confidence);
    forecast.coordinate = kLine ? StatedCurve::coordinate(odds) : 0.0;
    forecast.tempered =
        odds_experts(odds_.with_model(odds_.with_pool(odds, root_count()), model), curve_.model(model).line, forecast.coordinate);
    forecast.powers = powers(confidence);
    return forecast;
  }
  void close(Forecast& forecast, const Lanes& with_band, double plain) const {
    forecast.experts = clipped_at_one(with_band, forecast.powers);
    forecast.closing = closing_.apply(mixture(forecast.experts, forecast.tempered), plain, resolution_);
  }

  [[nodiscard]] Factors factors_of(const Pair* counters, std::size_t k) const {
    Factors factors;
    for (std::size_t v = 0; v < pairs(); ++v) {
      Pair right = both(0.0);
      Pair expected = both(0.0);
      for (std::size_t q = 0; q < band_count(); ++q) {
        right += outcome(counters, q)[v];
        expected += exposure(counters, q)[v] * pool_factors_[q * pairs() + v];
      }
      const Pair model_ratio = (right + both(model_prior_)) / (expected + both(model_prior_));
      factors.with_model[v] = pool_factors_[k * pairs() + v] * model_ratio;
      const Pair band_ratio = (outcome(counters, k)[v] + both(band_prior_)) /
                              (exposure(counters, k)[v] * pool_factors_[k * pairs() + v] * model_ratio + both(band_prior_));
      factors.with_band[v] = factors.with_model[v] * band_ratio;
    }
    return factors;
  }

  // The probabilities of the experts of the stated odds: those tempered, and then the line's.
  [[nodiscard]] TemperedOdds::Values odds_experts(TemperedOdds::Values odds, const StatedCurve::Line& line, double coordinate) const {
    if constexpr (kLine) TemperedOdds::set(odds, root_count(), StatedCurve::odds(line, coordinate));
    return TemperedOdds::probabilities(odds, odds_pairs());
  }

  [[nodiscard]] Lanes powers(double confidence) const {
    std::array<double, kLinksMax> by_link{};
    if constexpr (kFixed) {
      by_link = {power(confidence, kDefaultPowers[0]), power(confidence, kDefaultPowers[1]), power(confidence, kDefaultPowers[2])};
    } else {
      for (std::size_t l = 0; l < link_count(); ++l) by_link[l] = power(confidence, static_cast<unsigned>(links_[l]));
    }
    const auto of = [&](std::size_t lane) { return lane < lanes() ? by_link[lane % link_count()] : 0.0; };
    Lanes powers;
    for (std::size_t v = 0; v < pairs(); ++v) powers[v] = Pair{of(2 * v), of(2 * v + 1)};
    return powers;
  }

  [[nodiscard]] Lanes pool_band(std::size_t k) const {
    Lanes factors;
    std::copy(&pool_factors_[k * pairs()], &pool_factors_[k * pairs()] + pairs(), factors.begin());
    return factors;
  }
  [[nodiscard]] Lanes clipped_at_one(const Lanes& factors, const Lanes& powers) const {
    Lanes p;
    for (std::size_t v = 0; v < pairs(); ++v) p[v] = smaller(factors[v] * powers[v], both(1.0));
    return p;
  }

  [[nodiscard]] double mixture(const Lanes& p, const TemperedOdds::Values& tempered) const {
    // In lane order, as the reference sums: at the start all experts agree, and the last bit decides an output bin.
    double sum = 0.0;
    for (std::size_t v = 0; v < pairs(); ++v) {
      const Pair product = weights_[v] * p[v];
      sum += product[0];
      sum += product[1];
    }
    double of_odds = 0.0;  // apart, so that neither sum waits for the other
    for (std::size_t v = 0; v < odds_pairs(); ++v) {
      const Pair product = odds_weights_[v] * tempered[v];
      of_odds += product[0];
      of_odds += product[1];
    }
    return sum + of_odds;
  }

  // The model's accuracy whatever it says, shrunk to the pool's, over the clocks as they are weighted now.
  [[nodiscard]] double plain_accuracy(const Pair* counters) const {
    double total = 0.0;
    for (std::size_t j = 0; j < clock_count(); ++j) {
      const std::size_t lane = j * link_count();
      double right = 0.0;
      double seen = 0.0;
      for (std::size_t k = 0; k < band_count(); ++k) {
        right += get(outcome(counters, k), lane);
        seen += get(exposure(counters, k), lane);
      }
      total += clock_share_[j] * (right + model_prior_ * get(pool_whole_, lane)) / (seen + model_prior_);
    }
    return total;
  }
  [[nodiscard]] double clock_weight(std::size_t j) const {
    double sum = 0.0;
    for (std::size_t l = 0; l < link_count(); ++l) sum += get(weights_, j * link_count() + l);
    return sum;
  }

  // What a clock weighs among the clocks. Without other experts that is its weight: they are all there is.
  void refresh_clock_shares() {
    double all = 0.0;
    for (std::size_t j = 0; j < clock_count(); ++j) all += clock_share_[j] = clock_weight(j);
    if (experts() == lanes()) return;
    for (std::size_t j = 0; j < clock_count(); ++j) clock_share_[j] /= all;
  }

  [[nodiscard]] double outcomes_per_task() const { return std::max(1.0, outcomes_per_task_ > 0.0 ? outcomes_per_task_ : taught_); }

  // Soft-Bayes: a step of size `scale` toward Bayes' rule (at 1 it is Bayes' rule), then a fixed share to everybody.
  void reweigh(const Lanes& p, const TemperedOdds::Values& tempered, double outcome, double scale, double share) {
    const double mixed = mixture(p, tempered);
    const double up = scale * outcome / mixed;
    const double down = scale * (1.0 - outcome) / (1.0 - mixed);
    const double floor = share / static_cast<double>(experts());
    for (std::size_t v = 0; v < pairs(); ++v) {
      const Pair gain = both(1.0 - scale) + both(up) * p[v] + both(down) * (both(1.0) - p[v]);
      weights_[v] = both(1.0 - share) * weights_[v] * gain + both(floor);
    }
    if (lanes() % 2 != 0) set(weights_, lanes(), 0.0);
    for (std::size_t v = 0; v < odds_pairs(); ++v) {
      const Pair gain = both(1.0 - scale) + both(up) * tempered[v] + both(down) * (both(1.0) - tempered[v]);
      odds_weights_[v] = both(1.0 - share) * odds_weights_[v] * gain + both(floor) * odds_used_[v];
    }
    refresh_clock_shares();
  }

  [[nodiscard]] std::array<double, kClocksMax> mean_by_clock(const Lanes& p) const {
    std::array<double, kClocksMax> mean{};
    for (std::size_t j = 0; j < clock_count(); ++j) {
      double sum = 0.0;
      for (std::size_t lane = j * link_count(); lane < (j + 1) * link_count(); ++lane) sum += get(weights_, lane) * get(p, lane);
      mean[j] = sum / clock_weight(j);
    }
    return mean;
  }

  void count(const Observation& observation, const Forecast& forecast) {
    const auto k = static_cast<std::size_t>(band_of(observation.confidence, bands()));
    const auto decay_and_add = [&](Pair* counters, const Lanes& keep) {
      for (std::size_t row = 0; row < 2 * band_count(); ++row) {
        for (std::size_t v = 0; v < pairs(); ++v) {
          const Pair sum = counters[row * pairs() + v] * keep[v];
          counters[row * pairs() + v] = kLine ? (sum < both(internal::kFaded) ? both(0.0) : sum) : sum;
        }
      }
      for (std::size_t v = 0; v < pairs(); ++v) {
        outcome(counters, k)[v] += both(observation.weight * observation.outcome);
        exposure(counters, k)[v] += both(observation.weight) * forecast.powers[v];
      }
    };
    decay_and_add(counters(observation.model), model_keep_);
    decay_and_add(pool_.data(), pool_keep_);
  }

  // By how much a clock was better than the next slower one. 2(a-b)/(a+b) stands for ln(a/b): near it for close clocks, never beyond 2.
  [[nodiscard]] std::array<double, kClocksMax> faster_gains(double outcome, const std::array<double, kClocksMax>& by_clock) const {
    std::array<double, kClocksMax> gains{};
    for (std::size_t j = 0; j + 1 < clock_count(); ++j) {
      const double a = by_clock[j];
      const double b = by_clock[j + 1];
      gains[j] = outcome * 2.0 * (a - b) / (a + b) - (1.0 - outcome) * 2.0 * (a - b) / (2.0 - a - b);
    }
    return gains;
  }
  // A faster clock that keeps winning. Returns the fastest whose evidence passed the limit; its evidence and that of the slower ones starts
  // anew.
  [[nodiscard]] std::size_t alarm(ModelId owner, std::array<double, kClocksMax>& cusum, const std::array<double, kClocksMax>& gains,
                                  double scale, double limit) {
    std::size_t fired = kNone;
    for (std::size_t j = 0; j + 1 < clock_count(); ++j) {
      cusum[j] = std::max(0.0, cusum[j] + scale * gains[j]);
      if (fired == kNone && cusum[j] > limit) fired = j;
    }
    if (fired == kNone) return kNone;
    alarms_[alarm_count_++] = {owner, clocks_[fired], clocks_[fired + 1], cusum[fired], limit};
    std::fill(cusum.begin() + static_cast<std::ptrdiff_t>(fired), cusum.end(), 0.0);
    return fired;
  }

  // The pool's world changed: clocks slower than `clock` forget what they knew, and its experts share their weight.
  void forget_with_pool(std::size_t clock) {
    last_alarm_[clock] = ++epoch_;
    overwrite_slower(pool_.data(), clock);
    const std::size_t links = link_count();
    for (std::size_t l = 0; l < links; ++l) {
      double sum = 0.0;
      for (std::size_t j = clock; j < clock_count(); ++j) sum += get(weights_, j * links + l);
      for (std::size_t j = clock; j < clock_count(); ++j) set(weights_, j * links + l, sum / static_cast<double>(clock_count() - clock));
    }
    refresh_clock_shares();
  }

  const std::vector<double> clocks_;
  const std::vector<double> links_;
  const std::size_t band_count_;
  const double prior_outcome_;
  const double pool_prior_;
  const double pool_band_prior_;
  const double model_prior_;
  const double band_prior_;
  const double share_;
  const double alarm_rate_;
  const double pool_alarm_;
  const double model_alarm_;
  Closing closing_;
  TemperedOdds odds_;
  StatedCurve curve_;
  Lanes prior_exposure_{};
  Lanes model_keep_{};

  std::vector<Pair> pool_;      // the pool's counters
  std::vector<Pair> counters_;  // every model's, by id
  std::vector<Model> models_;
  std::array<double, kClocksMax> pool_cusum_{};
  std::array<std::uint64_t, kClocksMax> last_alarm_{};  // by clock: the epoch of its latest pool alarm
  std::uint64_t epoch_ = 0;                             // pool alarms so far
  double taught_ = 0.0;                                 // present models with an observation
  Lanes weights_{};                                     // of the experts; with the next they sum to 1
  TemperedOdds::Values odds_weights_ = TemperedOdds::all(0.0);
  double outcomes_per_task_ = 0.0;
  double outcomes_this_task_ = 0.0;

  // Of the latest observation; nothing depends on them, and no snapshot has them.
  std::array<ClockAlarm, 2> alarms_;
  std::size_t alarm_count_ = 0;

  // Kept up to date from the above.
  std::array<double, kClocksMax> clock_share_{};
  TemperedOdds::Values odds_used_ = TemperedOdds::all(0.0);  // 1 for an expert that there is
  Lanes pool_keep_{};
  std::uint64_t version_ = 0;       // counts the changes
  std::vector<Prepared> prepared_;  // by id, in the default shape
  std::vector<Pair> pool_factors_;  // by band
  double resolution_ = 0.0;         // earned
  Lanes pool_whole_{};              // the pool's factor over all bands; with link 0 that is its plain accuracy
};

// kRoots: as many as there are by default.
template <std::size_t kRoots, bool kLine>
std::unique_ptr<Calibrator> make_version(const CalibratorInfo& info, Parameters resolved) {
  const std::vector<double>& links = list(resolved, "links");
  const bool fixed = static_cast<std::size_t>(integer(resolved, "bands")) == kDefaultBands &&
                     list(resolved, "clocks").size() == kDefaultClocks && std::ranges::equal(links, kDefaultPowers) &&
                     (kRoots == 0 || list(resolved, "roots").size() == kRoots);
  if (fixed) return std::make_unique<MarginAdaptive<true, kRoots, kLine>>(info, std::move(resolved));
  return std::make_unique<MarginAdaptive<false, kRoots, kLine>>(info, std::move(resolved));
}
std::unique_ptr<Calibrator> make(Parameters resolved) { return make_version<1, true>(internal::adaptive_info(), std::move(resolved)); }
std::unique_ptr<Calibrator> make_2(Parameters resolved) { return make_version<3, false>(internal::adaptive_info_2(), std::move(resolved)); }
std::unique_ptr<Calibrator> make_1(Parameters resolved) { return make_version<0, false>(internal::adaptive_info_1(), std::move(resolved)); }

}  // namespace

const internal::Method internal::kMarginAdaptive = {internal::adaptive_info, make, internal::check_adaptive};
const internal::Method internal::kMarginAdaptive2 = {internal::adaptive_info_2, make_2, internal::check_adaptive};
const internal::Method internal::kMarginAdaptive1 = {internal::adaptive_info_1, make_1, internal::check_adaptive};

}  // namespace margin
