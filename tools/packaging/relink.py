"""Links the libraries and programs of a release build once more, for other machines than the one that built them.

Abseil, protobuf and the codecs are linked in from archives, and so are libstdc++ and libgcc. All objects of the build
are reused. In copies of them the namespaces of Abseil and protobuf are replaced by names of the same length, so that
libheadrace.so can share its one copy with our other libraries and with programs in C++, while no symbol can meet that
of another Abseil or protobuf in the process.
"""
import pathlib
import re
import subprocess

# As mangled names contain them. Debian's Abseil has the inline namespace debian3.
# support.c says what hr_err is.
# The release build has its protobuf renamed already (cmake/HeadracePrivateProtobuf.cmake); the archives have not.
RENAMED = {b"7debian3": b"7hdrace1", b"6google8protobuf": b"6hNogle8protobuf", b"google_2fprotobuf": b"hNogle_2fprotobuf"}
RENAMED_IN_ARCHIVES = {b"\0stderr\0": b"\0hr_err\0"}
ABSL_NAMESPACE, PROTOBUF_NAMESPACE = "hdrace1", "hNogle"

# What every machine has: the parts of glibc.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}


def output(*command, cwd=None):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=cwd).stdout


def renamed(data, names):
    for old, new in names.items():
        assert len(old) == len(new)
        data = data.replace(old, new)
    return data


def copy_renamed(source, target):
    """Copies an object or archive, unless the copy is newer. Names of one length leave all offsets as they are."""
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        names = {**RENAMED, **RENAMED_IN_ARCHIVES} if source.parts[1] == "usr" else RENAMED
        target.write_bytes(renamed(source.read_bytes(), names))
    return target


def shared_names(objects):
    """The mangled names in the namespaces that our libraries share, of what `objects` use of them."""
    names = set()
    for line in output("nm", "--undefined-only", *map(str, objects)).splitlines():
        name = line.split()[-1] if line else ""
        if name.startswith("_Z") and any(new.decode() in name for new in RENAMED.values()):
            names.add(name)
    return sorted(names)


def export_map(text, names):
    """cmake/headrace.map, with `names`."""
    assert 'extern "C++" {' in text
    return text.replace('extern "C++" {', "\n".join(f"{name};" for name in names) + '\nextern "C++" {', 1)


class Linker:
    """Links what `build` has made into `out`/lib and `out`/bin, with the archives of `archives`. Copies of its objects are in
    the folder `objects` beside `out`."""

    def __init__(self, build, archives, out, objects="objects"):
        self.build, self.out, self.work = build, out, out.parent / objects
        for folder in (out / "lib", out / "bin", self.work):
            folder.mkdir(parents=True, exist_ok=True)
        self.archives = [copy_renamed(path, self.work / "archives" / path.name) for path in archives]
        for name in ("support", "start"):
            source = pathlib.Path(__file__).with_name(f"{name}.c")
            subprocess.run(["cc", "-O2", "-fPIC", "-ffunction-sections", "-c", str(source), "-o", str(self.work / f"{name}.o")], check=True)

    def words(self, target):
        line = output("ninja", "-C", str(self.build), "-t", "commands", target).splitlines()[-1]
        return re.sub(r".*?/(c|g)(\+\+|cc|c) ", "", line, count=1).split(" && ")[0].split()

    def objects(self, words):
        return [copy_renamed(self.build / word, self.work / word) for word in words
                if word.endswith(".o") and not word.endswith("relr/use.c.o")]

    def link(self, target, library, stand_ins=()):
        """Links `target`, a path in the build folder. `library` says whether it is libheadrace.so itself, `stand_ins`
        are for the parts of glibc."""
        words = self.words(target)
        objects = self.objects(words)
        command = []
        skip = False
        for word in words:
            word = word.replace("\\$", "$").replace('"', "")
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif word.endswith(".o") or word == "-Wl,--pack-dyn-relocs=relr" or word.startswith("lib/libhr_proto."):
                pass
            elif word.startswith("-Wl,--version-script=") and library:
                script = self.work / "headrace.map"
                script.write_text(export_map(pathlib.Path(word.split("=", 1)[1]).read_text(), shared_names(self.all_objects())))
                command.append(f"-Wl,--version-script={script}")
            elif word.startswith("lib/lib") and ".so" in word:
                command.append(str(self.out / word))
            elif word.endswith(".a") and not word.startswith("/"):
                command.append(copy_renamed(self.build / word, self.work / word))
            elif ".so" in word and word.startswith("/") or word in ("-ldl", "-latomic"):
                pass
            else:
                command.append(word)
        return self.finish(self.out / target, objects + command, library, stand_ins)

    def all_objects(self):
        """Of all targets so far, and our own archives."""
        return sorted(path for path in self.work.rglob("*.[oa]") if "CMakeFiles" in path.parts)

    def finish(self, made, words, library, stand_ins):
        # What of Abseil libheadrace.so does not need itself, and so does not have, others take from the archives.
        # A library in C uses none: what is found there would be for the libraries that it needs.
        in_c = all(str(word).endswith(".c.o") for word in words if str(word).endswith(".o"))
        archives = [path for path in self.archives if library or "absl" in path.name and not in_c]
        command = ["c++", "-fPIC", *map(str, words), str(self.work / "support.o"), "-o", str(made), "-Wl,--gc-sections", "-Wl,--as-needed",
                   "-Wl,--start-group", *map(str, archives)]
        if stand_ins and made.parent.name == "bin":
            command += [str(self.work / "start.o"), "-Wl,--wrap=__libc_start_main"]
        if stand_ins:
            command += ["-nodefaultlibs", "-l:libstdc++.a", "-l:libgcc.a", "-l:libgcc_eh.a", "-l:libc_nonshared.a", *map(str, stand_ins), "-Wl,--end-group"]
        else:
            command += ["-Wl,--end-group", "-static-libstdc++", "-static-libgcc"]
        subprocess.run(command, check=True, cwd=self.build)
        return made
