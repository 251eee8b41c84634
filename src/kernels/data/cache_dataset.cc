// CacheDataset: the input is iterated once; later iterations take the elements
// from memory, or from a file that outlives the process. Only an iteration that
// reached the end fills the cache.
//
// The file is a tensor bundle as TensorFlow's: key "%7d_%d" for each element
// and component. When the place of an iteration that fills it is saved, what
// was written so far becomes a file of its own, PREFIX_<number>; the end of the
// iteration merges them.
#include <algorithm>
#include <memory>
#include <utility>

#include "io/tensor_bundle.h"
#include "kernels/data/element_buffer.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/owned_handle.h"

namespace headrace {
namespace {

// Thread-safe.
class MemoryCache : public ResourceBase {
 public:
  using Elements = std::shared_ptr<const std::vector<TensorTuple>>;

  std::string DebugString() const override { return "MemoryCache"; }
  // Null until an iteration is complete.
  Elements Get() {
    MutexLock lock(&mu_);
    return elements_;
  }
  // The first one counts.
  void Complete(Elements elements) {
    MutexLock lock(&mu_);
    if (elements_ == nullptr) elements_ = std::move(elements);
  }

 private:
  Mutex mu_;
  Elements elements_ GUARDED_BY(mu_);
};

class MemoryCacheDataset : public Dataset {
 public:
  MemoryCacheDataset(RefPtr<const Dataset> input, RefPtr<MemoryCache> cache)
      : Dataset(input->spec(), {input}), cache_(std::move(cache)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const MemoryCacheDataset> dataset)
        : dataset_(std::move(dataset)),
          cached_(dataset_->cache_->Get()),
          collected_(std::make_unique<ElementBuffer>("a cached dataset")) {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      if (cached_ != nullptr) {
        if (next_ == cached_->size()) {
          *end = true;
        } else {
          *out = (*cached_)[next_++];
        }
        return OkStatus();
      }
      if (input_ == nullptr) {
        HR_RETURN_IF_ERROR(dataset_->input().NewIterator(ctx, &input_));
      }
      const Status s = input_->GetNext(ctx, out, end);
      if (!s.ok()) {
        whole_ = false;
      } else if (*end) {
        input_ = nullptr;
        cached_ = std::make_shared<const std::vector<TensorTuple>>(
            std::move(*collected_).elements());
        next_ = cached_->size();
        if (whole_) dataset_->cache_->Complete(cached_);
        collected_ = nullptr;
      } else {
        HR_RETURN_IF_ERROR(collected_->Add(*out));
      }
      return s;
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      bool reads = cached_ != nullptr;
      // What others have completed meanwhile is as good as what was saved.
      HR_RETURN_IF_ERROR(state->Bool("MemoryCache:reads", &reads));
      HR_RETURN_IF_ERROR(state->Bool("MemoryCache:whole", &whole_));
      const ElementSpec& spec = dataset_->spec();
      std::vector<TensorTuple> elements;
      if (!state->restoring()) {
        elements = reads ? *cached_ : collected_->elements();
      }
      HR_RETURN_IF_ERROR(
          state->Elements("MemoryCache:elements", &spec, &elements));
      if (!reads) {
        if (!state->restoring() && input_ == nullptr) {
          HR_RETURN_IF_ERROR(dataset_->input().NewIterator(ctx, &input_));
        }
        if (state->restoring()) {
          cached_ = nullptr;
          collected_ = std::make_unique<ElementBuffer>("a cached dataset");
          for (TensorTuple& e : elements) {
            HR_RETURN_IF_ERROR(collected_->Add(std::move(e)));
          }
        }
        return state->InputOrNull("MemoryCache", ctx, dataset_->input(),
                                  &input_);
      }
      if (state->restoring()) {
        cached_ = std::make_shared<const std::vector<TensorTuple>>(
            std::move(elements));
        collected_ = nullptr;
        if (whole_) dataset_->cache_->Complete(cached_);
      }
      return state->Index("MemoryCache:next", &next_, cached_->size());
    }

   private:
    const RefPtr<const MemoryCacheDataset> dataset_;
    MemoryCache::Elements cached_;  // read if set
    size_t next_ = 0;
    std::unique_ptr<DatasetIterator> input_;
    std::unique_ptr<ElementBuffer> collected_;
    bool whole_ = true;  // no element failed
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(
        RefPtr<const MemoryCacheDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const RefPtr<MemoryCache> cache_;
};

class FileCacheDataset : public Dataset {
 public:
  FileCacheDataset(RefPtr<const Dataset> input, std::string prefix)
      : Dataset(input->spec(), {input}), prefix_(std::move(prefix)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

  static std::string Key(int64_t element, size_t component, size_t components) {
    const std::string number = StrCat(component);
    const std::string pad(StrCat(components - 1).size() - number.size(), ' ');
    return StrCat(absl::Dec(element, absl::kSpacePad7), "_", pad, number);
  }

  class Reader : public DatasetIterator {
   public:
    Reader(RefPtr<const FileCacheDataset> dataset,
           std::unique_ptr<BundleReader> file)
        : dataset_(std::move(dataset)), file_(std::move(file)) {}

    Status GetNext(const IteratorContext&, TensorTuple* out,
                   bool* end) override {
      const DataTypeVector& types = dataset_->spec().dtypes;
      out->clear();
      for (size_t c = 0; c < types.size(); ++c) {
        const std::string key = Key(next_, c, types.size());
        Tensor t;
        const Status s = file_->Read(key, &t);
        if (errors::IsNotFound(s) && c == 0) {
          *end = true;
          return OkStatus();
        }
        HR_RETURN_IF_ERROR(s);
        if (t.dtype() != types[c]) {
          return errors::InvalidArgument(
              "cache file ", dataset_->prefix_, ": tensor '", key, "' is ",
              DataTypeString(t.dtype()), ", wanted ", DataTypeString(types[c]));
        }
        out->push_back(std::move(t));
      }
      ++next_;
      return OkStatus();
    }
    // Of an iteration that filled the file, it goes on where that was.
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      bool ended = false, writes = false;
      HR_RETURN_IF_ERROR(state->Bool("FileCache:writes", &writes));
      HR_RETURN_IF_ERROR(state->Bool("FileCache:ended", &ended));
      if (state->restoring()) state->Drop("FileCache:parts");
      if (state->restoring()) state->Drop("FileCache::");
      return state->Int("FileCache:next", &next_);
    }

   private:
    const RefPtr<const FileCacheDataset> dataset_;
    const std::unique_ptr<BundleReader> file_;
    int64_t next_ = 0;
  };

  // Passes the elements on and writes them. The file has its name only when
  // all of them are in it.
  class Writer : public DatasetIterator {
   public:
    Writer(RefPtr<const FileCacheDataset> dataset,
           std::unique_ptr<DatasetIterator> input)
        : dataset_(std::move(dataset)), input_(std::move(input)) {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      if (input_ == nullptr) {
        *end = true;
        return OkStatus();
      }
      if (file_ == nullptr && whole_) {
        HR_ASSIGN_OR_RETURN(file_,
                            BundleWriter::Open(Env::Default(), Part(parts_)));
      }
      const Status s = input_->GetNext(ctx, out, end);
      if (!s.ok()) {
        file_ = nullptr;
        whole_ = false;
        ++next_;
        return s;
      }
      if (*end) {
        input_ = nullptr;
        return Finish();
      }
      for (size_t c = 0; c < out->size() && whole_; ++c) {
        HR_RETURN_IF_ERROR(file_->Add(Key(next_, c, out->size()), (*out)[c]));
      }
      ++next_;
      in_part_ += whole_ ? 1 : 0;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      bool ended = input_ == nullptr, writes = true;
      HR_RETURN_IF_ERROR(state->Bool("FileCache:writes", &writes));
      HR_RETURN_IF_ERROR(state->Bool("FileCache:ended", &ended));
      if (!writes) {  // restored from one that read the file
        return errors::NotFound("the saved place of the iterator: cache file ",
                                BundleIndexPath(dataset_->prefix_),
                                " was complete, and is gone");
      }
      if (ended) {
        input_ = nullptr;
        return state->Int("FileCache:next", &next_);
      }
      if (!state->restoring() && in_part_ > 0) {
        HR_RETURN_IF_ERROR(file_->Finish());
        file_ = nullptr;
        in_part_ = 0;
        ++parts_;
      }
      int64_t parts = whole_ ? parts_ : -1;
      HR_RETURN_IF_ERROR(state->Int("FileCache:parts", &parts, -1));
      whole_ = parts >= 0;
      parts_ = std::max<int64_t>(parts, 0);
      HR_RETURN_IF_ERROR(state->Int("FileCache:next", &next_));
      for (int64_t p = 0; p < parts_ && state->restoring(); ++p) {
        HR_RETURN_IF_ERROR(
            BundleReader::Open(Env::Default(), Part(p)).status());
      }
      return state->Input("FileCache", ctx, dataset_->input(), &input_);
    }

   private:
    std::string Part(int64_t part) const {
      return StrCat(dataset_->prefix_, "_", part);
    }
    Status Finish() {
      if (!whole_) return OkStatus();
      HR_RETURN_IF_ERROR(file_->Finish());
      std::vector<std::string> parts;
      for (int64_t p = 0; p <= parts_; ++p) parts.push_back(Part(p));
      return MergeBundles(Env::Default(), parts, dataset_->prefix_, false);
    }

    const RefPtr<const FileCacheDataset> dataset_;
    std::unique_ptr<DatasetIterator> input_;
    std::unique_ptr<BundleWriter> file_;  // of the part that is written
    int64_t next_ = 0;
    int64_t in_part_ = 0;  // elements
    int64_t parts_ = 0;    // that are complete
    bool whole_ = true;    // no element failed
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    auto self = RefPtr<const FileCacheDataset>::NewRef(this);
    if (Env::Default()->FileExists(BundleIndexPath(prefix_)).ok()) {
      HR_ASSIGN_OR_RETURN(std::unique_ptr<BundleReader> file,
                          BundleReader::Open(Env::Default(), prefix_));
      *out = std::make_unique<Reader>(std::move(self), std::move(file));
      return OkStatus();
    }
    std::unique_ptr<DatasetIterator> input_iterator;
    HR_RETURN_IF_ERROR(input().NewIterator(ctx, &input_iterator));
    *out = std::make_unique<Writer>(std::move(self), std::move(input_iterator));
    return OkStatus();
  }

 private:
  const std::string prefix_;
};

class CacheDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    tstring filename;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "filename", &filename));
    if (!filename.empty()) {
      *out = MakeRef<FileCacheDataset>(std::move(input), std::string(filename));
      return OkStatus();
    }
    RefPtr<MemoryCache> cache;
    const Tensor* handle = nullptr;
    if (ctx->input("cache", &handle).ok() && handle->NumElements() == 1 &&
        !IsDummyHandle(*handle->data<ResourceHandle>())) {
      HR_RETURN_IF_ERROR(LookupResource<MemoryCache>(
          ctx->resource_manager(), *handle->data<ResourceHandle>(), &cache));
    }
    if (cache == nullptr) cache = MakeRef<MemoryCache>();
    *out = MakeRef<MemoryCacheDataset>(std::move(input), std::move(cache));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("CacheDataset").Device(DEVICE_CPU),
                        CacheDatasetOp);
REGISTER_KERNEL_BUILDER(Name("CacheDatasetV2").Device(DEVICE_CPU),
                        CacheDatasetOp);

class AnonymousMemoryCacheOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SetHandleOutputs(
        ctx, OwnedHandle(*ctx, "AnonymousMemoryCache", MakeRef<MemoryCache>()));
  }
};
REGISTER_KERNEL_BUILDER(Name("AnonymousMemoryCache").Device(DEVICE_CPU),
                        AnonymousMemoryCacheOp);
REGISTER_KERNEL_BUILDER(Name("DeleteMemoryCache").Device(DEVICE_CPU),
                        DropHandleOp);

}  // namespace
}  // namespace headrace
