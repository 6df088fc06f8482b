/**
 * @file
 * barewire for C++17 and later: the interface of barewire.h with handles that free themselves, events as variants, and
 * results instead of status numbers. Header-only; link libbarewire as C does. It needs neither exceptions nor run-time
 * type information, and throws nothing itself; only the memory of strings and vectors may run out.
 *
 * Rules, which hold everywhere unless a function says otherwise:
 *
 *   - What owns something can be moved and not copied. What was moved from answers as barewire.h does for NULL:
 *     BW_ERROR_NULL_ARGUMENT, or what there is to say of nothing; it can be destroyed and assigned to.
 *   - What is given to a function is read during the call only.
 *   - Texts and bytes are `std::string_view`, texts in UTF-8. Where nothing is allowed it is `std::nullopt`, or a view
 *     whose data is null, such as a `barewire::json::View` of nothing.
 *   - An event, with all that its members point to, is good until the next `poll_event` on the same object, or until
 *     that object ends; answering it leaves it as it is. Moving the object leaves it as well.
 *   - What a function lends otherwise is good until the next call on the object that is not const.
 *   - Enumerations and error numbers are those of barewire.h.
 *   - An object may be used by any thread, by one at a time.
 *   - Times are milliseconds from any fixed origin of the caller's choice; for authorization, since 1970.
 *
 * Each function does what the function of barewire.h does that has its name: `barewire::Server::respond_text` is
 * `bw_server_respond_text`. The errors that it can give are listed there.
 */
#ifndef BAREWIRE_HPP
#define BAREWIRE_HPP

#include "barewire/authorization.hpp"
#include "barewire/client.hpp"
#include "barewire/event.hpp"
#include "barewire/json.hpp"
#include "barewire/resource_server.hpp"
#include "barewire/result.hpp"
#include "barewire/server.hpp"

#endif
