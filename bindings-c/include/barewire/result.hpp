/**
 * @file
 * How calls end, handles, texts, and the names of numbers. Part of barewire.hpp.
 */
#ifndef BAREWIRE_RESULT_HPP
#define BAREWIRE_RESULT_HPP

#include "../barewire.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace barewire
{

/** A point in time that never comes. */
inline constexpr std::uint64_t never = BW_NEVER;

/** The random bytes that a server or client begins with, from the operating system, never used twice. */
using Seed = std::array<std::uint8_t, BW_SEED_BYTES>;

/** Names a request; the numbers mean nothing, and none is 0. */
enum class RequestHandle : std::uint64_t {};

/** Names a subscription, as `RequestHandle` does a request. */
enum class SubscriptionHandle : std::uint64_t {};

/** Names a legacy session, as `RequestHandle` does a request. */
enum class SessionHandle : std::uint64_t {};

/** Names a request of HTTP and its response, as `RequestHandle` does a request. */
enum class ExchangeHandle : std::uint64_t {};

/** Names a question of a server, as `RequestHandle` does a request. */
enum class InputHandle : std::uint64_t {};

/** Why a call did nothing, or ended a connection. */
struct Error {
    /** A number of `bw_error`, never BW_OK; of `bw_authorization_error` where a flow of authorization failed. */
    bw_status code;
    /** What was wrong, for people; the name of the number if there is no more to say. */
    std::string message;

    /** An error of that number; without a message it has the name of the number. */
    explicit Error(bw_status number, std::string_view text = {})
        : code(number), message(text.empty() ? std::string_view(bw_error_name(number)) : text)
    {
    }

    /** The name of the number, such as "BW_ERROR_UNKNOWN_REQUEST". */
    const char *name() const noexcept { return bw_error_name(code); }

    /** Whether what answered it is of no use any more; after any other error it goes on as before. */
    bool is_fatal() const noexcept { return bw_error_is_fatal(code); }
};

/**
 * What a call gave, or why it gave nothing. Ask which before taking either: taking what is not there ends the program
 * (`std::abort`).
 */
template <class T> class [[nodiscard]] Result
{
  public:
    /** A call that went well. */
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}

    /** A call that failed. */
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    /** Whether there is a value. */
    bool has_value() const noexcept { return state_.index() == 0; }

    /** Whether there is a value. */
    explicit operator bool() const noexcept { return has_value(); }

    /** The value. */
    T &operator*() & { return *found(std::get_if<0>(&state_)); }

    /** The value. */
    const T &operator*() const & { return *found(std::get_if<0>(&state_)); }

    /** The value, moved out, so that `for (auto item : *view.members())` goes through something that lasts. */
    T operator*() && { return std::move(*found(std::get_if<0>(&state_))); }

    /** Members of the value. */
    T *operator->() { return found(std::get_if<0>(&state_)); }

    /** Members of the value. */
    const T *operator->() const { return found(std::get_if<0>(&state_)); }

    /** The value, or `other` if there is none. */
    T value_or(T other) const &
    {
        const T *value = std::get_if<0>(&state_);
        return value ? *value : std::move(other);
    }

    /** The value, moved out, or `other` if there is none. */
    T value_or(T other) &&
    {
        T *value = std::get_if<0>(&state_);
        return std::move(value ? *value : other);
    }

    /** Why there is no value. */
    const Error &error() const { return *found(std::get_if<1>(&state_)); }

  private:
    template <class U> static U *found(U *place)
    {
        if (!place)
            std::abort();
        return place;
    }

    std::variant<T, Error> state_;
};

/** Whether a call went well that gives nothing else, or why it did not. */
template <> class [[nodiscard]] Result<void>
{
  public:
    /** A call that went well. */
    Result() = default;

    /** A call that failed. */
    Result(Error error) : error_(std::move(error)) {}

    /** Whether it went well. */
    bool has_value() const noexcept { return !error_; }

    /** Whether it went well. */
    explicit operator bool() const noexcept { return has_value(); }

    /** Why it failed. Ends the program if it did not. */
    const Error &error() const
    {
        if (!error_)
            std::abort();
        return *error_;
    }

  private:
    std::optional<Error> error_;
};

/**
 * Several values that lie in a row somewhere else: in a vector, an array or a braced list. It is meant for parameters:
 * what it points to has to last as long as it is used.
 */
template <class T> class Span
{
  public:
    /** No values. */
    Span() = default;

    /** `size` values from `data` on. */
    Span(const T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    /** The values of a container that keeps them in a row, such as `std::vector` and `std::array`. */
    template <
        class Container,
        class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Container &>().data()), const T *>>>
    Span(const Container &values) noexcept : data_(values.data()), size_(values.size())
    {
    }

    /** The values of a braced list, which lasts to the end of the call that it is written in. */
    Span(std::initializer_list<T> values) noexcept : data_(first(values)), size_(values.size()) {}

    /** The values of an array. */
    template <std::size_t N> Span(const T (&values)[N]) noexcept : data_(values), size_(N) {}

    /** The first value; null if there is none. */
    const T *data() const noexcept { return data_; }

    /** How many values there are. */
    std::size_t size() const noexcept { return size_; }

    /** The first value. */
    const T *begin() const noexcept { return data_; }

    /** Behind the last value. */
    const T *end() const noexcept { return data_ + size_; }

  private:
    // Compilers warn of keeping it, unless they see it in a function of its own.
    static const T *first(const std::initializer_list<T> &values) noexcept { return values.begin(); }

    const T *data_ = nullptr;
    std::size_t size_ = 0;
};

/** A name and a value: a header of HTTP, a variable of a URI template, or the id and the data of a stream's event. */
struct Pair {
    /** The name. */
    std::string_view name;
    /** The value. */
    std::string_view value;
};

/** Joins lambdas into one function, to be given to `std::visit` with an event. */
template <class... Functions> struct overloaded : Functions... {
    using Functions::operator()...;
};

/** Finds out the types of the lambdas. */
template <class... Functions> overloaded(Functions...) -> overloaded<Functions...>;

/** How barewire.h sees what these files have. Not for use outside of them. */
namespace detail
{

/** A text or bytes, possibly empty, never nothing. */
inline bw_bytes bytes(std::string_view text) noexcept
{
    return text.data() ? bw_text(text.data(), text.size()) : BW_LITERAL("");
}

/** A text or nothing. */
inline bw_bytes bytes(std::optional<std::string_view> text) noexcept
{
    return text ? bw_text(text->data(), text->size()) : bw_none();
}

/** What the library lends; nothing has null data. */
inline std::string_view view(bw_bytes bytes) noexcept
{
    return {reinterpret_cast<const char *>(bytes.data), bytes.length};
}

/** What the library lends, if anything. */
inline std::optional<std::string_view> optional(bw_bytes bytes) noexcept
{
    return bw_is_some(bytes) ? std::optional(view(bytes)) : std::nullopt;
}

/** A handle or another number, if it is not 0. */
template <class Number, class Raw> std::optional<Number> optional_number(Raw raw) noexcept
{
    return raw != 0 ? std::optional(static_cast<Number>(raw)) : std::nullopt;
}

/** The number of a handle. */
template <class Handle> std::uint64_t raw(Handle handle) noexcept
{
    return static_cast<std::uint64_t>(handle);
}

/** The number of a handle, or 0. */
template <class Handle> std::uint64_t raw(std::optional<Handle> handle) noexcept
{
    return handle ? raw(*handle) : 0;
}

/** A name and a value as the library lends them. */
inline Pair pair(const bw_pair &raw) noexcept
{
    return {view(raw.name), view(raw.value)};
}

/** A name and a value for the library. */
inline bw_pair raw_pair(const Pair &pair) noexcept
{
    return {bytes(pair.name), bytes(pair.value)};
}

/** Each value as `convert` gives it. */
template <class T, class Function> auto converted(Span<T> values, Function convert)
{
    std::vector<decltype(convert(*values.data()))> all;
    all.reserve(values.size());
    for (const T &value : values)
        all.push_back(convert(value));
    return all;
}

/** The values as numbers of 32 bits. */
template <class T> std::vector<std::int32_t> numbers(Span<T> values)
{
    return converted(values, [](T value) { return static_cast<std::int32_t>(value); });
}

/** Texts for the library. */
inline std::vector<bw_bytes> texts(Span<std::string_view> values)
{
    return converted(values, [](std::string_view value) { return bytes(value); });
}

/** How a call ended that leaves no message. */
inline Result<void> checked(bw_status status)
{
    return status == BW_OK ? Result<void>() : Result<void>(Error(status));
}

/** What a call gave that leaves no message. */
template <class T> Result<T> checked(bw_status status, T value)
{
    return status == BW_OK ? Result<T>(std::move(value)) : Result<T>(Error(status));
}

/** A text that a function of the library puts into a buffer, of the length that it says it needs. */
template <class Function> Result<std::string> written(Function function)
{
    bw_bytes text = bw_none();
    bw_status status = function(nullptr, 0, &text);
    std::string buffer(status == BW_ERROR_BUFFER_TOO_SMALL ? text.length : 0, '\0');
    if (!buffer.empty())
        status = function(buffer.data(), buffer.size(), &text);
    return checked(status, std::move(buffer));
}

/** Frees what a handle of the library stands for. */
template <class Raw, void (*Free)(Raw *)> struct Freed {
    /** Frees it. */
    void operator()(Raw *raw) const noexcept { Free(raw); }
};

/** A handle of the library that is freed with its owner. */
template <class Raw, void (*Free)(Raw *)> using Owned = std::unique_ptr<Raw, Freed<Raw, Free>>;

} // namespace detail

/** Headers to be sent. */
class Headers
{
  public:
    /** Those that barewire.h lends. */
    Headers(const bw_pair *headers, std::size_t size) noexcept : headers_(headers), size_(size) {}

    /** How many there are. */
    std::size_t size() const noexcept { return size_; }

    /** The header at an index, which must be less than `size`. */
    Pair operator[](std::size_t index) const noexcept { return detail::pair(headers_[index]); }

  private:
    const bw_pair *headers_;
    std::size_t size_;
};

/** The version of the library that is linked; BW_VERSION is that of the headers. */
inline const char *version() noexcept
{
    return bw_version();
}

/** The version of the library that is linked as one number; BW_VERSION_NUMBER is that of the headers. */
inline std::uint32_t version_number() noexcept
{
    return bw_version_number();
}

/** The revisions that the library speaks, newest first. */
inline std::vector<bw_revision> revisions()
{
    std::vector<bw_revision> all;
    for (std::size_t index = 0; index < bw_revision_count(); ++index)
        all.push_back(static_cast<bw_revision>(bw_revision_at(index)));
    return all;
}

/** The name of a revision on the wire; nothing for none. It lasts for ever. */
inline std::optional<std::string_view> name(bw_revision revision) noexcept
{
    return detail::optional(bw_revision_name(revision));
}

/** The revision of that name, exactly as on the wire, if the library knows it. */
inline std::optional<bw_revision> revision_from_name(std::string_view name) noexcept
{
    return detail::optional_number<bw_revision>(bw_revision_from_name(detail::bytes(name)));
}

/** The era of a revision; BW_ERA_NONE for none. */
inline bw_era era(bw_revision revision) noexcept
{
    return static_cast<bw_era>(bw_revision_era(revision));
}

/** The name of a severity on the wire; nothing for none. It lasts for ever. */
inline std::optional<std::string_view> name(bw_log_level level) noexcept
{
    return detail::optional(bw_log_level_name(level));
}

/** The severity of that name, exactly as on the wire, if it is one. */
inline std::optional<bw_log_level> log_level_from_name(std::string_view name) noexcept
{
    return detail::optional_number<bw_log_level>(bw_log_level_from_name(detail::bytes(name)));
}

/** The place of a capability in the capabilities object, such as "tools.listChanged". It lasts for ever. */
inline std::optional<std::string_view> path(bw_capability capability) noexcept
{
    return detail::optional(bw_capability_path(capability));
}

} // namespace barewire

#endif
