// Writes the C++ classes of all ops of the registry:
//
//   cc_ops FOLDER SRC_OPS ROOM...
//
// For each ROOM, FOLDER/headrace/cc/ROOM_ops.h declares the ops that
// SRC_OPS/ROOM/*.cc registers, and FOLDER/cc/ROOM_ops.cc defines them. The last
// ROOM gets the ops that no source names. FOLDER/headrace/cc/standard_ops.h
// includes all. A file that would not change stays as it is.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "headrace/op.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

// An identifier for the name of an argument or attr.
std::string Identifier(std::string name) {
  static const std::set<std::string>* const taken = new std::set<std::string>{
      "and",      "attrs",  "auto",    "bool",   "break",    "case",
      "char",     "class",  "const",   "default", "delete",  "do",
      "double",   "else",   "enum",    "export", "extern",   "false",
      "float",    "for",    "friend",  "goto",   "if",       "inline",
      "int",      "long",   "mutable", "new",    "not",      "operation",
      "operator", "or",     "private", "public", "register", "return",
      "scope",    "short",  "signed",  "sizeof", "static",   "struct",
      "switch",   "template", "this",  "true",   "try",      "typename",
      "union",    "unsigned", "using", "virtual", "void",    "while"};
  return taken->contains(name) ? name + "_" : name;
}

// "use_locking" -> "UseLocking".
std::string CamelCase(const std::string& name) {
  std::string camel;
  bool up = true;
  for (const char c : name) {
    if (c == '_') {
      up = true;
      continue;
    }
    camel += up ? static_cast<char>(std::toupper(c)) : c;
    up = false;
  }
  return camel;
}

const char* CppType(AttrType t) {
  switch (t) {
    case AttrType::kString:
      return "absl::string_view";
    case AttrType::kInt:
      return "int64_t";
    case AttrType::kFloat:
      return "float";
    case AttrType::kBool:
      return "bool";
    case AttrType::kType:
      return "DataType";
    case AttrType::kShape:
      return "const PartialTensorShape&";
    case AttrType::kTensor:
      return "const Tensor&";
    case AttrType::kFunc:
      return "const NameAttrList&";
    case AttrType::kListString:
      return "const std::vector<std::string>&";
    case AttrType::kListInt:
      return "const std::vector<int64_t>&";
    case AttrType::kListFloat:
      return "const std::vector<float>&";
    case AttrType::kListBool:
      return "const std::vector<bool>&";
    case AttrType::kListType:
      return "const std::vector<DataType>&";
    case AttrType::kListShape:
      return "const std::vector<PartialTensorShape>&";
    case AttrType::kListTensor:
      return "const std::vector<Tensor>&";
    case AttrType::kListFunc:
      return "const std::vector<NameAttrList>&";
  }
  return "";
}

bool IsList(const OpDef::Arg& arg) {
  return arg.number_attr >= 0 || arg.type_list_attr >= 0;
}

// "N * Ref(T)".
std::string TypeOf(const OpDef& def, const OpDef::Arg& arg) {
  std::string type = arg.type_list_attr >= 0
                         ? def.attrs[arg.type_list_attr].name
                     : arg.type_attr >= 0 ? def.attrs[arg.type_attr].name
                                          : DataTypeString(arg.type);
  if (arg.is_ref) type = "Ref(" + type + ")";
  if (arg.number_attr >= 0) {
    type = def.attrs[arg.number_attr].name + " * " + type;
  }
  return type;
}

std::string Arguments(const OpDef& def, const std::vector<OpDef::Arg>& args) {
  std::vector<std::string> texts;
  for (const OpDef::Arg& arg : args) {
    texts.push_back(arg.name + ": " + TypeOf(def, arg));
  }
  return absl::StrJoin(texts, ", ");
}

// The text in lines of comments.
std::string Comment(const std::string& text, const char* indent) {
  std::string out = "//", line = "//";
  std::istringstream words(text);
  std::string word;
  out.clear();
  const size_t width = 79;
  bool first = true;
  line = std::string("//") + (*indent ? indent : "");
  while (words >> word) {
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = std::string("//") + indent + "   ";
    }
    line += " " + word;
    first = false;
  }
  return out + line + "\n";
}

std::string Describe(const OpDef& def) {
  std::string doc = Comment(
      def.name + "(" + Arguments(def, def.inputs) + ")" +
          (def.outputs.empty() ? ""
                               : " -> " + Arguments(def, def.outputs)),
      "");
  for (const OpDef::Attr& attr : def.attrs) {
    std::string line = attr.name + ": " + AttrTypeName(attr.type);
    if (!attr.allowed_types.empty()) {
      std::vector<std::string> names;
      for (const DataType t : attr.allowed_types) {
        names.push_back(DataTypeString(t));
      }
      line += " of " + absl::StrJoin(names, ", ");
    }
    if (!attr.allowed_strings.empty()) {
      line += " of \"" + absl::StrJoin(attr.allowed_strings, "\", \"") + "\"";
    }
    if (attr.has_minimum) line += " >= " + std::to_string(attr.minimum);
    if (attr.default_value) line += " = " + attr.default_value->DebugString();
    doc += Comment(line, "  ");
  }
  if (def.deprecated_at > 0) {
    doc += Comment("Deprecated: " + def.deprecation, "");
  }
  return doc;
}

class Wrapper {
 public:
  explicit Wrapper(const OpDef& def) : def_(def) {
    std::set<int> inferred;
    for (const OpDef::Arg& arg : def.inputs) {
      inferred.insert(
          {arg.type_attr, arg.number_attr, arg.type_list_attr});
    }
    for (size_t i = 0; i < def.attrs.size(); ++i) {
      if (inferred.contains(static_cast<int>(i))) continue;
      (def.attrs[i].default_value ? optional_ : required_).push_back(&def.attrs[i]);
    }
    if (def.outputs.empty()) base_ = "Operation";
    if (def.outputs.size() == 1 && !IsList(def.outputs[0])) base_ = "Output";
  }

  std::string Declaration() const {
    std::string out = Describe(def_) + "class " + def_.name;
    if (!base_.empty()) out += " : public " + base_;
    out += " {\n public:\n";
    if (!optional_.empty()) {
      out += "  struct Attrs : AttrList {\n";
      for (const OpDef::Attr* attr : optional_) {
        out += "    Attrs& " + Setter(*attr) + "(" + CppType(attr->type) +
               " v) { SetAttr(\"" + attr->name + "\", v); return *this; }\n";
      }
      out += "  };\n";
      for (const OpDef::Attr* attr : optional_) {
        out += "  static Attrs " + Setter(*attr) + "(" + CppType(attr->type) +
               " v) { return Attrs()." + Setter(*attr) + "(v); }\n";
      }
    }
    const bool one =
        def_.inputs.empty() && required_.empty() && optional_.empty();
    out += std::string("  ") + (one ? "explicit " : "") + def_.name + "(" +
           Parameters(true) + ");\n";
    if (base_.empty()) {
      out += "\n  Operation operation;\n";
      for (const OpDef::Arg& arg : def_.outputs) {
        out += std::string("  ") + (IsList(arg) ? "OutputList " : "Output ") +
               Identifier(arg.name) + ";\n";
      }
      if (def_.outputs.size() == 1) {
        const std::string name = Identifier(def_.outputs[0].name);
        out += "  // Empty after an error.\n  Output operator[](size_t i) const "
               "{ return i < " +
               name + ".size() ? " + name +
               "[i] : Output(); }\n  operator const OutputList&() const { "
               "return " +
               name + "; }  // NOLINT\n";
      }
    }
    return out + "};\n";
  }

  std::string Definition() const {
    std::string call = "OpCall(scope, \"" + def_.name + "\")";
    for (const OpDef::Arg& arg : def_.inputs) {
      call += ".Add(" + Identifier(arg.name) + ")";
    }
    for (const OpDef::Attr* attr : required_) {
      call += ".Set(\"" + attr->name + "\", " + Identifier(attr->name) + ")";
    }
    if (!optional_.empty()) call += ".Set(attrs)";
    std::string out =
        def_.name + "::" + def_.name + "(" + Parameters(false) + ")";
    if (base_ == "Output") {
      return out + "\n    : Output(" + call + ".Finish(0)) {}\n";
    }
    if (base_ == "Operation") {
      return out + "\n    : Operation(" + call + ".Finish()) {}\n";
    }
    out += " {\n  this->operation = " + call + ".Finish();\n";
    for (size_t i = 0; i < def_.outputs.size(); ++i) {
      out += "  this->" + Identifier(def_.outputs[i].name) +
             (IsList(def_.outputs[i]) ? " = OutputsOfArg" : " = OutputOfArg") +
             "(this->operation, " + std::to_string(i) + ");\n";
    }
    return out + "}\n";
  }

 private:
  std::string Setter(const OpDef::Attr& attr) const {
    const std::string name = CamelCase(attr.name);
    return name == def_.name || name == base_ || name == "Attrs" ? name + "_"
                                                                 : name;
  }
  std::string Parameters(bool defaults) const {
    std::string out = "const Scope& scope";
    for (const OpDef::Arg& arg : def_.inputs) {
      out += std::string(", const ") +
             (IsList(arg) ? "InputList& " : "Input& ") + Identifier(arg.name);
    }
    for (const OpDef::Attr* attr : required_) {
      out += std::string(", ") + CppType(attr->type) + " " +
             Identifier(attr->name);
    }
    if (!optional_.empty()) {
      out += std::string(", const Attrs& attrs") +
             (defaults ? " = Attrs()" : "");
    }
    return out;
  }

  const OpDef& def_;
  std::vector<const OpDef::Attr*> required_, optional_;
  std::string base_;  // "" if the class has members for its outputs
};

bool ReadAll(const fs::path& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  *text = all.str();
  return static_cast<bool>(file);
}

bool WriteIfChanged(const fs::path& path, const std::string& text) {
  std::string old;
  if (fs::exists(path) && ReadAll(path, &old) && old == text) return true;
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "cc_ops: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

// {identifier: room} of all identifiers in the rooms' sources, in strings and
// arguments of macros; the first room of a name counts.
std::map<std::string, std::string> RoomsOfNames(
    const fs::path& ops, const std::vector<std::string>& rooms) {
  std::map<std::string, std::string> found;
  for (const std::string& room : rooms) {
    if (!fs::is_directory(ops / room)) continue;
    for (const auto& entry : fs::directory_iterator(ops / room)) {
      std::string text;
      if (entry.path().extension() != ".cc" || !ReadAll(entry.path(), &text)) {
        continue;
      }
      for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '"' && text[i] != '(') continue;
        size_t end = i + 1;
        while (end < text.size() && (std::isalnum(text[end]) || text[end] == '_')) {
          ++end;
        }
        if (end > i + 1 && end < text.size() &&
            (text[end] == '"' || text[end] == ')' || text[end] == ',')) {
          found.emplace(text.substr(i + 1, end - i - 1), room);
        }
      }
    }
  }
  return found;
}

// The room of an op that a macro registers by a part of its name: that of the
// longest name within it.
std::string RoomOf(const std::map<std::string, std::string>& rooms,
                   const std::string& op, const std::string& other) {
  const auto at = rooms.find(op);
  if (at != rooms.end()) return at->second;
  size_t longest = 3;
  std::string room = other;
  for (const auto& [name, its] : rooms) {
    if (name.size() > longest && op.find(name) != std::string::npos) {
      longest = name.size();
      room = its;
    }
  }
  return room;
}

int Main(const fs::path& folder, const fs::path& ops,
         const std::vector<std::string>& rooms) {
  const std::map<std::string, std::string> room_of = RoomsOfNames(ops, rooms);
  std::map<std::string, std::pair<std::string, std::string>> texts;
  for (const OpDef* def : OpRegistry::Global()->All()) {
    if (def->name[0] == '_' || def->name == "Const") continue;
    auto& [header, source] = texts[RoomOf(room_of, def->name, rooms.back())];
    const Wrapper wrapper(*def);
    header += "\n" + wrapper.Declaration();
    source += "\n" + wrapper.Definition();
  }
  std::string all =
      "// All classes of ops.\n#ifndef HEADRACE_CC_STANDARD_OPS_H_\n"
      "#define HEADRACE_CC_STANDARD_OPS_H_\n\n";
  for (const std::string& room : rooms) {
    std::string guard = "HEADRACE_CC_" + room + "_OPS_H_";
    for (char& c : guard) c = static_cast<char>(std::toupper(c));
    const auto& [header, source] = texts[room];
    const std::string include = "headrace/cc/" + room + "_ops.h";
    const std::string note =
        "// Made from the registry of ops by tools/cc_ops.cc.\n";
    if (!WriteIfChanged(folder / include,
                        note + "#ifndef " + guard + "\n#define " + guard +
                            "\n\n#include <string>\n#include <vector>\n\n"
                            "#include \"headrace/cc/op_call.h\"\n\n"
                            "namespace headrace::ops {\n" +
                            header +
                            "\n}  // namespace headrace::ops\n\n#endif\n") ||
        !WriteIfChanged(folder / "cc" / (room + "_ops.cc"),
                        note + "#include \"" + include +
                            "\"\n\nnamespace headrace::ops {\n" + source +
                            "\n}  // namespace headrace::ops\n")) {
      return 1;
    }
    all += "#include \"" + include + "\"\n";
  }
  return WriteIfChanged(folder / "headrace/cc/standard_ops.h",
                        all + "\n#endif\n")
             ? 0
             : 1;
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cc_ops FOLDER SRC_OPS ROOM...\n");
    return 2;
  }
  return headrace::Main(argv[1], argv[2], {argv + 3, argv + argc});
}
