/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PRINTED_VALUES_H
#define DISTRIBUTED_TRAINING_PRINTED_VALUES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ns3::training::tests
{

/** Writes a value: containers by their elements, enumerators by their number. */
template <typename T>
void PrintValue(std::ostream& os, const T& value);

template <typename T, typename = void>
struct IsRange : std::false_type
{
};

template <typename T>
struct IsRange<T, std::void_t<decltype(std::declval<const T&>().begin())>>
    : std::negation<std::is_convertible<T, std::string>>
{
};

/// std::chrono::duration
template <typename T, typename = void>
struct IsDuration : std::false_type
{
};

template <typename T>
struct IsDuration<T, std::void_t<typename T::period, decltype(std::declval<const T&>().count())>>
    : std::true_type
{
};

template <typename T, typename = void>
struct IsPrinted : std::false_type
{
};

template <typename T>
struct IsPrinted<T,
                 std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>
    : std::true_type
{
};

template <typename T>
struct IsTuple : std::false_type
{
};

template <typename... Parts>
struct IsTuple<std::tuple<Parts...>> : std::true_type
{
};

template <typename First, typename Second>
struct IsTuple<std::pair<First, Second>> : std::true_type
{
};

template <typename T>
struct IsOptional : std::false_type
{
};

template <typename T>
struct IsOptional<std::optional<T>> : std::true_type
{
};

template <typename T>
void
PrintValue(std::ostream& os, const T& value)
{
    constexpr std::size_t MOST = 200; // elements
    if constexpr (IsRange<T>::value)
    {
        std::size_t count = 0;
        os << '{';
        for (const auto& element : value)
        {
            if (count < MOST)
            {
                os << (count > 0 ? ", " : "");
                PrintValue(os, element);
            }
            count++;
        }
        os << (count > MOST ? ", ... " + std::to_string(count) + " elements}" : "}");
    }
    else if constexpr (IsTuple<T>::value)
    {
        std::apply(
            [&os](const auto&... parts) {
                const char* separator = "{";
                ((os << separator, PrintValue(os, parts), separator = ", "), ...);
                os << '}';
            },
            value);
    }
    else if constexpr (IsOptional<T>::value)
    {
        os << (value ? "" : "none");
        if (value)
        {
            PrintValue(os, *value);
        }
    }
    else if constexpr (IsDuration<T>::value)
    {
        os << value.count();
    }
    else if constexpr (std::is_enum_v<T>)
    {
        os << +static_cast<std::underlying_type_t<T>>(value);
    }
    else if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, int8_t>)
    {
        os << +value; // a number, not a character
    }
    else if constexpr (IsPrinted<T>::value)
    {
        os << value;
    }
    else
    {
        os << "(" << sizeof(T) << " bytes)";
    }
}

/**
 * NS_TEST_* write the values that differ. For those that nobody else writes this finds a form: the
 * namespace of a test sees it, as it is inside this one.
 */
template <typename T,
          std::enable_if_t<!IsPrinted<T>::value &&
                               (IsRange<T>::value || IsTuple<T>::value || IsOptional<T>::value ||
                                IsDuration<T>::value || std::is_enum_v<T>),
                           bool> = true>
std::ostream&
operator<<(std::ostream& os, const T& value)
{
    PrintValue(os, value);
    return os;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_PRINTED_VALUES_H
