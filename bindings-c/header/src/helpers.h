/** The bytes of a string literal. */
#define BW_LITERAL(text) bw_text("" text, sizeof(text) - 1)

/** `length` bytes from `text` on. */
static inline bw_bytes bw_text(const char *text, size_t length)
{
    bw_bytes bytes;
    bytes.data = (const uint8_t *)text;
    bytes.length = length;
    return bytes;
}

/** The bytes of a string that ends with a NUL; nothing for NULL. */
static inline bw_bytes bw_string(const char *text)
{
    size_t length = 0;
    if (text != NULL)
        while (text[length] != '\0')
            ++length;
    return bw_text(text, length);
}

/** Nothing, where that is allowed. */
static inline bw_bytes bw_none(void)
{
    return bw_text(NULL, 0);
}

/** Whether there are bytes, possibly none of them: false for nothing. */
static inline bool bw_is_some(bw_bytes bytes)
{
    return bytes.data != NULL;
}

/** Whether two runs of bytes are equal. Nothing equals an empty text. */
static inline bool bw_equals(bw_bytes one, bw_bytes other)
{
    size_t at = 0;
    if (one.length != other.length)
        return false;
    while (at < one.length && one.data[at] == other.data[at])
        ++at;
    return at == one.length;
}
