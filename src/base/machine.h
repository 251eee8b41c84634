// What a core of this machine computes and reads. Cost models derive from these
// few figures (kernels/conv/conv_impl.h), so that a processor that nobody has
// seen gets choices that fit it.
//
// The figures come from a table of known processors, or from a text file that
// `headrace doctor --calibrate` has written:
//
//   headrace machine 1
//   processor AMD EPYC 9R14
//   flops_per_ns 113.4
//   read_bytes_per_ns 11.8
//
// The file is HEADRACE_MACHINE in the environment, else
// $XDG_CACHE_HOME/headrace/machine.txt, else ~/.cache/headrace/machine.txt. It
// counts for the processor that it names alone. A damaged file is ignored with
// a warning.
#ifndef HEADRACE_BASE_MACHINE_H_
#define HEADRACE_BASE_MACHINE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/cpu.h"
#include "headrace/status.h"

namespace headrace {

// Of one core that works alone.
struct MachineFigures {
  // float32 additions and multiplications in a nanosecond, at most.
  double flops_per_ns = 0;
  // Bytes from memory, beyond all caches, in a nanosecond.
  double read_bytes_per_ns = 0;
};

// From the table: by vendor, family and instruction sets. A pure function.
MachineFigures TableFigures(const CpuFeatures& cpu);

// Of this machine: the file's if there is one for this processor, else the
// table's. Read at the first call, then constant. Thread-safe.
const MachineFigures& HostFigures();

// Measures for about half a second on the calling thread, which should have a
// core for itself.
MachineFigures MeasureFigures();

// The path of the file; "" if there is no home directory.
std::string MachineFilePath();
std::string FormatMachineFile(const CpuFeatures& cpu,
                              const MachineFigures& figures);
// InvalidArgument, naming the line, if the text is damaged; NotFound if it is
// of another processor.
Status ParseMachineFile(absl::string_view text, const CpuFeatures& cpu,
                        MachineFigures* figures);

}  // namespace headrace

#endif  // HEADRACE_BASE_MACHINE_H_
