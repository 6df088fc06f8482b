/**
 * @file
 * A reader and a writer of JSON (RFC 8259). Part of barewire.hpp.
 */
#ifndef BAREWIRE_JSON_HPP
#define BAREWIRE_JSON_HPP

#include "result.hpp"

#include <iterator>

namespace barewire
{

/** A reader and a writer of JSON. */
namespace json
{

/**
 * JSON text that lies somewhere else, or nothing: what a message can lack is a view of nothing, and reading it fails as
 * that of a value that is not there does.
 *
 * Pointers are JSON Pointers (RFC 6901), such as "/arguments/text" or "/content/0"; "" is the whole. Each getter reads
 * the text as a whole, so that it need not be checked before, and fails with BW_ERROR_INVALID_JSON, BW_ERROR_NOT_FOUND,
 * BW_ERROR_INVALID_ARGUMENT for a pointer that is none, BW_ERROR_NOT_UTF8, and BW_ERROR_NULL_ARGUMENT for nothing.
 */
class View
{
  public:
    class Members;

    /** Nothing. */
    View() = default;

    /** The JSON in a text. */
    explicit View(std::string_view text) noexcept : text_(text) {}

    /** Whether there is a text. */
    explicit operator bool() const noexcept { return text_.data() != nullptr; }

    /** The text, as it is written; with null data for nothing. */
    std::string_view text() const noexcept { return text_; }

    /** The text, so that JSON can be passed on as it is. */
    operator std::string_view() const noexcept { return text_; }

    /** Whether the text is one JSON value. */
    Result<void> check() const { return detail::checked(bw_json_check(raw())); }

    /** What is under a pointer; BW_JSON_NONE if nothing is. */
    bw_json_type type(const char *pointer = "") const noexcept { return bw_json_get_type(raw(), pointer); }

    /** The value under a pointer, of any type: a part of this text. */
    Result<View> get(const char *pointer) const
    {
        bw_bytes value = bw_none();
        const bw_status status = bw_json_get(raw(), pointer, &value);
        return detail::checked(status, View(detail::view(value)));
    }

    /** The string under a pointer, decoded. BW_ERROR_WRONG_TYPE; BW_ERROR_NOT_UTF8 for a lone surrogate. */
    Result<std::string> get_string(const char *pointer) const;

    /**
     * The string under a pointer, decoded without memory of its own: a part of this text if it has no escapes, else
     * written to `buffer`. As the other one, and BW_ERROR_BUFFER_TOO_SMALL if it has more than `size` bytes.
     */
    Result<std::string_view> get_string(const char *pointer, char *buffer, std::size_t size) const
    {
        bw_bytes string = bw_none();
        const bw_status status = bw_json_get_string(raw(), pointer, buffer, size, &string);
        return detail::checked(status, detail::view(string));
    }

    /** The integer under a pointer, never rounded. BW_ERROR_WRONG_TYPE; BW_ERROR_OUT_OF_RANGE. */
    Result<std::int64_t> get_i64(const char *pointer) const { return got<std::int64_t>(bw_json_get_i64, pointer); }

    /** As `get_i64`, without sign. */
    Result<std::uint64_t> get_u64(const char *pointer) const { return got<std::uint64_t>(bw_json_get_u64, pointer); }

    /**
     * The number under a pointer as the nearest one of double precision. BW_ERROR_WRONG_TYPE; BW_ERROR_OUT_OF_RANGE if
     * it is beyond the range, or an integer that would lose digits.
     */
    Result<double> get_double(const char *pointer) const { return got<double>(bw_json_get_double, pointer); }

    /** The truth value under a pointer. BW_ERROR_WRONG_TYPE. */
    Result<bool> get_bool(const char *pointer) const { return got<bool>(bw_json_get_bool, pointer); }

    /** How many elements or members the array or object under a pointer has. BW_ERROR_WRONG_TYPE. */
    Result<std::size_t> get_length(const char *pointer = "") const
    {
        return got<std::size_t>(bw_json_get_length, pointer);
    }

    /** What the array or object under a pointer holds, to be gone through once. BW_ERROR_WRONG_TYPE. */
    Result<Members> members(const char *pointer = "") const;

  private:
    template <class T> Result<T> got(bw_status (*getter)(bw_bytes, const char *, T *), const char *pointer) const
    {
        T value = {};
        const bw_status status = getter(raw(), pointer, &value);
        return detail::checked(status, value);
    }

    bw_bytes raw() const noexcept { return bw_text(text_.data(), text_.size()); }

    std::string_view text_;
};

/** Decodes the contents of a JSON string, such as a key. BW_ERROR_INVALID_JSON if they are none; BW_ERROR_NOT_UTF8. */
inline Result<std::string> unescape(std::string_view contents)
{
    bw_bytes string = bw_none();
    std::string buffer(contents.size(), '\0');
    const bw_status status = bw_json_unescape(detail::bytes(contents), buffer.data(), buffer.size(), &string);
    return detail::checked(status, std::string(detail::view(string)));
}

/** A member of an object, or an element of an array. */
struct Member {
    /** The name of the member as it is written, without quotes (see `unescape`); nothing for an element. */
    std::optional<std::string_view> key;
    /** The value. */
    View value;
};

/** The members of an object or the elements of an array, in their order; a range for one `for` loop. */
class View::Members
{
  public:
    /** Where a loop stands. */
    class Iterator
    {
      public:
        /** It goes forward, once. */
        using iterator_category = std::input_iterator_tag;
        /** What it leads to. */
        using value_type = Member;
        /** What distances would be. */
        using difference_type = std::ptrdiff_t;
        /** A place of what it leads to. */
        using pointer = const Member *;
        /** What it leads to. */
        using reference = const Member &;

        /** The end. */
        Iterator() = default;

        /** The beginning. */
        explicit Iterator(bw_json_iterator state) noexcept : state_(state), more_(true) { ++*this; }

        /** The member. */
        const Member &operator*() const noexcept { return member_; }

        /** A part of the member. */
        const Member *operator->() const noexcept { return &member_; }

        /** Goes on to the next one. */
        Iterator &operator++() noexcept
        {
            bw_bytes key = bw_none(), value = bw_none();
            more_ = bw_json_next(&state_, &key, &value);
            member_ = {detail::optional(key), View(detail::view(value))};
            return *this;
        }

        /** Goes on to the next one. */
        Iterator operator++(int) noexcept
        {
            Iterator before = *this;
            ++*this;
            return before;
        }

        /** Whether both are at the end, or both are not. */
        bool operator==(const Iterator &other) const noexcept { return more_ == other.more_; }

        /** Whether one of both is at the end. */
        bool operator!=(const Iterator &other) const noexcept { return more_ != other.more_; }

      private:
        bw_json_iterator state_ = {};
        Member member_;
        bool more_ = false;
    };

    /** The first member. */
    Iterator begin() const noexcept { return Iterator(state_); }

    /** Behind the last member. */
    Iterator end() const noexcept { return Iterator(); }

  private:
    friend class View;

    explicit Members(bw_json_iterator state) noexcept : state_(state) {}

    bw_json_iterator state_;
};

inline Result<std::string> View::get_string(const char *pointer) const
{
    char small[64];
    bw_bytes string = bw_none();
    bw_status status = bw_json_get_string(raw(), pointer, small, sizeof small, &string);
    if (status != BW_ERROR_BUFFER_TOO_SMALL)
        return detail::checked(status, std::string(detail::view(string)));
    std::string whole(string.length, '\0');
    status = bw_json_get_string(raw(), pointer, whole.data(), whole.size(), &string);
    return detail::checked(status, std::move(whole));
}

inline Result<View::Members> View::members(const char *pointer) const
{
    bw_json_iterator state = {};
    const bw_status status = bw_json_iterate(raw(), pointer, &state);
    return detail::checked(status, Members(state));
}

/**
 * Writes one JSON value piece by piece, for results, arguments and definitions. Writes can be chained; the first one
 * that fails makes all later ones do nothing, and `finish` tells. What was moved from is empty, and can be used anew.
 */
class Writer
{
  public:
    /** Writes to memory that grows. */
    Writer() noexcept { (void)bw_json_writer_init(&raw_, nullptr, 0); }

    /** Writes to a buffer of `size` bytes, which has to be enough, and to last as long as the writer. */
    Writer(char *buffer, std::size_t size) noexcept { (void)bw_json_writer_init(&raw_, buffer, size); }

    /** Takes over what the other one has written. */
    Writer(Writer &&other) noexcept : raw_(other.raw_) { (void)bw_json_writer_init(&other.raw_, nullptr, 0); }

    /** Takes over what the other one has written. */
    Writer &operator=(Writer &&other) noexcept
    {
        if (this != &other) {
            bw_json_writer_free(&raw_);
            raw_ = other.raw_;
            (void)bw_json_writer_init(&other.raw_, nullptr, 0);
        }
        return *this;
    }

    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    /** Frees what was written. */
    ~Writer() { bw_json_writer_free(&raw_); }

    /** Begins anew, on the same buffer. */
    void clear() noexcept { bw_json_writer_free(&raw_); }

    /**
     * The text that was written, good until the next write. BW_ERROR_WRITER_MISUSED if a value was written where none
     * can stand or something is not ended, BW_ERROR_BUFFER_TOO_SMALL, or what was wrong with something that was given:
     * BW_ERROR_INVALID_JSON, BW_ERROR_NOT_UTF8, BW_ERROR_OUT_OF_RANGE.
     */
    Result<View> finish()
    {
        bw_bytes json = bw_none();
        const bw_status status = bw_json_finish(&raw_, &json);
        return detail::checked(status, View(detail::view(json)));
    }

    /** Begins an object: keys and values follow. */
    Writer &begin_object() noexcept { return bw_json_begin_object(&raw_), *this; }

    /** Ends an object. */
    Writer &end_object() noexcept { return bw_json_end_object(&raw_), *this; }

    /** Begins an array: values follow. */
    Writer &begin_array() noexcept { return bw_json_begin_array(&raw_), *this; }

    /** Ends an array. */
    Writer &end_array() noexcept { return bw_json_end_array(&raw_), *this; }

    /** Writes the key of a member; its value follows. */
    Writer &put_key(std::string_view key) noexcept { return bw_json_put_key(&raw_, detail::bytes(key)), *this; }

    /** Writes a string, which is escaped as needed. */
    Writer &put_string(std::string_view string) noexcept
    {
        return bw_json_put_string(&raw_, detail::bytes(string)), *this;
    }

    /** Writes an integer. */
    Writer &put_i64(std::int64_t value) noexcept { return bw_json_put_i64(&raw_, value), *this; }

    /** Writes an integer without sign. */
    Writer &put_u64(std::uint64_t value) noexcept { return bw_json_put_u64(&raw_, value), *this; }

    /** Writes a number with the fewest digits that give it back exactly. JSON has no infinities and no NaN. */
    Writer &put_double(double value) noexcept { return bw_json_put_double(&raw_, value), *this; }

    /** Writes a truth value. */
    Writer &put_bool(bool value) noexcept { return bw_json_put_bool(&raw_, value), *this; }

    /** Writes `null`. */
    Writer &put_null() noexcept { return bw_json_put_null(&raw_), *this; }

    /** Writes a value that is JSON already, such as one that a reader gave. */
    Writer &put_json(std::string_view json) noexcept { return bw_json_put_json(&raw_, detail::bytes(json)), *this; }

    /** Writes bytes as a string of base64 (RFC 4648, section 4), as images and sounds travel. */
    Writer &put_base64(std::string_view data) noexcept { return bw_json_put_base64(&raw_, detail::bytes(data)), *this; }

    /** The writer of barewire.h. It stays this object's. */
    bw_json_writer *get() noexcept { return &raw_; }

  private:
    bw_json_writer raw_;
};

} // namespace json
} // namespace barewire

#endif
