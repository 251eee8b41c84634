// Saver: writes the variables of a session to checkpoints, and reads them; the
// files are those of tf.train.Saver.
//
// Thread-compatible.
#ifndef HEADRACE_CC_SAVER_H_
#define HEADRACE_CC_SAVER_H_

#include <map>
#include <string>
#include <vector>

#include "headrace/cc/client_session.h"
#include "headrace/cc/variable.h"
#include "headrace/meta_graph.pb.h"

namespace headrace {

class Saver {
 public:
  struct Options {
    // How many checkpoints stay; 0: all.
    int max_to_keep = 5;
    // Writes the graph beside each checkpoint (PATH.meta).
    bool write_meta_graph = true;
    // The variables of each device are written to a file of their own, at the
    // same time.
    bool sharded = false;
  };

  // Adds nodes that save and restore `variables`; if empty, all variables made
  // so far. Errors are the scope's: InvalidArgument if there are none.
  explicit Saver(const Scope& scope, std::vector<Variable> variables = {});
  Saver(const Scope& scope, std::vector<Variable> variables, Options options);

  // Writes a checkpoint and returns its path: `prefix`, with "-STEP" if `step`
  // is not negative. Then the file "checkpoint" of that folder names it, and
  // old checkpoints are deleted. A file appears under its name when it is
  // complete; so after a crash the folder has the checkpoints that it had.
  // FailedPrecondition if a variable has no value.
  StatusOr<std::string> Save(const ClientSession& session,
                             const std::string& prefix, int64_t step = -1);
  // Gives the variables the values of a checkpoint. What the checkpoint lacks
  // (NotFound) or has of another type or shape (InvalidArgument) is found
  // before anything is changed, and the message lists it.
  Status Restore(const ClientSession& session, const std::string& path) const;

  // The names of the nodes.
  const pb::SaverDef& saver_def() const { return saver_def_; }
  // The graph with its variables, `saver_def` and no signature.
  Status ToMetaGraph(pb::MetaGraphDef* meta_graph) const;

 private:
  // Adds the nodes that save, or restore, these variables.
  Operation SaveNode(const Scope& scope, const Output& path,
                     const std::vector<Variable>& variables) const;
  Output SaveShards(const Scope& scope) const;
  std::vector<Operation> RestoreNodes(
      const Scope& scope, const std::vector<Variable>& variables) const;
  Status WriteState(const std::string& path);
  Status CheckFits(const std::string& path) const;

  const Scope scope_;
  const Options options_;
  std::vector<Variable> variables_;
  std::map<std::string, std::vector<Variable>> shards_;  // by device
  pb::SaverDef saver_def_;
  Output filename_, saved_;
  Operation restored_;
  std::vector<std::string> kept_;  // paths, the oldest first
};

// The newest checkpoint that the file "checkpoint" of a folder names. NotFound
// if there is none; DataLoss if the file cannot be read.
StatusOr<std::string> LatestCheckpoint(const std::string& folder);

}  // namespace headrace

#endif  // HEADRACE_CC_SAVER_H_
