// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of all three modules live in rblk-core. */
#define CREATE_TRACE_POINTS
#include <rblk/trace.h>

EXPORT_TRACEPOINT_SYMBOL_GPL(rblk_path_state);
EXPORT_TRACEPOINT_SYMBOL_GPL(rblk_request_start);
EXPORT_TRACEPOINT_SYMBOL_GPL(rblk_request_end);
