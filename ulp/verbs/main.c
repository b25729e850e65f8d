// SPDX-License-Identifier: GPL-2.0
/* The module rblk-core: what the client and the server share. */
#include <linux/module.h>
#include <rblk/dev.h>
#include <rblk/fault.h>

static int __init rblk_core_init(void)
{
	int err;

	err = rblk_fault_init();
	if (err)
		return err;
	err = rblk_dev_init();
	if (err)
		goto err_fault;
	return 0;

err_fault:
	rblk_fault_exit();
	return err;
}

static void __exit rblk_core_exit(void)
{
	rblk_dev_exit();
	rblk_fault_exit();
}

module_init(rblk_core_init);
module_exit(rblk_core_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rblk: code shared by its client and its server");
