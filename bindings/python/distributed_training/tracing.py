# SPDX-License-Identifier: GPL-2.0-only
"""Trace sources in Python: connect()."""

from __future__ import annotations

import difflib
import functools
import importlib
import re
import traceback
from collections.abc import Callable
from typing import Any

# The bridge. A Listener has the types of one trace source, so that ns-3 accepts its member function
# as a callback, and hands them to Python in a form that cppyy knows: numbers of 8 bits are characters
# there, and enumerations have names.
_BRIDGE = r"""
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace distributed_training_python
{
using Texts = std::vector<std::string>;

template <class T>
struct Shown
{
    static constexpr bool IS_NAMED = std::is_enum_v<T>;
    static constexpr bool IS_BYTE = std::is_same_v<T, uint8_t> || std::is_same_v<T, int8_t>;
};

template <class T>
decltype(auto)
Show(T&& value)
{
    using Plain = std::decay_t<T>;
    if constexpr (Shown<Plain>::IS_BYTE)
    {
        return static_cast<int>(value);
    }
    else if constexpr (Shown<Plain>::IS_NAMED)
    {
        std::ostringstream stream;
        stream << value;
        return stream.str();
    }
    else
    {
        return std::forward<T>(value);
    }
}

template <class T>
using ShownType = std::conditional_t<
    Shown<std::decay_t<T>>::IS_BYTE,
    int,
    std::conditional_t<Shown<std::decay_t<T>>::IS_NAMED, std::string, T>>;

template <class F>
class Listener;

template <class... Args>
class Listener<void (*)(Args...)>
{
  public:
    using Function = void (*)(std::string, ShownType<Args>...);

    explicit Listener(Function function)
        : m_function(function)
    {
    }

    bool Attach(ns3::Ptr<ns3::Object> object, const std::string& source, const std::string& context)
    {
        return object->TraceConnect(source, context, ns3::MakeCallback(&Listener::Notify, this));
    }

  private:
    void Notify(std::string context, Args... args)
    {
        m_function(context, Show(std::forward<Args>(args))...);
    }

    Function m_function;
};

inline std::vector<ns3::TypeId>
GetTypes(ns3::Ptr<ns3::Object> object)
{
    std::vector<ns3::TypeId> types;
    for (auto type = object->GetInstanceTypeId();; type = type.GetParent())
    {
        types.push_back(type);
        if (!type.HasParent())
        {
            return types;
        }
    }
}

inline bool
IsType(const std::string& name)
{
    ns3::TypeId type;
    return ns3::TypeId::LookupByNameFailSafe(name, &type);
}

inline Texts
ListTypes()
{
    Texts names;
    for (uint32_t i = 0; i < ns3::TypeId::GetRegisteredN(); ++i)
    {
        names.push_back(ns3::TypeId::GetRegistered(i).GetName());
    }
    return names;
}

// Names of the trace sources of an object, each followed by its type.
inline Texts
ListSources(ns3::Ptr<ns3::Object> object)
{
    Texts names;
    for (const auto& type : GetTypes(object))
    {
        for (std::size_t i = 0; i < type.GetTraceSourceN(); ++i)
        {
            names.push_back(type.GetTraceSource(i).name);
            names.push_back(type.GetTraceSource(i).callback);
        }
    }
    return names;
}

// What may follow an object in a path: attributes that hold objects, and types of aggregates.
inline Texts
ListNext(ns3::Ptr<ns3::Object> object)
{
    Texts names;
    for (const auto& type : GetTypes(object))
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const auto value = type.GetAttribute(i).checker->GetValueTypeName();
            if (value == "ns3::PointerValue" || value.find("Container") != std::string::npos ||
                value.find("ObjectVector") != std::string::npos ||
                value.find("ObjectMap") != std::string::npos)
            {
                names.push_back(type.GetAttribute(i).name);
            }
        }
    }
    auto aggregates = object->GetAggregateIterator();
    while (aggregates.HasNext())
    {
        ns3::Ptr<const ns3::Object> other = aggregates.Next();
        names.push_back("$" + other->GetInstanceTypeId().GetName());
    }
    names.push_back("$" + object->GetInstanceTypeId().GetName());
    return names;
}
} // namespace distributed_training_python
"""

_listeners: list[Any] = []  # C++ refers to them, and they to the Python functions


def _get_namespace() -> Any:
    return importlib.import_module(__package__).ns


@functools.lru_cache(maxsize=None)
def _get_bridge() -> Any:
    namespace = _get_namespace()
    if not namespace.cppyy.cppdef(_BRIDGE):
        raise ImportError("cannot compile the bridge to trace sources")
    return namespace.cppyy.gbl.distributed_training_python


@functools.lru_cache(maxsize=None)
def _get_listener(callback: str) -> Any:
    """Return the C++ class for a type of trace source, such as "ns3::Packet::TracedCallback"."""
    bridge = _get_bridge()
    name = "Listener_" + re.sub(r"\W+", "_", callback)
    # A class of its own, with members of its own: cppyy does not find some types through a template.
    code = f"""
        namespace distributed_training_python
        {{
        struct {name} : public Listener<{callback}>
        {{
            {name}(Function function) : Listener<{callback}>(function) {{}}

            bool Connect(ns3::Ptr<ns3::Object> object,
                         const std::string& source,
                         const std::string& context)
            {{
                return Attach(object, source, context);
            }}
        }};
        }}
        """
    if not _get_namespace().cppyy.cppdef(code):
        raise ValueError(f"the trace source has an unknown type {callback!r}")
    return getattr(bridge, name)


def _suggest(name: str, names: list[str]) -> str:
    """Return the names that are near, or all if they are few."""
    unique = sorted(set(names))
    near = difflib.get_close_matches(name, unique, 3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"allowed: {', '.join(unique[:20]) or 'none'}"


def _match(path: str) -> list[tuple[Any, str]]:
    """Return the objects that a path leads to, each with its own path."""
    matches = _get_namespace().Config.LookupMatches(path)
    return [
        (matches.Get(index), str(matches.GetMatchedPath(index))) for index in range(matches.GetN())
    ]


def _find(path: str) -> list[tuple[Any, str]]:
    """Return the objects that have the trace source, each with its path. Raises ValueError."""
    bridge = _get_bridge()
    parts = path.split("/")[1:]
    if not path.startswith("/") or len(parts) < 2 or not all(parts):
        raise ValueError(
            f"path {path!r} (allowed: such as "
            "'/NodeList/*/$ns3::training::SwitchDevice/QueueLength')"
        )
    for part in parts:
        if part.startswith("$") and not bridge.IsType(part[1:]):
            names = [str(name) for name in bridge.ListTypes()]
            raise ValueError(f"path {path!r}: no type {part[1:]!r}; {_suggest(part[1:], names)}")
    *prefix, source = parts
    objects = _match("/" + "/".join(prefix))
    if objects:
        return objects
    known: list[tuple[Any, str]] = []
    for length in range(1, len(prefix) + 1):
        found = _match("/" + "/".join(prefix[:length]))
        if not found and not _is_container(prefix[length - 1], known, length):
            break
        known = found or known
    part = prefix[length - 1]
    if length == 1:
        suggestion = _suggest(part, ["NodeList", "ChannelList"])
    elif known:
        names = [str(name) for object_, _ in known[:100] for name in bridge.ListNext(object_)]
        suggestion = _suggest(part, names)
    else:
        suggestion = "no such object exists yet: connect after the cluster is made"
    raise ValueError(f"path {path!r}: nothing matches {part!r}; {suggestion}")


def _is_container(part: str, known: list[tuple[Any, str]], length: int) -> bool:
    """Whether a part names a list of objects, which an index follows."""
    if length == 1:
        return part in ("NodeList", "ChannelList")
    names = {str(name) for object_, _ in known[:100] for name in _get_bridge().ListNext(object_)}
    return part in names


def _to_python(value: Any) -> Any:
    """Return C++ strings as str, everything else as it is."""
    return str(value) if type(value).__name__ in ("string", "std::string") else value


def connect(path: str, function: Callable[..., Any], root: Any = None) -> int:
    """Call a Python function for each event of trace sources::

        def show(path, port, priority, size): ...

        dt.connect("/NodeList/*/$ns3::training::SwitchDevice/QueueLength", show)

    The function gets the path of each source, then what the source reports; the type of the source
    says what that is (``QueueLengthTracedCallback``). Enumerations are their names. References to
    frames, messages and records are valid during the call only: copy what you need.

    An exception in the function stops the simulation, and the call that ran it raises the exception.

    Args:
        path: as in ns3::Config::Connect(): ``*`` for all, ``$`` before a type. With a root, the name of
            a source of that object.
        function: called while the simulation runs.
        root: an object that no path leads to, such as a communicator.

    Returns the number of sources. Raises ValueError, with near names, if there is none.
    """
    if not callable(function):
        raise TypeError(f"function={function!r} (allowed: what can be called)")
    source = path.rsplit("/", 1)[-1]
    objects = _find(path) if root is None else [(root, "")]
    bridge = _get_bridge()
    connected = 0
    names: list[str] = []
    for object_, place in objects:
        texts = [str(text) for text in bridge.ListSources(object_)]
        sources = dict(zip(texts[::2], texts[1::2]))
        names += sources
        if source not in sources:
            continue
        listener = _get_listener(sources[source])(_make_callback(function))
        context = f"{place.rstrip('/')}/{source}"
        if not listener.Connect(object_, source, context):
            raise ValueError(f"path {path!r}: the source is not one of ns-3's")
        _listeners.append(listener)
        connected += 1
    if not connected:
        raise ValueError(f"path {path!r}: no trace source {source!r}; {_suggest(source, names)}")
    return connected


def _make_callback(function: Callable[..., Any]) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        try:
            function(*map(_to_python, arguments))
        except BaseException as error:
            raise _carry(error) from error

    _listeners.append(call)
    return call


def _carry(error: BaseException) -> BaseException:
    """Return an exception that gets through C++ as the given one.

    cppyy makes a new exception of the same type, with a text of its own. Making one of the type of
    this carrier returns the exception itself.
    """
    kind = type(error)
    carrier = type(kind.__name__, (kind,), {"__new__": lambda *_: error})
    if hasattr(error, "add_note"):  # Python 3.11: the way through C++ loses the traceback
        lines = traceback.format_tb(error.__traceback__)[1:]
        error.add_note("In the function of a trace source:\n" + "".join(lines).rstrip())
    return kind.__new__(carrier)
