// The version of this library, and the TensorFlow version that it implements.
#ifndef HEADRACE_VERSION_H_
#define HEADRACE_VERSION_H_

namespace headrace {

// "major.minor.patch", as in CMakeLists.txt. Static storage.
const char* Version();

// The TensorFlow release whose semantics and graph versions apply.
inline constexpr char kTensorFlowVersion[] = "1.15.5";

// GraphDef versions (VersionDef): the version that we write, the oldest version
// that we read, and the oldest reader that can read our graphs.
inline constexpr int kGraphDefProducer = 134;
inline constexpr int kGraphDefMinProducer = 0;
inline constexpr int kGraphDefMinConsumer = 0;

}  // namespace headrace

#endif  // HEADRACE_VERSION_H_
