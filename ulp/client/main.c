// SPDX-License-Identifier: GPL-2.0
/* The module rblk-client. */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/*
 * Ends what a lost path did. WQ_MEM_RECLAIM: whoever reclaims memory may wait for the
 * requests that it ends. Unbound, since one tear-down may take seconds and must not
 * hold up another.
 */
struct workqueue_struct *rblk_clt_wq;
/* Waits for the CM, which knows no limit: the rest of the tear-down. */
struct workqueue_struct *rblk_clt_free_wq;
/* Waits for servers, which the works that end requests must not wait for. */
struct workqueue_struct *rblk_clt_connect_wq;
/* Waits for tags, which the works that end requests give back. */
struct workqueue_struct *rblk_clt_submit_wq;
/* Waits for a server that answers, and so not behind one that does not. */
struct workqueue_struct *rblk_clt_fence_wq;
/* Waits for requests that only works of the other end: never on the same one. */
struct workqueue_struct *rblk_clt_revoke_wq;
struct workqueue_struct *rblk_clt_size_wq;

static int __init rblk_clt_init(void)
{
	int err;

	rblk_clt_wq = alloc_workqueue("rblk-client", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rblk_clt_wq)
		return -ENOMEM;
	rblk_clt_free_wq = alloc_workqueue("rblk-client-free", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rblk_clt_free_wq) {
		err = -ENOMEM;
		goto err_wq;
	}
	rblk_clt_connect_wq = alloc_workqueue("rblk-client-connect", WQ_UNBOUND | WQ_MEM_RECLAIM,
					      0);
	if (!rblk_clt_connect_wq) {
		err = -ENOMEM;
		goto err_free_wq;
	}
	rblk_clt_submit_wq = alloc_workqueue("rblk-client-submit", WQ_UNBOUND | WQ_MEM_RECLAIM,
					     0);
	if (!rblk_clt_submit_wq) {
		err = -ENOMEM;
		goto err_connect_wq;
	}
	rblk_clt_fence_wq = alloc_workqueue("rblk-client-fence", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rblk_clt_fence_wq) {
		err = -ENOMEM;
		goto err_submit_wq;
	}
	rblk_clt_revoke_wq = alloc_workqueue("rblk-client-revoke", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rblk_clt_revoke_wq) {
		err = -ENOMEM;
		goto err_fence_wq;
	}
	/* Not of those that memory reclaim needs: it waits for I/O. */
	rblk_clt_size_wq = alloc_workqueue("rblk-client-size", WQ_UNBOUND, 0);
	if (!rblk_clt_size_wq) {
		err = -ENOMEM;
		goto err_revoke_wq;
	}
	rblk_clt_sysfs_path_init();
	err = rblk_clt_netlink_init();
	if (err)
		goto err_size_wq;
	return 0;

err_size_wq:
	destroy_workqueue(rblk_clt_size_wq);
err_revoke_wq:
	destroy_workqueue(rblk_clt_revoke_wq);
err_fence_wq:
	destroy_workqueue(rblk_clt_fence_wq);
err_submit_wq:
	destroy_workqueue(rblk_clt_submit_wq);
err_connect_wq:
	destroy_workqueue(rblk_clt_connect_wq);
err_free_wq:
	destroy_workqueue(rblk_clt_free_wq);
err_wq:
	destroy_workqueue(rblk_clt_wq);
	return err;
}

static void __exit rblk_clt_exit(void)
{
	/* First nobody maps any more, then what is mapped goes. */
	rblk_clt_sessions_stop();
	rblk_clt_netlink_exit();
	rblk_clt_unmap_all();
	destroy_workqueue(rblk_clt_size_wq);
	destroy_workqueue(rblk_clt_revoke_wq);
	destroy_workqueue(rblk_clt_fence_wq);
	destroy_workqueue(rblk_clt_submit_wq);
	destroy_workqueue(rblk_clt_connect_wq);
	destroy_workqueue(rblk_clt_free_wq);
	destroy_workqueue(rblk_clt_wq);
}

module_init(rblk_clt_init);
module_exit(rblk_clt_exit);
MODULE_ALIAS_GENL_FAMILY(RBLK_CLIENT_FAMILY_NAME);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rblk client: block devices over one-sided RDMA");
