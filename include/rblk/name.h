/* SPDX-License-Identifier: GPL-2.0 */
/* Names of exports and clients: checked before any object carries them. */
#ifndef _RBLK_NAME_H
#define _RBLK_NAME_H

#include <linux/types.h>

bool rblk_name_ok(const char *name, size_t size);

#endif /* _RBLK_NAME_H */
