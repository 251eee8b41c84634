"""tf.flags where absl is not installed: options of the command line, defined
where they are used.

    flags.DEFINE_integer("steps", 100, "How many steps.")
    ... FLAGS.steps ...

The command line is parsed when app.run() begins, or at the first use of a value.
"""
import difflib
import os
import shutil
import sys
import textwrap

from headrace._src.platform.flag_parsers import (
    ArgumentParser, ArgumentSerializer, BooleanParser, CantOpenFlagFileError,
    CsvListSerializer, DuplicateFlagError, EnumClassListSerializer,
    EnumClassParser, EnumClassSerializer, EnumParser, Error, FloatParser,
    FlagNameConflictsWithMethodError, IllegalFlagValueError, IntegerParser,
    ListParser, ListSerializer, UnrecognizedFlagError,
    ValidationError, WhitespaceSeparatedListParser)


class Flag:
    """A flag: its name, default, value, and how text becomes a value."""

    def __init__(self, parser, serializer, name, default, help_string,
                 short_name=None, boolean=False, allow_override=False,
                 allow_override_cpp=False, allow_hide_cpp=False,
                 allow_overwrite=True, allow_using_method_names=False):
        self.name = name
        self.help = help_string or "(no help available)"
        self.short_name = short_name
        self.boolean = boolean
        self.present = 0  # how often the command line has it
        self.parser = parser
        self.serializer = serializer
        self.allow_override = allow_override
        self.allow_override_cpp = allow_override_cpp
        self.allow_hide_cpp = allow_hide_cpp
        self.allow_overwrite = allow_overwrite
        self.allow_using_method_names = allow_using_method_names
        self.using_default_value = True
        self.validators = []
        self._set_default(default)

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = value

    def _parse(self, argument):
        try:
            return self.parser.parse(argument)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError("flag --%s=%s: %s" % (
                self.name, argument, error)) from None

    def parse(self, argument):
        """Takes the value of a text."""
        if self.present and not self.allow_overwrite:
            raise IllegalFlagValueError(
                "flag --%s=%s: already defined as %s"
                % (self.name, argument, self.value))
        self.value = self._parse(argument)
        self.present += 1

    def unparse(self):
        """Forgets the command line."""
        self.value = self.default
        self.using_default_value = True
        self.present = 0

    def _set_default(self, value):
        self.default_unparsed = value
        self.default = None if value is None else self._parse(value)
        if self.using_default_value:
            self.value = self.default

    def serialize(self):
        """The flag as it would stand on a command line."""
        if self.value is None:
            return ""
        if self.boolean:
            return "--%s%s" % ("" if self.value else "no", self.name)
        return "--%s=%s" % (self.name, self.serializer.serialize(self.value))

    def flag_type(self):
        return self.parser.flag_type()


class BooleanFlag(Flag):
    """--name, --noname, --name=true."""

    def __init__(self, name, default, help, short_name=None, **args):
        super().__init__(BooleanParser(), ArgumentSerializer(), name, default,
                         help, short_name, True, **args)


class EnumFlag(Flag):
    """One of `enum_values`."""

    def __init__(self, name, default, help, enum_values, short_name=None,
                 case_sensitive=True, **args):
        super().__init__(EnumParser(enum_values, case_sensitive),
                         ArgumentSerializer(), name, default, help, short_name,
                         **args)
        self.help = "<%s>: %s" % ("|".join(enum_values), self.help)


class EnumClassFlag(Flag):
    """A member of `enum_class`."""

    def __init__(self, name, default, help, enum_class, short_name=None,
                 case_sensitive=False, **args):
        parser = EnumClassParser(enum_class, case_sensitive)
        super().__init__(parser, EnumClassSerializer(not case_sensitive), name,
                         default, help, short_name, **args)
        self.help = "<%s>: %s" % ("|".join(parser.member_names), self.help)


class MultiFlag(Flag):
    """A flag that the command line may have many times: its value is a
    list."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.help += ";\n    repeat this option to specify a list of values"

    def _parse(self, argument):
        texts = argument if isinstance(argument, (list, tuple)) else [argument]
        return [Flag._parse(self, text) for text in texts]

    def parse(self, arguments):
        new = self._parse(arguments)
        self.value = self.value + new if self.present else new
        self.present += len(new)

    def serialize(self):
        return "\n".join("--%s=%s" % (self.name, self.serializer.serialize(v))
                         for v in self.value or ())

    def flag_type(self):
        return "multi " + self.parser.flag_type()


class MultiEnumClassFlag(MultiFlag):
    """Members of `enum_class`."""

    def __init__(self, name, default, help_string, enum_class,
                 case_sensitive=False, **args):
        parser = EnumClassParser(enum_class, case_sensitive)
        super().__init__(parser, EnumClassListSerializer(
            ",", lowercase=not case_sensitive), name, default, help_string,
            **args)


class FlagHolder:
    """What DEFINE_... returns: stands for one flag."""

    def __init__(self, flag_values, flag, ensure_non_none_value=False):
        self._flag_values = flag_values
        self._flag = flag
        self._ensure = ensure_non_none_value

    name = property(lambda self: self._flag.name)
    default = property(lambda self: self._flag.default)
    present = property(lambda self: bool(self._flag.present))

    @property
    def value(self):
        value = getattr(self._flag_values, self.name)
        if self._ensure and value is None:
            raise IllegalFlagValueError(
                "Unexpected None value for flag %s" % self.name)
        return value

    def serialize(self):
        return self._flag.serialize()


class _Validator:
    """What several flags must fulfil together."""

    def __init__(self, names, check, message):
        self.names, self.check, self.message = names, check, message

    def verify(self, flag_values):
        try:
            if self.check(flag_values):
                return
            reason = self.message
        except ValidationError as error:
            reason = str(error)
        flags = [flag_values[n] for n in self.names]
        raise IllegalFlagValueError("%s: %s" % (" ".join(
            "flag --%s=%s" % (f.name, f.value) for f in flags), reason))


class FlagValues:
    """The flags of a program; the value of each is an attribute.

    A flag has a Python value, so there are no shapes and dtypes here.
    AttributeError for a flag that is not defined, and for one that is read
    before the command line was parsed; errors of parsing are subclasses of
    flags.Error."""

    def __init__(self):
        state = self.__dict__
        state["_flags"] = {}      # by name and by short name
        state["_modules"] = {}    # name of a module: its flags
        state["_keys"] = {}       # the same, of those declared for its help
        state["_parsed"] = False
        state["_gnu"] = False

    def __setitem__(self, name, flag):
        if not isinstance(flag, Flag):
            raise IllegalFlagValueError(
                "Expect Flag instances, found type %s. Maybe you didn't mean to "
                "use FlagValue.__setitem__?" % type(flag))
        if not isinstance(name, str):
            raise Error("Flag name must be a string")
        if not name or " " in name:
            raise Error("Flag name cannot be empty or contain a space")
        if hasattr(type(self), name) and not flag.allow_using_method_names:
            raise FlagNameConflictsWithMethodError(
                "Cannot define flag named '%s'. It conflicts with the method on "
                "class FlagValues." % name)
        for n in [name] + ([flag.short_name] if flag.short_name else []):
            old = self._flags.get(n)
            if old is not None and old is not flag and not (
                    flag.allow_override or old.allow_override):
                raise DuplicateFlagError.from_flag(n, self)
            self._flags[n] = flag

    def __getitem__(self, name):
        return self._flags[name]

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._flags:
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._flags[name].value

    def __setattr__(self, name, value):
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        flag.value = value
        flag.using_default_value = False
        self._verify(flag.validators)

    def __delattr__(self, name):
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        for n in [n for n, f in self._flags.items() if f is flag]:
            del self._flags[n]

    def __contains__(self, name):
        return name in self._flags

    def __iter__(self):
        return iter(self._flags)

    def __len__(self):
        return len(self._flags)

    def __dir__(self):
        return sorted({*self._flags, *dir(type(self))})

    def _unique(self):
        return {f.name: f for f in self._flags.values()}

    # The command line.

    def __call__(self, argv, known_only=False):
        """Parses a command line whose first text is the program; returns it
        without the flags. UnrecognizedFlagError for a flag that nobody defined,
        unless `known_only`, which leaves it in; IllegalFlagValueError for a
        value that a flag cannot take."""
        if isinstance(argv, (str, bytes)):
            raise TypeError("argv should be a tuple/list of strings, not bytes "
                            "or string.")
        if not argv:
            raise ValueError("argv cannot be an empty list, and must contain "
                             "the program name as the first element.")
        for flag in self._unique().values():
            if flag.present:
                flag.unparse()
        rest = self._parse(self.read_flags_from_files(list(argv[1:]), False),
                           known_only)
        self.mark_as_parsed()
        self.validate_all_flags()
        return [argv[0]] + rest

    def _lookup(self, name, has_value):
        """(flag, value that --noNAME gives), or None."""
        if name in self._flags:
            return self._flags[name], None
        if name.startswith("no") and not has_value:
            flag = self._flags.get(name[2:])
            if flag is not None and flag.boolean:
                return flag, "false"
        return None

    def _parse(self, args, known_only):
        rest, unknown, ignored, left = [], [], set(), list(args)
        while left:
            arg = left.pop(0)
            if arg == "--":
                rest += (["--"] if known_only else []) + left
                break
            if not arg.startswith("-") or arg == "-":
                rest.append(arg)
                if not (self._gnu or known_only):
                    rest += left  # flags end at the first other argument
                    break
                continue
            name, equals, value = arg.lstrip("-").partition("=")
            found = self._lookup(name, bool(equals))
            if name == "undefok" and found is None:
                if not equals:
                    value = left.pop(0) if left else ""
                for n in value.split(","):
                    ignored |= {n, "no" + n}
                continue
            if found is None:
                if known_only:
                    rest.append(arg)
                else:
                    unknown.append((name, value))
                continue
            flag, implied = found
            if implied is not None:
                value = implied
            elif not equals:
                if flag.boolean:
                    value = "true"
                elif left:
                    value = left.pop(0)
                else:
                    raise Error("Missing value for flag %s" % arg)
            flag.parse(value)
            flag.using_default_value = False
        for name, value in unknown:
            if name not in ignored:
                names = list(self._flags) + ["no" + n for n, f in
                                             self._flags.items() if f.boolean]
                raise UnrecognizedFlagError(
                    name, value, difflib.get_close_matches(name, names, 3, 0.7))
        return rest

    def read_flags_from_files(self, argv, force_gnu=True):
        """The command line with the contents of files in place of
        --flagfile=FILE. CantOpenFlagFileError for a file that cannot be
        read."""
        del force_gnu
        return self._expand(argv, ())

    def _expand(self, argv, inside):
        out, left = [], list(argv)
        while left:
            arg = left.pop(0)
            if arg == "--":
                return out + [arg] + left
            name, equals, value = arg.lstrip("-").partition("=")
            if not arg.startswith("-") or name != "flagfile":
                out.append(arg)
                continue
            if not equals:
                if not left:
                    raise IllegalFlagValueError("--flagfile with no argument")
                value = left.pop(0)
            path = os.path.expanduser(value.strip().strip("'\""))
            if path in inside:
                continue  # a file that includes itself
            try:
                with open(path) as f:
                    lines = [line.strip() for line in f]
            except OSError as error:
                raise CantOpenFlagFileError(
                    "ERROR:: Unable to open flagfile: %s" % error) from None
            out += self._expand([s for s in lines if s and not s.startswith(
                ("#", "//"))], inside + (path,))
        return out

    def is_gnu_getopt(self):
        return self._gnu

    def set_gnu_getopt(self, gnu_getopt=True):
        """True: flags may follow other arguments."""
        self.__dict__["_gnu"] = gnu_getopt

    def is_parsed(self):
        return self._parsed

    def mark_as_parsed(self):
        self.__dict__["_parsed"] = True

    def unparse_flags(self):
        """Forgets the command line: values are read again when asked for."""
        for flag in self._unique().values():
            flag.unparse()
        self.__dict__["_parsed"] = False

    # Values and validators.

    def _verify(self, validators):
        for validator in validators:
            validator.verify(self)

    def validate_all_flags(self):
        """IllegalFlagValueError if a validator refuses a value."""
        seen = []
        for flag in self._unique().values():
            seen += [v for v in flag.validators if v not in seen]
        self._verify(seen)

    def set_default(self, name, value):
        """Gives a flag another default, which is its value too unless the
        command line had one."""
        if name not in self._flags:
            raise AttributeError(name)
        self._flags[name]._set_default(value)
        self._verify(self._flags[name].validators if self._parsed else ())

    def get_flag_value(self, name, default):
        """The value of a flag, or `default` if it is None or unknown."""
        value = getattr(self, name, default)
        return default if value is None else value

    def flag_values_dict(self):
        """{name: value}."""
        return {n: f.value for n, f in self._flags.items()}

    def append_flag_values(self, flag_values):
        """Adds the flags of another FlagValues."""
        for name, flag in flag_values._unique().items():
            self[name] = flag

    def remove_flag_values(self, flag_values):
        """Removes flags: of another FlagValues, or by their names."""
        for name in list(flag_values):
            if name in self._flags:
                delattr(self, name)

    def flags_into_string(self):
        """The flags as a flagfile has them."""
        return "".join(f.serialize() + "\n" for _, f
                       in sorted(self._unique().items())
                       if f.value is not None)

    def append_flags_into_file(self, filename):
        with open(filename, "a") as f:
            f.write(self.flags_into_string())

    # Which module has which flags.

    def register_flag_by_module(self, module_name, flag):
        self._modules.setdefault(module_name, []).append(flag)

    def register_flag_by_module_id(self, module_id, flag):
        self._modules.setdefault(module_id, []).append(flag)

    def register_key_flag_for_module(self, module_name, flag):
        flags = self._keys.setdefault(module_name, [])
        if flag not in flags:
            flags.append(flag)

    def flags_by_module_dict(self):
        return {n: f for n, f in self._modules.items() if isinstance(n, str)}

    def flags_by_module_id_dict(self):
        return {n: f for n, f in self._modules.items() if isinstance(n, int)}

    def key_flags_by_module_dict(self):
        return self._keys

    def get_flags_for_module(self, module):
        name = getattr(module, "__name__", module)
        return list(self._modules.get(name, []))

    def get_key_flags_for_module(self, module):
        name = getattr(module, "__name__", module)
        return self.get_flags_for_module(name) + [
            f for f in self._keys.get(name, [])
            if f not in self._modules.get(name, [])]

    def find_module_defining_flag(self, flagname, default=None):
        """The name of the module that defined a flag."""
        flag = self._flags.get(flagname)
        for module, flags in self._modules.items():
            if isinstance(module, str) and flag in flags:
                return module
        return default

    def find_module_id_defining_flag(self, flagname, default=None):
        flag = self._flags.get(flagname)
        for module, flags in self._modules.items():
            if isinstance(module, int) and flag in flags:
                return module
        return default

    # Help.

    def _flags_help(self, flags, prefix):
        out = []
        for flag in sorted(flags, key=lambda f: f.name):
            name = ("[no]" if flag.boolean else "") + flag.name
            short = "-%s," % flag.short_name if flag.short_name else ""
            lines = ["%s%s--%s: %s" % (prefix, short, name, flag.help)]
            if flag.default is not None:
                text = (str(flag.default).lower() if flag.boolean
                        else flag.serializer.serialize(flag.default))
                lines.append("%s  (default: %r)" % (prefix, text))
            if flag.parser.syntactic_help:
                lines.append("%s  (%s)" % (prefix, flag.parser.syntactic_help))
            out += [text_wrap(lines[0], indent=prefix + "  ",
                              firstline_indent="")] + lines[1:]
        return out

    def get_help(self, prefix="", include_special_flags=True):
        """The flags of all modules as text."""
        del include_special_flags
        out = []
        for module in sorted(self.flags_by_module_dict()):
            out += self._module_help(module, prefix)
        return "\n".join(out)

    def _module_help(self, module, prefix=""):
        flags = [f for f in self.get_key_flags_for_module(module)
                 if self._flags.get(f.name) is f]
        name = getattr(module, "__name__", module)
        if name == "__main__":
            name = sys.argv[0]
        if not flags:
            return []
        return ["%s%s:" % (prefix, name)] + self._flags_help(
            flags, prefix + "  ")

    def module_help(self, module):
        return "\n".join(self._module_help(module))

    def main_module_help(self):
        return self.module_help("__main__")

    def __str__(self):
        return self.get_help()

    def write_help_in_xml_format(self, outfile=None):
        raise NotImplementedError("help in XML is not supported; get_help() "
                                  "returns it as text")


FLAGS = FlagValues()
FLAGS.__dict__["__name__"] = "FLAGS"


# Definitions.

def _caller():
    """The name of the module that calls tf.flags."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") in (
            __name__, "headrace._src.platform.flag_parsers"):
        frame = frame.f_back
    return frame.f_globals.get("__name__", "__main__")


def DEFINE_flag(flag, flag_values=FLAGS, module_name=None, required=False):
    """Adds a Flag; a FlagHolder for it."""
    if required and flag.default is not None:
        raise ValueError("Required flag --%s cannot have a non-None default"
                         % flag.name)
    flag_values[flag.name] = flag
    flag_values.register_flag_by_module(module_name or _caller(), flag)
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag, required)


def DEFINE(parser, name, default, help, flag_values=FLAGS, serializer=None,
           module_name=None, required=False, **args):
    """A flag whose text `parser` reads."""
    return DEFINE_flag(Flag(parser, serializer or ArgumentSerializer(), name,
                            default, help, **args),
                       flag_values, module_name, required)


def DEFINE_string(name, default, help, flag_values=FLAGS, required=False,
                  **args):
    """A flag whose value is a text, or None.

    There are no shapes and dtypes here. DuplicateFlagError if `name` is taken
    in another module."""
    return DEFINE(ArgumentParser(), name, default, help, flag_values,
                  required=required, **args)


def DEFINE_boolean(name, default, help, flag_values=FLAGS, module_name=None,
                   required=False, **args):
    """A flag that is True or False: --name, --noname, --name=false.

    There are no shapes and dtypes here. DuplicateFlagError if `name` is taken
    in another module; IllegalFlagValueError for a value that is neither."""
    return DEFINE_flag(BooleanFlag(name, default, help, **args), flag_values,
                       module_name, required)


def DEFINE_bool(name, default, help, flag_values=FLAGS, module_name=None,
                required=False, **args):
    """As DEFINE_boolean: a flag that is True or False, without a shape or
    dtype. DuplicateFlagError if `name` is taken in another module;
    IllegalFlagValueError for a value that is neither."""
    return DEFINE_boolean(name, default, help, flag_values, module_name,
                          required, **args)


def DEFINE_float(name, default, help, lower_bound=None, upper_bound=None,
                 flag_values=FLAGS, required=False, **args):
    """A flag whose value is a float within bounds, or None.

    There are no shapes and dtypes here. DuplicateFlagError if `name` is taken
    in another module; IllegalFlagValueError for a value that is no number or
    out of bounds."""
    return DEFINE(FloatParser(lower_bound, upper_bound), name, default, help,
                  flag_values, required=required, **args)


def DEFINE_integer(name, default, help, lower_bound=None, upper_bound=None,
                   flag_values=FLAGS, required=False, **args):
    """A flag whose value is an int within bounds, or None.

    There are no shapes and dtypes here. DuplicateFlagError if `name` is taken
    in another module; IllegalFlagValueError for a value that is no int or out
    of bounds."""
    return DEFINE(IntegerParser(lower_bound, upper_bound), name, default, help,
                  flag_values, required=required, **args)


def DEFINE_enum(name, default, enum_values, help, flag_values=FLAGS,
                module_name=None, required=False, **args):
    """A flag whose value is one of some texts."""
    return DEFINE_flag(EnumFlag(name, default, help, enum_values, **args),
                       flag_values, module_name, required)


def DEFINE_enum_class(name, default, enum_class, help, flag_values=FLAGS,
                      module_name=None, case_sensitive=False, required=False,
                      **args):
    """A flag whose value is a member of an enum.Enum."""
    return DEFINE_flag(EnumClassFlag(name, default, help, enum_class,
                                     case_sensitive=case_sensitive, **args),
                       flag_values, module_name, required)


def DEFINE_list(name, default, help, flag_values=FLAGS, required=False,
                **args):
    """A flag whose value is a list of texts between commas."""
    return DEFINE(ListParser(), name, default, help, flag_values,
                  CsvListSerializer(","), required=required, **args)


def DEFINE_spaceseplist(name, default, help, comma_compat=False,
                        flag_values=FLAGS, required=False, **args):
    """A flag whose value is a list of texts between spaces."""
    return DEFINE(WhitespaceSeparatedListParser(comma_compat), name, default,
                  help, flag_values, ListSerializer(" "), required=required,
                  **args)


def DEFINE_multi(parser, serializer, name, default, help, flag_values=FLAGS,
                 module_name=None, required=False, **args):
    """A flag that may be given many times; its value is a list."""
    return DEFINE_flag(MultiFlag(parser, serializer, name, default, help,
                                 **args), flag_values, module_name, required)


def DEFINE_multi_string(name, default, help, flag_values=FLAGS,
                        required=False, **args):
    return DEFINE_multi(ArgumentParser(), ArgumentSerializer(), name, default,
                        help, flag_values, required=required, **args)


def DEFINE_multi_integer(name, default, help, lower_bound=None,
                         upper_bound=None, flag_values=FLAGS, required=False,
                         **args):
    return DEFINE_multi(IntegerParser(lower_bound, upper_bound),
                        ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_float(name, default, help, lower_bound=None,
                       upper_bound=None, flag_values=FLAGS, required=False,
                       **args):
    return DEFINE_multi(FloatParser(lower_bound, upper_bound),
                        ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_enum(name, default, enum_values, help, flag_values=FLAGS,
                      case_sensitive=True, required=False, **args):
    return DEFINE_multi(EnumParser(enum_values, case_sensitive),
                        ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_enum_class(name, default, enum_class, help,
                            flag_values=FLAGS, module_name=None,
                            case_sensitive=False, required=False, **args):
    return DEFINE_flag(MultiEnumClassFlag(
        name, default, help, enum_class, case_sensitive=case_sensitive,
        **args), flag_values, module_name, required)


class _Alias(Flag):
    """Another name of a flag."""

    def __init__(self, flag_values, original, name):
        self._flag_values, self._original = flag_values, original
        flag = flag_values[original]
        super().__init__(flag.parser, flag.serializer, name, None,
                         "Alias for --%s." % original, boolean=flag.boolean)

    @property
    def value(self):
        return self._flag_values[self._original].value

    @value.setter
    def value(self, value):
        self.__dict__.setdefault("_set", []).append(value)
        if len(self._set) > 1:  # the first is the default, None
            self._flag_values[self._original].value = value

    def parse(self, argument):
        flag = self._flag_values[self._original]
        flag.parse(argument)
        flag.using_default_value = False
        self.present += 1

    def unparse(self):
        self.present = 0


def DEFINE_alias(name, original_name, flag_values=FLAGS, module_name=None):
    """Another name for a flag."""
    if original_name not in flag_values:
        raise UnrecognizedFlagError(original_name)
    return DEFINE_flag(_Alias(flag_values, original_name, name), flag_values,
                       module_name)


# Validators.

def _register(flag_names, check, message, flag_values):
    validator = _Validator(list(flag_names), check, message)
    for name in flag_names:
        if name not in flag_values:
            raise AttributeError("Flag %s not defined" % name)
        flag_values[name].validators.append(validator)


def register_validator(flag_name, checker, message="Flag validation failed",
                       flag_values=FLAGS):
    """Refuses values of a flag for which checker(value) is false."""
    _register([flag_name], lambda values: checker(values[flag_name].value),
              message, flag_values)


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """register_validator as a decorator."""
    def decorate(function):
        register_validator(flag_name, function, message, flag_values)
        return function
    return decorate


def register_multi_flags_validator(flag_names, multi_flags_checker,
                                   message="Flags validation failed",
                                   flag_values=FLAGS):
    """Refuses values for which the function of {name: value} is false."""
    names = [n.name if isinstance(n, FlagHolder) else n for n in flag_names]
    _register(names, lambda values: multi_flags_checker(
        {n: values[n].value for n in names}), message, flag_values)


def multi_flags_validator(flag_names, message="Flag validation failed",
                          flag_values=FLAGS):
    """register_multi_flags_validator as a decorator."""
    def decorate(function):
        register_multi_flags_validator(flag_names, function, message,
                                       flag_values)
        return function
    return decorate


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Refuses a command line without the flag."""
    register_validator(
        flag_name, lambda value: value is not None,
        "Flag --%s must have a value other than None." % flag_name,
        flag_values)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def _exclusive(flag_names, count, required, flag_values):
    def check(values):
        n = sum(count(v) for v in values.values())
        if n == 1 or not n and not required:
            return True
        raise ValidationError(
            "%s one of (%s) must have a value other than %s." % (
                "Exactly" if required else "At most", ", ".join(flag_names),
                "False" if count is bool else "None"))
    register_multi_flags_validator(flag_names, check, flag_values=flag_values)


def mark_flags_as_mutual_exclusive(flag_names, required=False,
                                   flag_values=FLAGS):
    """At most one of the flags, or exactly one, may be given."""
    _exclusive(flag_names, lambda v: v is not None, required, flag_values)


def mark_bool_flags_as_mutual_exclusive(flag_names, required=False,
                                        flag_values=FLAGS):
    """At most one of the flags, or exactly one, may be true."""
    for name in flag_names:
        if not flag_values[name].boolean:
            raise ValidationError(
                "Flag --%s is not Boolean, which is required for flags used in "
                "mark_bool_flags_as_mutual_exclusive." % name)
    _exclusive(flag_names, bool, required, flag_values)


# The rest.

def _name_of(flag_holder):
    return getattr(flag_holder, "name", flag_holder)


def set_default(flag_holder, value):
    """Gives the flag another default."""
    flag_holder._flag_values.set_default(_name_of(flag_holder), value)


def override_value(flag_holder, value):
    """Gives the flag a value, whatever the command line says."""
    flag = flag_holder._flag
    setattr(flag_holder._flag_values, flag.name, flag._parse(value))


def declare_key_flag(flag_name, flag_values=FLAGS):
    """Shows a flag of another module in the help of this one."""
    flag_values.register_key_flag_for_module(_caller(), flag_values[flag_name])


def adopt_module_key_flags(module, flag_values=FLAGS):
    """Shows all flags of another module in the help of this one."""
    if not hasattr(module, "__name__"):
        raise Error("Expected a module object, got %r" % (module,))
    for flag in flag_values.get_key_flags_for_module(module):
        flag_values.register_key_flag_for_module(_caller(), flag)


def disclaim_key_flags():
    """Does nothing: flags belong to the module that calls DEFINE_..."""


def flag_dict_to_args(flag_map, multi_flags=None):
    """Yields the arguments of a command line with these values."""
    for name, value in flag_map.items():
        if value is None:
            yield "--%s" % name
        elif isinstance(value, bool):
            yield "--%s%s" % ("" if value else "no", name)
        elif isinstance(value, (bytes, str)):
            yield "--%s=%s" % (name, value)
        elif hasattr(value, "__iter__"):
            if multi_flags and name in multi_flags:
                for item in value:
                    yield "--%s=%s" % (name, item)
            else:
                yield "--%s=%s" % (name, ",".join(map(str, value)))
        else:
            yield "--%s=%s" % (name, value)


def get_help_width():
    """How wide help may be."""
    return shutil.get_terminal_size((80, 25)).columns


def text_wrap(text, length=None, indent="", firstline_indent=None):
    """`text` in lines of `length` at most."""
    first = indent if firstline_indent is None else firstline_indent
    lines = []
    for i, part in enumerate(text.splitlines()):
        lines.append(textwrap.fill(
            part, length or get_help_width(), subsequent_indent=indent,
            initial_indent=indent if i else first) or "")
    return "\n".join(lines)


def doc_to_help(doc):
    """A docstring without the indentation of its lines."""
    first, _, rest = doc.strip().partition("\n")
    return (first + "\n" + textwrap.dedent(rest)).strip()
