#include "pair.hpp"

int main()
{
    test_values();
    for (const bw_revision revision : {BW_REVISION_2025_11_25, BW_REVISION_2026_07_28})
        for (const bool is_http : {false, true})
            test_talk(is_http, revision);
    test_http();
    test_auth();
}
