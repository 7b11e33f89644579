#include "simulation/run_data.h"

#include <algorithm>
#include <utility>

namespace kueue {
namespace {

Time StartOf(const Engine& engine, const JobColumns& columns, const SimulationOptions& options) {
  if (options.start) return *options.start;
  Time start = columns.submit.empty() ? engine.state().now : columns.submit.front();
  if (!options.changes.empty()) start = std::min(start, options.changes.front().at);
  return std::max(start, engine.state().now);
}

}  // namespace

RunData::RunData(Engine given, std::shared_ptr<const JobColumns> sorted, SimulationOptions all_options)
    : engine(std::move(given)),
      options(std::move(all_options)),
      jobs(std::move(sorted), options.site),
      start(StartOf(engine, jobs.columns(), options)),
      recorder(options.record, start),
      figures(SaturatingAdd(start, options.warmup), options.record.metrics) {
  recorder.Reserve(static_cast<size_t>(jobs.columns().size()));
}

}  // namespace kueue
