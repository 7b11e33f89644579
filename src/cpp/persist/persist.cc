#include "persist/persist.h"

#include "absl/strings/str_cat.h"
#include "persist/codecs.h"
#include "persist/compact.h"

namespace kueue {
namespace {

constexpr absl::string_view kFormat("kueuepy-state");
// Must be incremented when the meaning of existing data changes, but not when fields are added.
constexpr int64_t kVersion = 2;

absl::Status Broken(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("saved state: ", what));
}

// Reads the schemas, which precede the data they describe.
Schemas ReadSchemas(MsgpackReader& in) {
  Schemas schemas;
  for (size_t left = in.Array(); left > 0 && in.ok(); --left) {
    if (!in.TakeArray(2)) in.Fail();
    const std::string name(in.Text());
    schemas[name] = std::string(in.Text());
  }
  return schemas;
}

// Earlier releases did not save scheduling hashes.
void AddHashes(State& state) {
  for (ClassId id : state.classes.Ids()) {
    if (state.Class(id).hash == kNoId) state.classes[id].hash = id;
  }
  for (WorkloadId id : state.workloads.Ids()) {
    if (state.At(id).hash == kNoId) state.At(id).hash = state.At(id).cls;
  }
}

}  // namespace

std::string SaveState(const State& state) {
  State tidy = state;
  Compact(tidy, /*may_end=*/true);
  ArchiveWriter<FieldLists> body;
  body.Write(tidy);
  MsgpackWriter out;
  out.Array(5);
  out.Text(kFormat);
  out.Int(kVersion);
  out.Array(body.schemas().size());
  for (const auto& [name, fields] : body.schemas()) {
    out.Array(2);
    out.Text(name);
    out.Text(fields);
  }
  out.Array(body.pool().size());
  for (const std::string& shared : body.pool()) out.Binary(shared);
  return absl::StrCat(out.text(), body.out().text());
}

absl::StatusOr<State> LoadState(absl::string_view text) {
  MsgpackReader in(text);
  if (!in.TakeArray(5) || in.Text() != kFormat) return Broken("this is not the state of an engine");
  const int64_t version = in.Int();
  if (!in.ok()) return Broken("it has no version");
  if (version != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("saved state: it has version ", version, "; this release reads version ", kVersion));
  }
  Schemas schemas = ReadSchemas(in);
  std::vector<absl::string_view> pool;
  for (size_t left = in.Array(); left > 0 && in.ok(); --left) pool.push_back(in.Binary());
  if (!in.ok()) return Broken("it ends early or is damaged");
  ArchiveReader<FieldLists> archive(in.Rest(), std::move(schemas), pool);
  State state;
  archive.Read(&state);
  if (!archive.unknown().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("saved state: ", archive.unknown(), " is unknown; a later release has written it"));
  }
  if (!archive.in().ok() || !archive.in().AtEnd()) return Broken("it ends early or is damaged");
  AddHashes(state);
  if (const std::string broken = BrokenReference(state); !broken.empty()) return Broken(broken);
  return state;
}

}  // namespace kueue
