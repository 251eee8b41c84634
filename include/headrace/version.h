// The library's own version, and the TensorFlow version it behaves as.
#ifndef HEADRACE_VERSION_H_
#define HEADRACE_VERSION_H_

namespace headrace {

// "major.minor.patch", as in CMakeLists.txt; constant storage.
const char* Version();

// The TensorFlow release whose semantics and graph versions hold here.
inline constexpr char kTensorFlowVersion[] = "1.15.5";

// GraphDef versions (VersionDef): written, oldest read, and oldest reader of
// the graphs that are written.
inline constexpr int kGraphDefProducer = 134;
inline constexpr int kGraphDefMinProducer = 0;
inline constexpr int kGraphDefMinConsumer = 0;

}  // namespace headrace

#endif  // HEADRACE_VERSION_H_
