#include "kernels/data/iterator_state.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "framework/op/tensor_proto.h"
#include "framework/tensor/variant.h"
#include "kernels/data/elements_dataset.h"

namespace headrace {
namespace {

// The metadata of the message: this line, then for each entry a line with the
// number of its tensors and its name. The tensors follow each other.
constexpr char kFirstLine[] = "headrace iterator 1";
constexpr char kTensorName[] = "tensorflow::Tensor";
constexpr char kDatasetName[] = "tensorflow::DatasetVariant";
// Variants inside variants.
constexpr int kMaxNesting = 8;

Status Damaged(absl::string_view why) {
  return errors::InvalidArgument("the saved place of an iterator is damaged: ",
                                 why);
}

Status ToMessage(const Tensor& t, int nesting, pb::TensorProto* out);
Status FromMessage(const pb::TensorProto& proto, int nesting, Tensor* out);

// A dataset of elements: first a vector with the numbers of components and of
// elements, and for each component its type, its rank (-1 if that is not known)
// and its sizes; then the tensors.
Status ElementsToMessage(const Dataset& dataset,
                         const std::vector<TensorTuple>& elements, int nesting,
                         pb::VariantTensorDataProto* out) {
  const ElementSpec& spec = dataset.spec();
  std::vector<int64_t> numbers = {static_cast<int64_t>(spec.dtypes.size()),
                                  static_cast<int64_t>(elements.size())};
  for (size_t c = 0; c < spec.dtypes.size(); ++c) {
    numbers.push_back(spec.dtypes[c]);
    numbers.push_back(spec.shapes[c].dims());
    for (int d = 0; d < spec.shapes[c].dims(); ++d) {
      numbers.push_back(spec.shapes[c].dim_size(d));
    }
  }
  TensorToProto(Tensor::Vector<int64_t>(numbers), out->add_tensors());
  for (const TensorTuple& e : elements) {
    for (const Tensor& t : e) {
      HR_RETURN_IF_ERROR(ToMessage(t, nesting + 1, out->add_tensors()));
    }
  }
  return OkStatus();
}

Status ElementsFromMessage(const pb::VariantTensorDataProto& proto, int nesting,
                           Variant* out) {
  const Status damaged = Damaged("a dataset in it");
  Tensor t;
  if (proto.tensors_size() == 0) return damaged;
  HR_RETURN_IF_ERROR(TensorFromProto(proto.tensors(0), &t));
  if (t.dtype() != DT_INT64 || t.NumElements() < 2) return damaged;
  const absl::Span<const int64_t> numbers = t.span<int64_t>();
  ElementSpec spec;
  size_t at = 2;
  const int64_t components = numbers[0], count = numbers[1];
  for (int64_t c = 0; c < components; ++c) {
    if (numbers.size() - at < 2) return damaged;
    const int64_t dtype = numbers[at], rank = numbers[at + 1];
    at += 2;
    if (dtype < 0 || dtype > 100 || !IsValidDataType(DataType(dtype)) ||
        rank < -1 || rank > static_cast<int64_t>(numbers.size() - at)) {
      return damaged;
    }
    PartialTensorShape shape;
    if (rank >= 0) {
      HR_RETURN_IF_ERROR(PartialTensorShape::Build(
          numbers.subspan(at, static_cast<size_t>(rank)), &shape));
      at += static_cast<size_t>(rank);
    }
    spec.dtypes.push_back(static_cast<DataType>(dtype));
    spec.shapes.push_back(shape);
  }
  const int64_t tensors = proto.tensors_size() - 1;
  if (at != numbers.size() || components <= 0 || count < 0 ||
      count > tensors / components || count * components != tensors) {
    return damaged;
  }
  std::vector<TensorTuple> elements(static_cast<size_t>(count));
  for (int i = 0; i < tensors; ++i) {
    TensorTuple& e = elements[static_cast<size_t>(i / components)];
    e.emplace_back();
    HR_RETURN_IF_ERROR(
        FromMessage(proto.tensors(i + 1), nesting + 1, &e.back()));
  }
  for (const TensorTuple& e : elements) {
    HR_RETURN_IF_ERROR(spec.CheckElement(e, damaged.message()));
  }
  *out =
      DatasetTensor(MakeElementsDataset(std::move(spec), std::move(elements)))
          .scalar<Variant>();
  return OkStatus();
}

// Beside what messages hold otherwise: variants that are tensors, as those of
// sparse elements are, and datasets of elements, as windows are.
Status ToMessage(const Tensor& t, int nesting, pb::TensorProto* out) {
  if (t.dtype() == DT_RESOURCE) {
    return errors::Unimplemented(
        "the place of an iterator cannot be saved: an element that it holds "
        "has a resource handle");
  }
  if (t.dtype() != DT_VARIANT) {
    TensorToProto(t, out);
    return OkStatus();
  }
  out->set_dtype(pb::DT_VARIANT);
  ShapeToProto(t.shape(), out->mutable_tensor_shape());
  for (const Variant& v : t.span<Variant>()) {
    pb::VariantTensorDataProto* const message = out->add_variant_val();
    if (v.is_empty()) continue;
    const Tensor* inner = v.Get<Tensor>();
    const auto* dataset = v.Get<RefPtr<const Dataset>>();
    const std::vector<TensorTuple>* elements =
        dataset == nullptr ? nullptr : ElementsOf(**dataset);
    if ((inner == nullptr && elements == nullptr) || nesting == kMaxNesting) {
      return errors::Unimplemented(
          "the place of an iterator cannot be saved: an element that it holds "
          "has a variant of type '",
          v.TypeName(), "'");
    }
    message->set_type_name(v.TypeName());
    if (elements != nullptr) {
      HR_RETURN_IF_ERROR(
          ElementsToMessage(**dataset, *elements, nesting, message));
      continue;
    }
    HR_RETURN_IF_ERROR(ToMessage(*inner, nesting + 1, message->add_tensors()));
  }
  return OkStatus();
}

Status FromMessage(const pb::TensorProto& proto, int nesting, Tensor* out) {
  if (proto.dtype() != pb::DT_VARIANT) return TensorFromProto(proto, out);
  PartialTensorShape partial;
  TensorShape shape;
  HR_RETURN_IF_ERROR(ShapeFromProto(proto.tensor_shape(), &partial));
  if (!partial.AsTensorShape(&shape) || !shape.IsValid() ||
      shape.num_elements() != proto.variant_val_size()) {
    return Damaged("the shape of a variant tensor");
  }
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), DT_VARIANT, shape, out));
  for (int i = 0; i < proto.variant_val_size(); ++i) {
    const pb::VariantTensorDataProto& message = proto.variant_val(i);
    if (message.type_name().empty()) continue;
    if (nesting < kMaxNesting && message.type_name() == kDatasetName) {
      HR_RETURN_IF_ERROR(
          ElementsFromMessage(message, nesting, &out->data<Variant>()[i]));
      continue;
    }
    if (message.type_name() != kTensorName || message.tensors_size() != 1 ||
        nesting == kMaxNesting) {
      return Damaged("a variant in it");
    }
    Tensor inner;
    HR_RETURN_IF_ERROR(FromMessage(message.tensors(0), nesting + 1, &inner));
    out->data<Variant>()[i] = Variant::Of(std::move(inner), kTensorName);
  }
  return OkStatus();
}

}  // namespace

Status IteratorState::Decode(const Tensor& saved,
                             std::unique_ptr<IteratorState>* out) {
  const SavedVariant* message = nullptr;
  if (saved.dtype() == DT_VARIANT && saved.NumElements() == 1) {
    message = saved.data<Variant>()->Get<SavedVariant>();
  }
  if (message == nullptr) {
    return errors::InvalidArgument(
        "serialized must hold the saved place of an iterator, got a ",
        DataTypeString(saved.dtype()), " tensor of shape ",
        saved.shape().DebugString());
  }
  const pb::VariantTensorDataProto& proto = **message;
  auto state = std::make_unique<IteratorState>();
  state->restoring_ = true;
  int next = 0;
  bool first = true;
  for (absl::string_view line :
       absl::StrSplit(ToAbsl(proto.metadata()), '\n', absl::SkipEmpty())) {
    if (std::exchange(first, false)) {
      if (line == kFirstLine) continue;
      return errors::InvalidArgument(
          "the saved place of an iterator is of another program or version: "
          "wanted '",
          kFirstLine, "'");
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int n = 0;
    if (!absl::SimpleAtoi(parts.first, &n) || n < 0 ||
        n > proto.tensors_size() - next || parts.second.empty()) {
      return Damaged("a line of its names");
    }
    Entry entry;
    for (; n > 0; --n) {
      entry.tensors.emplace_back();
      HR_RETURN_IF_ERROR(
          FromMessage(proto.tensors(next++), 0, &entry.tensors.back()));
    }
    state->entries_[std::string(parts.second)] = std::move(entry);
  }
  if (first || next != proto.tensors_size()) {
    return Damaged("its names do not fit its tensors");
  }
  *out = std::move(state);
  return OkStatus();
}

Status IteratorState::Encode(Tensor* out) const {
  auto proto = std::make_shared<pb::VariantTensorDataProto>();
  proto->set_type_name(kIteratorStateName);
  std::string names = StrCat(kFirstLine, "\n");
  for (const auto& [name, entry] : entries_) {
    absl::StrAppend(&names, entry.tensors.size(), " ", name, "\n");
    for (const Tensor& t : entry.tensors) {
      HR_RETURN_IF_ERROR(ToMessage(t, 0, proto->add_tensors()));
    }
  }
  proto->set_metadata(std::move(names));
  constexpr size_t kMaxBytes = size_t{1} << 31;
  if (proto->ByteSizeLong() >= kMaxBytes) {
    return errors::ResourceExhausted(
        "the place of the iterator takes ", proto->ByteSizeLong(),
        " bytes, with the elements that it holds; less than ", kMaxBytes,
        " can be saved");
  }
  *out = Tensor(DT_VARIANT, TensorShape());
  out->scalar<Variant>() =
      Variant::Of<SavedVariant>(std::move(proto), kIteratorStateName);
  return OkStatus();
}

Status IteratorState::Wrong(absl::string_view name,
                            absl::string_view why) const {
  return errors::InvalidArgument("the saved place of the iterator: '",
                                 Key(name), "' ", why);
}

Status IteratorState::Put(absl::string_view name, TensorTuple tensors) {
  Entry entry;
  entry.tensors = std::move(tensors);
  if (entries_.emplace(Key(name), std::move(entry)).second) return OkStatus();
  return errors::Internal("the place of the iterator has two '", Key(name),
                          "'");
}

Status IteratorState::Find(absl::string_view name, const TensorTuple** out) {
  const auto it = entries_.find(Key(name));
  if (it == entries_.end()) {
    return errors::NotFound("the saved place of the iterator has no '",
                            Key(name),
                            "': it is damaged, or of another dataset");
  }
  it->second.restored = true;
  *out = &it->second.tensors;
  return OkStatus();
}

Status IteratorState::FindVector(absl::string_view name, DataType dtype,
                                 const Tensor** out) {
  const TensorTuple* tensors = nullptr;
  HR_RETURN_IF_ERROR(Find(name, &tensors));
  if (tensors->size() != 1 || (*tensors)[0].dtype() != dtype ||
      (*tensors)[0].dims() != 1) {
    return Wrong(name, StrCat("is not a vector of ", DataTypeString(dtype)));
  }
  *out = &(*tensors)[0];
  return OkStatus();
}

Status IteratorState::Int(absl::string_view name, int64_t* v, int64_t min,
                          int64_t max) {
  if (!restoring_) return Put(name, {Tensor::Vector<int64_t>({*v})});
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(FindVector(name, DT_INT64, &t));
  const int64_t n = t->NumElements() == 1 ? t->data<int64_t>()[0] : 0;
  if (t->NumElements() != 1 || n < min || n > max) {
    return Wrong(name, StrCat("is ", t->DebugString(),
                              ", wanted a number from ", min, " to ", max));
  }
  *v = n;
  return OkStatus();
}

Status IteratorState::Index(absl::string_view name, size_t* v, size_t max) {
  int64_t n = static_cast<int64_t>(*v);
  HR_RETURN_IF_ERROR(Int(name, &n, 0, static_cast<int64_t>(max)));
  *v = static_cast<size_t>(n);
  return OkStatus();
}

Status IteratorState::Bool(absl::string_view name, bool* v) {
  int64_t n = *v ? 1 : 0;
  HR_RETURN_IF_ERROR(Int(name, &n, 0, 1));
  *v = n == 1;
  return OkStatus();
}

Status IteratorState::PlaceInFiles(absl::string_view kind, size_t files,
                                   size_t* at, bool* open, uint64_t* offset) {
  const std::string file = StrCat(kind, ":file");
  HR_RETURN_IF_ERROR(Index(file, at, files));
  HR_RETURN_IF_ERROR(Bool(StrCat(kind, ":open"), open));
  if (!*open) return OkStatus();
  if (*at == files) return Wrong(file, "is past the last file");
  int64_t byte = static_cast<int64_t>(*offset);
  HR_RETURN_IF_ERROR(Int(StrCat(kind, ":offset"), &byte));
  *offset = static_cast<uint64_t>(byte);
  return OkStatus();
}

Status IteratorState::Text(absl::string_view name, std::string* v) {
  std::vector<std::string> texts = {*v};
  HR_RETURN_IF_ERROR(Texts(name, &texts));
  if (texts.size() != 1) return Wrong(name, "is not one string");
  *v = std::move(texts[0]);
  return OkStatus();
}

Status IteratorState::Texts(absl::string_view name,
                            std::vector<std::string>* v) {
  if (!restoring_) {
    Tensor t(DT_STRING, TensorShape({static_cast<int64_t>(v->size())}));
    for (size_t i = 0; i < v->size(); ++i) t.data<tstring>()[i] = (*v)[i];
    return Put(name, {std::move(t)});
  }
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(FindVector(name, DT_STRING, &t));
  v->clear();
  for (const tstring& s : t->span<tstring>()) v->emplace_back(s);
  return OkStatus();
}

Status IteratorState::Words(absl::string_view name, PhiloxWords* v) {
  if (!restoring_) {
    const PhiloxWords::State s = v->state();
    return Put(name,
               {Tensor::Vector<int64_t>(
                   {static_cast<int64_t>(s.key), static_cast<int64_t>(s.low),
                    static_cast<int64_t>(s.high), s.used})});
  }
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(FindVector(name, DT_INT64, &t));
  const int64_t* const n = t->data<int64_t>();
  if (t->NumElements() != 4 || n[3] < 0 || n[3] > 4) {
    return Wrong(name, "is not the place of a random stream");
  }
  *v = PhiloxWords({static_cast<uint64_t>(n[0]), static_cast<uint64_t>(n[1]),
                    static_cast<uint64_t>(n[2]), static_cast<int>(n[3])});
  return OkStatus();
}

Status IteratorState::StatusValue(absl::string_view name, Status* v) {
  constexpr int kMaxCode = 16;
  int64_t code = static_cast<int64_t>(v->code());
  std::string message(v->message());
  HR_RETURN_IF_ERROR(Int(StrCat(name, "_code"), &code, 0, kMaxCode));
  HR_RETURN_IF_ERROR(Text(StrCat(name, "_message"), &message));
  if (restoring_) *v = Status(static_cast<absl::StatusCode>(code), message);
  return OkStatus();
}

Status IteratorState::Element(absl::string_view name, const ElementSpec* spec,
                              TensorTuple* v) {
  if (!restoring_) return Put(name, *v);
  const TensorTuple* tensors = nullptr;
  HR_RETURN_IF_ERROR(Find(name, &tensors));
  if (spec != nullptr) {
    HR_RETURN_IF_ERROR(spec->CheckElement(
        *tensors,
        StrCat("the saved place of the iterator: '", Key(name), "'")));
  }
  *v = *tensors;
  return OkStatus();
}

Status IteratorState::Input(absl::string_view name, const IteratorContext& ctx,
                            const Dataset& dataset,
                            std::unique_ptr<DatasetIterator>* input) {
  if (*input == nullptr) HR_RETURN_IF_ERROR(dataset.NewIterator(ctx, input));
  return Inside(name, ctx, input->get());
}

Status IteratorState::InputOrNull(absl::string_view name,
                                  const IteratorContext& ctx,
                                  const Dataset& dataset,
                                  std::unique_ptr<DatasetIterator>* input) {
  bool is_there = *input != nullptr;
  HR_RETURN_IF_ERROR(Bool(StrCat(name, ":has_input"), &is_there));
  if (is_there) return Input(name, ctx, dataset, input);
  *input = nullptr;
  return OkStatus();
}

Status IteratorState::Inside(absl::string_view name, const IteratorContext& ctx,
                             DatasetIterator* iterator) {
  const size_t length = prefix_.size();
  absl::StrAppend(&prefix_, name, "::");
  const Status s = iterator->SaveOrRestore(ctx, this);
  prefix_.resize(length);
  return s;
}

void IteratorState::Drop(absl::string_view name) {
  const std::string key = Key(name);
  for (auto it = entries_.lower_bound(key);
       it != entries_.end() && absl::StartsWith(it->first, key); ++it) {
    it->second.restored = true;
  }
}

Status IteratorState::CheckAllRestored() const {
  for (const auto& [name, entry] : entries_) {
    if (!entry.restored) {
      return errors::InvalidArgument(
          "the saved place of the iterator is of another dataset: it has '",
          name, "', which the dataset has no use for");
    }
  }
  return OkStatus();
}

}  // namespace headrace
