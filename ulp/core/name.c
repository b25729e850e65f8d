// SPDX-License-Identifier: GPL-2.0
/* Names of exports and clients. */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/string.h>

#include <rblk/name.h>
#include <rblk/wire.h>

static bool rblk_name_char_ok(char c)
{
	/* isalnum() alone takes letters of Latin-1 too. */
	if (isascii(c) && isalnum(c))
		return true;
	return c == '.' || c == '_' || c == ':' || c == '-';
}

/**
 * rblk_name_ok - may an export or a client have this name?
 * @name: the name
 * @size: bytes that may be read at @name; the NUL has to be among them
 *
 * A name becomes the name of a directory in sysfs, a word of a log line and an
 * argument in a shell, so it holds nothing that means something in one of them.
 *
 * Context: Any.
 * Return: true for 1 to RBLK_NAME_MAX characters of [A-Za-z0-9._:-] other than
 * "." and "..".
 */
bool rblk_name_ok(const char *name, size_t size)
{
	size_t len = strnlen(name, size);
	size_t i;

	if (len == size || len == 0 || len > RBLK_NAME_MAX)
		return false;
	for (i = 0; i < len; i++) {
		if (!rblk_name_char_ok(name[i]))
			return false;
	}
	return strcmp(name, ".") && strcmp(name, "..");
}
EXPORT_SYMBOL_GPL(rblk_name_ok);
