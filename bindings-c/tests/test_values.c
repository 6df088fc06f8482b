/* Versions, numbers and their names. */
#include "check.h"

#include <string.h>

TEST(versions_are_those_of_the_header)
{
    CHECK(strcmp(bw_version(), BW_VERSION) == 0);
    CHECK(bw_version_number() == BW_VERSION_NUMBER);
}

TEST(errors_have_names)
{
    CHECK(strcmp(bw_error_name(BW_OK), "BW_OK") == 0);
    CHECK(strcmp(bw_error_name(BW_ERROR_POISONED), "BW_ERROR_POISONED") == 0);
    CHECK(strcmp(bw_error_name(BW_ERROR_WRITER_MISUSED), "BW_ERROR_WRITER_MISUSED") == 0);
    CHECK(strcmp(bw_error_name(-5), "BW_ERROR_UNKNOWN") == 0);
    CHECK(bw_error_is_fatal(BW_ERROR_CLOSED_BY_US) && bw_error_is_fatal(BW_ERROR_POISONED));
    CHECK(bw_error_is_fatal(BW_ERROR_NO_COMMON_REVISION));
    CHECK(!bw_error_is_fatal(BW_OK) && !bw_error_is_fatal(BW_ERROR_UNKNOWN_REQUEST) && !bw_error_is_fatal(77));
}

TEST(revisions_are_listed_newest_first)
{
    size_t count = bw_revision_count();
    CHECK(count == 5 && bw_revision_at(count) == BW_REVISION_NONE && bw_revision_at((size_t)-1) == BW_REVISION_NONE);
    for (size_t at = 0; at < count; ++at) {
        int32_t revision = bw_revision_at(at);
        CHECK(revision == (int32_t)(count - at));
        CHECK(bw_revision_from_name(bw_revision_name(revision)) == revision);
        CHECK(bw_revision_era(revision) == (at == 0 ? BW_ERA_MODERN : BW_ERA_LEGACY));
    }
    READS(NULL, bw_revision_name(0));
    READS(NULL, bw_revision_name(6));
    CHECK(bw_revision_from_name(loan("2025-11-2")) == BW_REVISION_NONE);
    CHECK(bw_revision_from_name(bw_none()) == BW_REVISION_NONE);
    CHECK(bw_revision_era(0) == BW_ERA_NONE && bw_revision_era(99) == BW_ERA_NONE);
}

TEST(severities_and_capabilities_have_names)
{
    for (int32_t level = BW_LOG_LEVEL_DEBUG; level <= BW_LOG_LEVEL_EMERGENCY; ++level)
        CHECK(bw_log_level_from_name(bw_log_level_name(level)) == level);
    READS("warning", bw_log_level_name(BW_LOG_LEVEL_WARNING));
    READS(NULL, bw_log_level_name(0));
    READS(NULL, bw_log_level_name(9));
    CHECK(bw_log_level_from_name(loan("Warning")) == BW_LOG_LEVEL_NONE);
    READS("tools", bw_capability_path(BW_CAPABILITY_TOOLS));
    READS("elicitation.url", bw_capability_path(BW_CAPABILITY_ELICITATION_URL));
    READS(NULL, bw_capability_path(0));
    READS(NULL, bw_capability_path(17));
}
