"""tf.flags: how the text of a command line becomes a value, and back."""
import csv
import enum
import io


class Error(Exception):
    """Any error of flags."""


class CantOpenFlagFileError(Error):
    """A file that --flagfile names cannot be read."""


class DuplicateFlagError(Error):
    """Two flags have one name."""

    @classmethod
    def from_flag(cls, flagname, flag_values, other_flag_values=None):
        """The error for a name that `flag_values` has already."""
        first = flag_values.find_module_defining_flag(flagname, "<unknown>")
        return cls("The flag '%s' is defined twice. First from %s.  Description "
                   "from first occurrence: %s"
                   % (flagname, first, flag_values[flagname].help))


class IllegalFlagValueError(Error):
    """A value that a flag cannot take."""


class UnparsedFlagAccessError(Error):
    """A flag's value was asked for before the command line was parsed."""


class FlagNameConflictsWithMethodError(Error):
    """A flag has the name of a method of FlagValues."""


class ValidationError(Error):
    """A validator refuses a value."""


class UnrecognizedFlagError(Error):
    """The command line has a flag that nobody defined."""

    def __init__(self, flagname, flagvalue="", suggestions=None):
        self.flagname = flagname
        self.flagvalue = flagvalue
        tip = (". Did you mean: %s ?" % ", ".join(suggestions)
               if suggestions else "")
        super().__init__("Unknown command line flag '%s'%s" % (flagname, tip))


class ArgumentParser:
    """Takes text as it is."""
    syntactic_help = ""

    def parse(self, argument):
        """The value of a text. ValueError or TypeError if it has none."""
        if not isinstance(argument, str):
            raise TypeError("flag value must be a string, found \"%s\""
                            % type(argument))
        return argument

    def flag_type(self):
        return "string"


class _NumberParser(ArgumentParser):
    """A number from `lower_bound` to `upper_bound`."""

    def __init__(self, lower_bound=None, upper_bound=None):
        super().__init__()
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        low, high = lower_bound, upper_bound
        kind = self._kind
        if low is not None and high is not None:
            self.syntactic_help = "%s in the range [%s, %s]" % (kind, low, high)
        elif low == 0 or low == 1 and kind == "an integer":
            self.syntactic_help = "a %s %s" % (
                "positive" if low else "non-negative", kind.split()[1])
        elif high == -1 and kind == "an integer":
            self.syntactic_help = "a negative integer"
        elif high is not None:
            self.syntactic_help = "%s <= %s" % (kind, high)
        elif low is not None:
            self.syntactic_help = "%s >= %s" % (kind, low)
        else:
            self.syntactic_help = kind

    def is_outside_bounds(self, val):
        return (self.lower_bound is not None and val < self.lower_bound
                or self.upper_bound is not None and val > self.upper_bound)

    def parse(self, argument):
        value = self.convert(argument)
        if self.is_outside_bounds(value):
            raise ValueError("%s is not %s" % (value, self.syntactic_help))
        return value


class FloatParser(_NumberParser):
    _kind = "a number"

    def convert(self, argument):
        if isinstance(argument, (int, float, str)) and (
                not isinstance(argument, bool)):
            return float(argument)
        raise TypeError("Expect argument to be a string, int, or float, found "
                        "%s" % type(argument))

    def flag_type(self):
        return "float"


class IntegerParser(_NumberParser):
    _kind = "an integer"

    def convert(self, argument):
        if isinstance(argument, int) and not isinstance(argument, bool):
            return argument
        if isinstance(argument, str):
            digits = argument.lower().lstrip("+-")
            base = {"0x": 16, "0o": 8}.get(digits[:2], 10)
            return int(argument, base)
        raise TypeError("Expect argument to be a string or int, found %s"
                        % type(argument))

    def flag_type(self):
        return "int"


class BooleanParser(ArgumentParser):
    def parse(self, argument):
        if isinstance(argument, str):
            if argument.lower() in ("true", "t", "1"):
                return True
            if argument.lower() in ("false", "f", "0"):
                return False
            raise ValueError("Non-boolean argument to boolean flag", argument)
        if isinstance(argument, int) and argument in (0, 1):
            return bool(argument)
        raise TypeError("Non-boolean argument to boolean flag", argument)

    def flag_type(self):
        return "bool"


class EnumParser(ArgumentParser):
    """One of some texts."""

    def __init__(self, enum_values, case_sensitive=True):
        if not enum_values:
            raise ValueError("enum_values cannot be empty, found \"%s\""
                             % (enum_values,))
        super().__init__()
        self.enum_values = enum_values
        self.case_sensitive = case_sensitive

    def parse(self, argument):
        for value in self.enum_values:
            if argument == value or (not self.case_sensitive
                                     and argument.lower() == value.lower()):
                return value
        raise ValueError("value should be one of <%s>"
                         % "|".join(self.enum_values))

    def flag_type(self):
        return "string enum"


class EnumClassParser(ArgumentParser):
    """A member of an enum.Enum, by its name."""

    def __init__(self, enum_class, case_sensitive=True):
        if not issubclass(enum_class, enum.Enum):
            raise TypeError("%s is not a subclass of Enum." % enum_class)
        if not enum_class.__members__:
            raise ValueError("enum_class cannot be empty, but \"%s\" is empty."
                             % enum_class)
        super().__init__()
        self.enum_class = enum_class
        self._case_sensitive = case_sensitive
        self._members = {
            (n if case_sensitive else n.lower()): m
            for n, m in enum_class.__members__.items()}

    @property
    def member_names(self):
        """The names that are taken."""
        return list(self._members)

    def parse(self, argument):
        if isinstance(argument, self.enum_class):
            return argument
        name = argument if self._case_sensitive else str(argument).lower()
        if name not in self._members:
            raise ValueError("value should be one of <%s>"
                             % "|".join(self._members))
        return self._members[name]

    def flag_type(self):
        return "enum class"


class BaseListParser(ArgumentParser):
    """Texts between separators."""

    def __init__(self, token=None, name=None):
        assert_name = name or "list"
        super().__init__()
        self._token = token
        self._name = assert_name
        self.syntactic_help = "a %s separated list" % assert_name

    def parse(self, argument):
        if isinstance(argument, list):
            return argument
        if not argument:
            return []
        return [part.strip() for part in argument.split(self._token)]

    def flag_type(self):
        return "%s separated list of strings" % self._name


class ListParser(BaseListParser):
    """Texts between commas; quotes protect commas."""

    def __init__(self):
        super().__init__(",", "comma")

    def parse(self, argument):
        if isinstance(argument, list):
            return argument
        if not argument:
            return []
        try:
            rows = list(csv.reader([argument], strict=True))
        except csv.Error as error:
            raise ValueError("Unable to parse the value %r as a %s: %s" % (
                argument, self.flag_type(), error)) from None
        return [part.strip() for part in rows[0]]


class WhitespaceSeparatedListParser(BaseListParser):
    """Texts between spaces; with `comma_compat` also between commas."""

    def __init__(self, comma_compat=False):
        super().__init__(None, "whitespace or comma" if comma_compat
                         else "whitespace")
        self._comma_compat = comma_compat

    def parse(self, argument):
        if isinstance(argument, list):
            return argument
        if self._comma_compat:
            argument = argument.replace(",", " ")
        return (argument or "").split()


class ArgumentSerializer:
    """A value as text."""

    def serialize(self, value):
        return str(value)


class ListSerializer(ArgumentSerializer):
    def __init__(self, list_sep):
        self.list_sep = list_sep

    def serialize(self, value):
        return self.list_sep.join(str(v) for v in value)


class CsvListSerializer(ArgumentSerializer):
    def __init__(self, list_sep):
        self.list_sep = list_sep

    def serialize(self, value):
        out = io.StringIO()
        csv.writer(out, delimiter=self.list_sep).writerow(
            [str(v) for v in value])
        return out.getvalue().strip()


class EnumClassSerializer(ArgumentSerializer):
    def __init__(self, lowercase):
        self._lowercase = lowercase

    def serialize(self, value):
        return value.name.lower() if self._lowercase else value.name


class EnumClassListSerializer(ListSerializer):
    def __init__(self, list_sep, **kwargs):
        super().__init__(list_sep)
        self._element = EnumClassSerializer(**kwargs)

    def serialize(self, value):
        values = value if isinstance(value, list) else [value]
        return self.list_sep.join(self._element.serialize(v) for v in values)
